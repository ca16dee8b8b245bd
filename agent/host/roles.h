// Roles of the processes that write a log: the rank, its launcher, its helpers.
//
// Flow: ProcessWatch gives the processes of a scan, with their parents; pure. torchrun keeps the
// files of its ranks open, data loader workers inherit them with the environment, and a shell may
// be the parent of srun's task. A process is a launcher if it has a descendant of another rank, or
// one of the same rank by a stronger rule, or if it is a shell or launcher by name. Among the other
// processes, the first of a chain is the rank, and its descendants are helpers. Bounds: chains are
// followed 64 steps.
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

/// The job name in torchrun's command line (`--rdzv_id X`). Its ranks have it in their environment;
/// torchrun itself does not. Empty if there is none.
std::string_view rendezvous_of(std::string_view command_line);

/// torchrun, mpirun, srun ...: by the first words of a command line (words end with NUL).
bool names_launcher(std::string_view command_line);
/// Whether the short name is that of a shell, of a tool that runs another program, or of tee.
bool names_wrapper(std::string_view command);

}  // namespace l4::host
