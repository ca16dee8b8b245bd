// Which of the processes that write a log is the rank, which launched it, which only help.
//
// Flow: ProcessWatch gives what a scan found, with parents; pure. torchrun keeps the files of its
// ranks open, data loader workers inherit them with the environment, a shell stands before srun's
// task. So: who has a descendant of another rank, or of the same by a stronger rule, launched it;
// so did a shell or a launcher by name; of what is left, the first of a chain is the rank and all
// below it help. Bounds: chains are followed 64 steps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/facts.h"

namespace l4::host {

struct Candidate {
  Pid pid;
  std::vector<Pid> ancestors;  ///< nearest first
  std::optional<Rank> rank;
  std::size_t rule = ~std::size_t{};  ///< see Identity::rule
  bool launcher_name = false;         ///< see names_launcher
  bool wrapper_name = false;          ///< see names_wrapper
};

/// Parts in the order of `candidates`.
std::vector<Part> assign_parts(const std::vector<Candidate>& candidates);

/// What torchrun was told its job is called (`--rdzv_id X`), which its ranks find in their
/// environment and it does not in its own; empty if nothing.
std::string_view rendezvous_of(std::string_view command_line);

/// torchrun, mpirun, srun ...: by the first words of a command line (words end with NUL).
bool names_launcher(std::string_view command_line);
/// A shell or a tool that runs another program or stands in a pipe (tee): by the short name.
bool names_wrapper(std::string_view command);

}  // namespace l4::host
