// Answers that many clients request at the same time, made once.
//
// Flow: Server -> tokens -> share_answers -> the aggregator's handler. A hundred pages that poll
// the list of jobs cost its threads as much as one: a request equal to one under way waits for its
// answer, and an answer younger than `fresh` is used again. Thread-safe. Bounded by the requests
// within `fresh`: older answers are dropped at the next request.
#pragma once

#include <functional>

#include "aggregator/http/server.h"
#include "common/base/time.h"

namespace l4::http {

/// Shares the answers to those GETs for which `is_shared` holds; all other requests go through. An
/// answer other than 200 is given to those that waited for it and is not kept.
Handler share_answers(Handler inner, std::function<bool(const Request&)> is_shared,
                      Millis fresh = Millis{100});

}  // namespace l4::http
