// What the agent does when it passes its own bounds: it reads later, leaves out what only helps,
// holds fewer files open, and begins anew where it has grown. Nothing is lost by it; the bytes stay
// in the logs.
#include <algorithm>
#include <utility>

#include "agent/daemon/agent.h"

namespace l4::daemon {
namespace {

constexpr Millis kLimitsEvery{1'000}, kLimitsIdle{5'000};
/// Memory that was let go is the system's again some seconds later.
constexpr Millis kPressEvery{10'000};
/// Without room it still reads, half of the time: what stands in the way may not be its own.
constexpr Millis kMemoryPause{500};

}  // namespace

void Agent::look_at_limits() {
  const std::uint64_t bytes = tailer_ ? tailer_->counters().bytes : 0;
  const bool busy = std::exchange(bytes_before_, bytes) != bytes;
  limits_.measure(now_.host);
  tell(limits_.take_notices());
  const bool over = limits_.over_memory() || limits_.over_descriptors();
  limits_at_ = now_.steady + (busy || over ? kLimitsEvery : kLimitsIdle);
  const Millis pause = limits_.pause();
  if (pause > Millis{0}) paused_until_ = now_.steady + std::min(pause, kLimitsEvery);
  save_memory();
  save_descriptors();
}

/// What is staged is shipped, and answers to questions are left out, then order. If that is not
/// enough, `is_grown`.
void Agent::save_memory() {
  const std::uint64_t resident = limits_.usage().resident_bytes;
  if (resident_first_ == 0) resident_first_ = resident;
  if (!limits_.over_memory()) {
    session_.press(wire::Shedding::nothing);
    over_memory_since_.reset();
    return;
  }
  if (!over_memory_since_) over_memory_since_ = now_.steady;
  paused_until_ = std::max(paused_until_, now_.steady + kMemoryPause);
  const bool long_over = now_.steady - *over_memory_since_ >= kPressEvery;
  session_.press(long_over ? wire::Shedding::order : wire::Shedding::examples);
  flush(false);
}

/// Templates, memos and jobs of the past are most of what it holds; the next agent has none of
/// them. One whose bound is less than the program itself takes would gain nothing by that.
bool Agent::is_grown() const {
  return over_memory_since_ && now_.steady - *over_memory_since_ >= 2 * kPressEvery &&
         limits_.usage().resident_bytes >= resident_first_ + resident_first_ / 4;
}

/// What others of this process hold stays; the logs get what is left of the bound.
void Agent::save_descriptors() {
  files_short_ = files_short_ || limits_.over_descriptors();
  if (!files_short_ || !tailer_) return;
  const std::uint64_t bound = limits_.bounds().descriptors;
  const std::uint64_t room = bound - bound / 8;
  const std::uint64_t used = limits_.usage().descriptors;
  const std::uint64_t others = used - std::min(used, tailer_->counters().open_files);
  tailer_->hold_open(
      std::min<std::uint64_t>(room - std::min(room, others), tail::descriptors_allowed()));
}

}  // namespace l4::daemon
