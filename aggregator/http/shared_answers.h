// Answers that many ask for at the same time, made once.
//
// Flow: Server -> tokens -> share_answers -> the aggregator's handler. A hundred pages that poll
// the list of jobs cost its threads what one costs: who asks what is being answered waits for that
// answer, and one that is younger than `fresh` serves again. Thread-safe. Bounded by what is asked
// within `fresh`: what is older goes with the next question.
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
