// Iterations that take long in healthy jobs, too: what is printed in them tells.
//
// Place in the flow: stalls.cc asks it about each long iteration; it reads a JobView. Pure. Private
// to this room. A checkpoint, an evaluation, the end of an epoch and a collection of garbage are
// known by the stage of a rank, by the words of lines that few iterations have, or because such a
// line is printed in other long iterations, too.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "common/base/ids.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::delay {

/// The name of a phase or a line tells of work that belongs to no single iteration.
bool names_pause(std::string_view text);

/// Lines or stages of `iteration` tell why it took long. `is_long`: another iteration took long.
bool is_pause(const job::JobView& view, Iteration iteration,
              const std::function<bool(Iteration)>& is_long);

}  // namespace l4::detect::delay
