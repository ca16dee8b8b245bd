// The number that lines print for an iteration, where iterations of all epochs are counted on.
//
// Place in the flow: iterations of a JobView and of a JobClock grow over epochs, so that they give
// an order; reports and messages show the number that a reader finds in the log. Pure.
#pragma once

#include "common/base/ids.h"

namespace l4::job {

struct JobView;

/// As the ranks that print it do; the same number if it does not begin anew in each epoch.
Iteration printed(const JobView& view, Iteration iteration);

}  // namespace l4::job
