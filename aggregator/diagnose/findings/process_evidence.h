// Evidence from the processes of a running job: which ranks exited, how, and which are stopped.
//
// Flow: a JobView whose ranks know their processes in; verdict and suspects read it. Offline no
// process is known, and all of it is empty. An exit that was not seen counts as a failure while
// other processes live, unless the rank's logs say that it was done. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/findings/live.h"
#include "common/base/time.h"

namespace l4::detect::stage {
struct Stages;
}  // namespace l4::detect::stage
namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

enum class Fate : std::uint8_t {
  unknown,
  alive,
  left_well,
  left_badly,   ///< ended by a signal, with a code other than 0, or unseen while others live
  left_unseen,  ///< no other process lives: the exit may have been clean
  stopped,      ///< stopped by a signal or a debugger
  waiting,      ///< waits for a device or a file system
};

struct ProcessEvidence {
  std::vector<Fate> ranks;             ///< by JobView::ranks
  bool known = false;                  ///< the process of some rank is known
  bool exit_seen = false;              ///< some rank left badly and its exit status was seen
  bool all_left = false;               ///< every rank's process is known, and gone
  bool all_left_well = false;          ///< every process ended with exit code 0
  bool launcher_left = false;          ///< the launcher of some node exited
  std::optional<TimeMs> first_left;    ///< first bad exit, on its agent's clock
  std::optional<TimeMs> first_struck;  ///< first exit by a signal from outside
};

ProcessEvidence weigh_processes(const job::JobView& view, const detect::stage::Stages& stages);

/// Marks processes on nodes with a lost agent as unknown, except those that had exited before.
void forget_processes(job::JobView& view, const std::vector<LostAgent>& lost);

/// JobView::nodes of lost agents, if the job failed only afterwards and made no progress since they
/// were heard.
std::vector<std::uint32_t> nodes_of_lost(const job::JobView& view, const Live& live);

}  // namespace l4::diagnose
