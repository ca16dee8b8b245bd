#include "agent/daemon/load_control.h"

#include <algorithm>
#include <utility>

namespace l4::daemon {
namespace {

constexpr Millis kMeasureEvery{1'000}, kMeasureIdle{5'000};
/// Freed memory is returned to the system some seconds later.
constexpr Millis kShedEvery{10'000};
/// While its memory exceeds the bound, the agent still reads half of the time, because other code
/// of the process may hold the memory.
constexpr Millis kMemoryPause{500};

}  // namespace

bool LoadControl::poll(const Moment& now, LogFollower& logs, ship::Session& session) {
  if (now.steady < due_at_) return false;
  const std::uint64_t bytes = logs.bytes_read();
  const bool busy = std::exchange(bytes_read_, bytes) != bytes;
  limits_.measure(now.host);
  log_.warn(limits_.flush_notices(), now.steady);
  const bool over = limits_.over_memory() || limits_.over_descriptors();
  due_at_ = now.steady + (busy || over ? kMeasureEvery : kMeasureIdle);
  const Millis pause = limits_.pause();
  if (pause > Millis{0}) paused_until_ = now.steady + std::min(pause, kMeasureEvery);
  limit_memory(now.steady, session);
  limit_descriptors(logs);
  return limits_.over_memory();
}

/// Leaves out answers to questions at once, and the order of events when memory stays over its
/// bound. If that is not enough, see `is_grown`.
void LoadControl::limit_memory(Millis steady, ship::Session& session) {
  const std::uint64_t resident = limits_.usage().resident_bytes;
  if (resident_first_ == 0) resident_first_ = resident;
  if (!limits_.over_memory()) {
    session.press(wire::Shedding::nothing);
    over_memory_since_.reset();
    return;
  }
  if (!over_memory_since_) over_memory_since_ = steady;
  paused_until_ = std::max(paused_until_, steady + kMemoryPause);
  const bool long_over = steady - *over_memory_since_ >= kShedEvery;
  session.press(long_over ? wire::Shedding::order : wire::Shedding::examples);
}

/// Most of the memory is templates, memos and jobs of the past, which the next agent does not have.
/// An agent whose bound is less than the program itself needs would gain nothing by a replacement.
bool LoadControl::is_grown(Millis steady) const {
  return over_memory_since_ && steady - *over_memory_since_ >= 2 * kShedEvery &&
         limits_.usage().resident_bytes >= resident_first_ + resident_first_ / 4;
}

/// The logs get the part of the bound that the other descriptors of the process leave.
void LoadControl::limit_descriptors(LogFollower& logs) {
  descriptors_short_ = descriptors_short_ || limits_.over_descriptors();
  if (!descriptors_short_ || logs.tailer() == nullptr) return;
  const std::uint64_t bound = limits_.bounds().descriptors;
  const std::uint64_t room = bound - bound / 8;
  const std::uint64_t used = limits_.usage().descriptors;
  const std::uint64_t others = used - std::min(used, logs.counters().open_files);
  logs.tailer()->hold_open(
      std::min<std::uint64_t>(room - std::min(room, others), tail::descriptors_allowed()));
}

}  // namespace l4::daemon
