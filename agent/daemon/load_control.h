// Keeps the agent within its own bounds: processor time, memory, descriptors.
// Flow: host::Limits measures -> here: reading is paused, batches lose their less important parts,
// fewer files stay open; an agent that has grown beyond that is replaced by a new one (`is_grown`).
// Nothing is lost by it: the bytes stay in the logs. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/daemon/log_follower.h"
#include "agent/daemon/moment.h"
#include "agent/daemon/own_log.h"
#include "agent/host/limits.h"
#include "agent/ship/session.h"

namespace l4::daemon {

class LoadControl {
 public:
  /// `log` outlives this.
  LoadControl(const host::Proc& proc, const host::Limits::Bounds& bounds, OwnLog& log)
      : limits_(proc, bounds), log_(log) {}

  /// Measures if that is due, and acts on exceeded bounds. True: memory is over its bound, and
  /// staged batches should be shipped.
  bool poll(const Moment& now, LogFollower& logs, ship::Session& session);
  /// Nothing is read before this time.
  Millis paused_until() const { return paused_until_; }
  /// Memory stays over its bound although batches are shed.
  bool is_grown(Millis steady) const;
  const host::Limits& limits() const { return limits_; }

 private:
  void limit_memory(Millis steady, ship::Session& session);
  void limit_descriptors(LogFollower& logs);

  host::Limits limits_;
  OwnLog& log_;
  Millis due_at_{0}, paused_until_{0};
  std::optional<Millis> over_memory_since_;
  std::uint64_t resident_first_ = 0;  // memory soon after the start
  std::uint64_t bytes_read_ = 0;
  bool descriptors_short_ = false;
};

}  // namespace l4::daemon
