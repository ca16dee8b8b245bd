// Answers that many ask for at the same time, made once.
//
// Flow: Server -> tokens -> share_answers -> the aggregator's handler. A hundred pages that poll
// the list of jobs cost its threads what one costs: who asks what is being answered waits for that
// answer, and one that is younger than `fresh` serves again. Thread-safe. Bounded by what is asked
// within `fresh`: what is older goes with the next question.
#pragma once

#include "aggregator/http/server.h"
#include "common/base/time.h"

namespace l4::http {

/// GETs of the routes that show how jobs and agents stand; all else goes through. An answer other
/// than 200 is given to those who waited and not kept.
Handler share_answers(Handler inner, Millis fresh = Millis{100});

}  // namespace l4::http
