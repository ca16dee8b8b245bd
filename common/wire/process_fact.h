// An agent's report of a process behind the logs: its identity, its state, its end.
//
// Flow: agent/host/process_watch fills them, the agent ships those that changed and all of them to
// an aggregator that has forgotten, aggregator/job keeps the newest of each. A process is `boot_id`
// + `pid` + `started_boot`: the same pid, used again or from before a reboot, is another process.
// Plain values; bounds stand at the fields, the decoder refuses what breaks them.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"

namespace l4::wire {

using Pid = Named<struct PidTag, std::int32_t>;

inline constexpr std::size_t kBootIdBytesMax = 64;
inline constexpr std::size_t kCommandBytesMax = 64;       ///< the kernel keeps 16
inline constexpr std::size_t kProcessNameBytesMax = 256;  ///< names of node and job

/// The state as the kernel reports it; a process that is `gone` has exited, or is a zombie that was
/// not collected yet.
enum class ProcessState : std::uint8_t {
  unknown,
  running,          ///< R
  sleeping,         ///< S, I
  uninterruptible,  ///< D: waits for a device or a file system
  stopped,          ///< T: stopped by a signal
  traced,           ///< t: stopped by a debugger
  gone,
};

/// The part a process plays for the log files that it writes.
enum class Part : std::uint8_t { other, rank, launcher, helper };

/// How the process ended. The kernel tells only the parent, so this is `unseen` unless the kernel
/// offers another way to see it.
struct Exit {
  enum class Kind : std::uint8_t { unseen, code, signal };
  enum class Seen : std::uint8_t { none, child, zombie, pidfd };
  Kind kind = Kind::unseen;
  std::int32_t value = 0;  ///< exit code or number of the signal
  Seen by = Seen::none;
  bool operator==(const Exit&) const = default;

  bool is_well() const { return kind == Kind::code && value == 0; }
};

/// The start of a job to which a process belongs, from counts of the scheduler and the launcher:
/// the same on every node, and ordered. All 0 if there is no count.
struct AttemptKey {
  std::uint32_t requeue = 0, step = 0, restart = 0;
  auto operator<=>(const AttemptKey&) const = default;
};

struct ProcessFact {
  std::string boot_id;
  Pid pid;                                    ///< not negative
  std::chrono::microseconds started_boot{0};  ///< since boot, not negative
  TimeMs started;
  std::string command;  ///< the kernel's short name
  Part part = Part::other;
  std::string node;  ///< empty: the agent's
  std::string job;   ///< empty: the batch's
  std::int32_t attempt = 0;
  AttemptKey attempt_key;
  std::optional<Rank> rank;
  RankSource rank_source = RankSource::none;
  std::optional<std::int32_t> local_rank, world_size;
  ProcessState state = ProcessState::unknown;
  TimeMs since;      ///< when it was first seen in this state
  Millis cpu{0};     ///< spent so far, all threads; not negative
  TimeMs cpu_since;  ///< when `cpu` was last seen to grow
  Exit exit;         ///< if `state` is gone
  bool operator==(const ProcessFact&) const = default;
};

/// The letter of the state as in /proc; X for gone, ? for unknown.
char letter(ProcessState state);
/// "exit code 1", "signal 9 (SIGKILL)", "exit status not visible: not a child of the agent".
std::string text(const Exit& exit);

}  // namespace l4::wire
