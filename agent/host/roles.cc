#include "agent/host/roles.h"

#include <algorithm>
#include <array>
#include <map>

namespace l4::host {
namespace {

constexpr auto kLaunchers = std::to_array<std::string_view>({"torchrun",
                                                             "torchrun.py",
                                                             "torch.distributed.run",
                                                             "torch.distributed.launch",
                                                             "torch.distributed.elastic",
                                                             "accelerate",
                                                             "deepspeed",
                                                             "deepspeed.launcher.launch",
                                                             "deepspeed.launcher.runner",
                                                             "mpirun",
                                                             "mpiexec",
                                                             "mpiexec.hydra",
                                                             "hydra_pmi_proxy",
                                                             "orted",
                                                             "prted",
                                                             "prterun",
                                                             "srun",
                                                             "slurmstepd",
                                                             "horovodrun",
                                                             "msrun",
                                                             "colossalai",
                                                             "composer",
                                                             "paddle.distributed.launch",
                                                             "accelerate.commands.launch",
                                                             "raylet"});
constexpr auto kWrappers = std::to_array<std::string_view>({"bash",
                                                            "sh",
                                                            "dash",
                                                            "zsh",
                                                            "ksh",
                                                            "csh",
                                                            "tcsh",
                                                            "fish",
                                                            "busybox",
                                                            "tee",
                                                            "ts",
                                                            "sed",
                                                            "awk",
                                                            "gawk",
                                                            "mawk",
                                                            "grep",
                                                            "cat",
                                                            "timeout",
                                                            "time",
                                                            "nsys",
                                                            "strace",
                                                            "script",
                                                            "su",
                                                            "sudo",
                                                            "tini",
                                                            "catatonit",
                                                            "conda",
                                                            "micromamba",
                                                            "dumb-init",
                                                            "docker-init",
                                                            "containerd-shim",
                                                            "conmon",
                                                            "enroot",
                                                            "apptainer",
                                                            "singularity",
                                                            "starter",
                                                            "unbuffer",
                                                            "stdbuf",
                                                            "numactl",
                                                            "env",
                                                            "nohup"});

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool is_launcher(std::string_view word) {
  return std::ranges::find(kLaunchers, word) != kLaunchers.end();
}

struct Below {
  bool same = false;      // it has a descendant of the same rank
  bool stronger = false;  // a descendant has another rank, or a stronger rule
  bool any = false;
};

}  // namespace

std::string_view rendezvous_of(std::string_view line) {
  bool next = false;
  while (!line.empty()) {
    const std::size_t end = line.find('\0');
    const std::string_view word = line.substr(0, end);
    line = end == line.npos ? std::string_view{} : line.substr(end + 1);
    if (next) return word;
    next = word == "--rdzv_id" || word == "--rdzv-id";
    if (word.starts_with("--rdzv_id=") || word.starts_with("--rdzv-id="))
      return word.substr(word.find('=') + 1);
  }
  return {};
}

bool names_launcher(std::string_view line) {
  bool module = false;
  for (int word = 0; word < 4 && !line.empty(); ++word) {
    const std::size_t end = line.find('\0');
    const std::string_view text = line.substr(0, end);
    line = end == line.npos ? std::string_view{} : line.substr(end + 1);
    if (module) return is_launcher(text);
    module = text == "-m";
    if (module || text.starts_with("-")) continue;
    if (is_launcher(base_name(text))) return true;
    // The script follows the interpreter; the words behind it are its arguments.
    if (word > 0 || !base_name(text).starts_with("python")) return false;
    // The first word is an interpreter: read the next word.
  }
  return false;
}

bool names_wrapper(std::string_view command) {
  return std::ranges::find(kWrappers, command) != kWrappers.end();
}

std::vector<Part> assign_parts(const std::vector<Candidate>& candidates) {
  std::map<Pid, std::size_t> place;
  for (std::size_t i = 0; i < candidates.size(); ++i) place[candidates[i].pid] = i;
  std::vector<Below> below(candidates.size());
  for (const Candidate& candidate : candidates) {
    for (const Pid pid : candidate.ancestors) {
      const auto found = place.find(pid);
      if (found == place.end()) continue;
      const Candidate& above = candidates[found->second];
      Below& it = below[found->second];
      it.any = true;
      if (!candidate.rank) continue;
      const bool same = above.rank == candidate.rank;
      it.same |= same;
      it.stronger |= !same || candidate.rule < above.rule;
    }
  }
  std::vector<Part> parts(candidates.size(), Part::other);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& it = candidates[i];
    const bool launches = below[i].stronger || it.launcher_name ||
                          (it.wrapper_name && (below[i].any || below[i].same));
    if (launches)
      parts[i] = Part::launcher;
    else if (it.rank && !it.wrapper_name)
      parts[i] = Part::rank;
  }
  // All descendants of the first process that is not a launcher are its helpers.
  std::vector<Part> out = parts;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (parts[i] == Part::launcher) continue;
    for (const Pid pid : candidates[i].ancestors) {
      const auto found = place.find(pid);
      if (found == place.end() || parts[found->second] != Part::rank) continue;
      const Candidate& above = candidates[found->second];
      if (!candidates[i].rank || above.rank == candidates[i].rank) out[i] = Part::helper;
    }
    if (out[i] == Part::other && candidates[i].wrapper_name && candidates[i].rank)
      out[i] = Part::helper;
  }
  return out;
}

}  // namespace l4::host
