// What the processes of a running job say of its failure: who left, how, and who is stopped.
//
// Flow: a JobView whose ranks know their processes in; verdict and suspects read it. Offline nobody
// has a process, and all of it is empty. A process that left unseen counts as failed while others
// live and its logs do not say that it was done. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/live.h"
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
  left_badly,   ///< by a signal or with a code other than 0, or unseen while others live
  left_unseen,  ///< nobody else lives: it may have been well
  stopped,      ///< by a signal or a debugger
  waiting,      ///< for a device or a file system
};

struct ProcessEvidence {
  std::vector<Fate> ranks;           ///< by JobView::ranks
  bool known = false;                ///< of some rank
  bool exit_seen = false;            ///< somebody left badly and it was seen how
  bool all_left = false;             ///< every rank's process is known, and gone
  bool all_left_well = false;        ///< ... with exit code 0
  bool launcher_left = false;        ///< that of some node
  std::optional<TimeMs> first_left;  ///< badly; by its agent's clock
};

ProcessEvidence weigh_processes(const job::JobView& view, const detect::stage::Stages& stages);

/// Weight of a rank whose process shows that it began there: more than any line has.
inline constexpr double kProcessWeight = 4.0;

struct ProcessSuspect {
  std::uint32_t rank = 0;  ///< index into JobView::ranks
  double score = 0;
  std::string why;
};
/// A process that is stopped, or left before the others, shows where it began; those that left
/// after it were most likely told to.
std::vector<ProcessSuspect> suspect_processes(const job::JobView& view,
                                              const ProcessEvidence& evidence);

/// Of processes on nodes whose agent is lost nothing is known any more but who had left.
void forget_processes(job::JobView& view, const std::vector<LostAgent>& lost);

/// JobView::nodes of lost agents, if the job had not failed before and made no progress since they
/// were heard.
std::vector<std::uint32_t> nodes_of_lost(const job::JobView& view, const Live& live);

}  // namespace l4::diagnose
