// What agent/host has to say of a process: plain values that can go over the wire.
//
// Flow: ProcessWatch fills them, the agent ships those that changed and all of them to an
// aggregator that has forgotten. A process is `boot` + `pid` + `started`: a number that the kernel
// gives again, or one from before a reboot, is another process. Bounds stand at the fields.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/host_time.h"
#include "common/base/ids.h"
#include "common/base/vocabulary.h"

namespace l4::host {

using Pid = Named<struct PidTag, std::int32_t>;

/// As the kernel says it; `gone` has left, or is a zombie that nobody has collected yet.
enum class ProcessState : std::uint8_t {
  unknown,
  running,          ///< R
  sleeping,         ///< S, I
  uninterruptible,  ///< D: waits for a device or a file system
  stopped,          ///< T: by a signal
  traced,           ///< t: by a debugger
  gone,
};

/// The part a process plays for the log files that it writes.
enum class Part : std::uint8_t { other, rank, launcher, helper };

/// How it ended. Only its parent is told, so this is `unseen` wherever the kernel has no other way.
struct Exit {
  enum class Kind : std::uint8_t { unseen, code, signal };
  enum class Seen : std::uint8_t { none, child, zombie, pidfd };
  Kind kind = Kind::unseen;
  std::int32_t value = 0;  ///< exit code or number of the signal
  Seen by = Seen::none;
  bool operator==(const Exit&) const = default;
};

/// Which start of a job a process belongs to, from counts that the scheduler and the launcher give:
/// the same on every node, and ordered. All 0 where nothing counts.
struct AttemptKey {
  std::uint32_t requeue = 0, step = 0, restart = 0;
  auto operator<=>(const AttemptKey&) const = default;
};

struct ProcessFact {
  std::string boot_id;  ///< at most 64 B
  Pid pid;
  SinceBoot started_boot{0};
  TimeMs started;
  std::string command;  ///< the kernel's short name, at most 16 B
  Part part = Part::other;
  std::string node, job;  ///< at most 256 B
  std::int32_t attempt = 0;
  AttemptKey attempt_key;
  std::optional<Rank> rank;
  RankSource rank_source = RankSource::none;
  std::optional<std::int32_t> local_rank, world_size;
  ProcessState state = ProcessState::unknown;
  TimeMs since;      ///< when it was first seen in this state
  Millis cpu{0};     ///< spent so far, all threads
  TimeMs cpu_since;  ///< when it was last seen to spend any
  Exit exit;         ///< of state gone
  bool operator==(const ProcessFact&) const = default;
};

char letter(ProcessState state);
/// "exit code 1", "signal 9 (SIGKILL)", "exit status not visible: not a child of the agent".
std::string text(const Exit& exit);

}  // namespace l4::host
