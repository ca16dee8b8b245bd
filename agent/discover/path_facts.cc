#include "agent/discover/path_facts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "agent/discover/file_kind.h"
#include "common/base/ascii.h"

namespace l4::discover {
namespace {

using wire::SourceKind;

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= 9 && std::all_of(text.begin(), text.end(), is_digit);
}

std::optional<std::int32_t> number(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!all_digits(text) || error != std::errc{}) return std::nullopt;
  return value;
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

/// Number behind `word` (with `-`, `_`, `.`, `=` or nothing between); the word begins a token.
std::optional<std::int32_t> number_behind(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (at > 0 && is_letter(text[at - 1])) continue;
    std::size_t from = at + word.size();
    if (from < text.size() && std::string_view{"-_.="}.find(text[from]) != text.npos) ++from;
    std::size_t to = from;
    while (to < text.size() && is_digit(text[to])) ++to;
    if (to < text.size() && is_letter(text[to])) continue;
    if (const auto value = number(text.substr(from, to - from))) return value;
  }
  return std::nullopt;
}

std::string_view folder_from_end(const PathParts& parts, std::size_t back) {
  const auto n = parts.folders.size();
  return back < n ? std::string_view{parts.folders[n - 1 - back]} : std::string_view{};
}

/// `RUNID_abcd1234` as torchrun makes it; the run id is the job's name.
std::string_view run_id(std::string_view folder) {
  return folder.size() > 9 && folder[folder.size() - 9] == '_' ? folder.substr(0, folder.size() - 9)
                                                               : folder;
}

/// `.../RUNID_xxxxxxxx/attempt_A/K/stderr.log`.
bool torchrun(const PathParts& parts, PathFacts& facts) {
  const auto attempt = number_behind(folder_from_end(parts, 1), "attempt");
  const auto local = number(folder_from_end(parts, 0));
  if (!attempt || !local || !folder_from_end(parts, 1).starts_with("attempt")) return false;
  facts.attempt = *attempt;
  facts.local_rank = local;
  facts.kind = SourceKind::rank;
  std::vector<std::string> above = parts.folders;
  above.resize(above.size() - 2);
  if (above.empty()) return true;
  const std::string run = above.back();
  above.pop_back();
  facts.job = run_id(run);
  facts.node = node_of_folders(above);
  if (!facts.node.empty()) return true;
  facts.node = run;  // the run's name stands in for the node: each launcher makes its own folder
  facts.node_known = false;
  return true;
}

bool launcher(const PathParts& parts, PathFacts& facts) {
  constexpr std::array<std::string_view, 8> kNames{
      "agent", "launcher", "torchrun", "elastic", "scheduler", "launch", "master", "torchelastic"};
  const std::string stem = lower(parts.stem);
  if (std::find(kNames.begin(), kNames.end(), stem) == kNames.end()) return false;
  facts.kind = SourceKind::launcher;
  return true;
}

/// `nemo_log_globalrank-N_localrank-M.txt` and other names with both ranks.
bool both_ranks(const PathParts& parts, PathFacts& facts) {
  const std::string stem = lower(parts.stem);
  auto global = number_behind(stem, "globalrank");
  if (!global) global = number_behind(stem, "global_rank");
  auto local = number_behind(stem, "localrank");
  if (!local) local = number_behind(stem, "local_rank");
  if (!global && !local) return false;
  if (global) facts.rank = Rank{*global};
  facts.local_rank = local;
  facts.kind = SourceKind::rank;
  return true;
}

/// `rankK.log`, `rank-K.txt`, `node3_rank12.log`.
bool rank_name(const PathParts& parts, PathFacts& facts) {
  const std::string stem = lower(parts.stem);
  const auto rank = number_behind(stem, "rank");
  if (!rank) return false;
  facts.rank = Rank{*rank};
  facts.kind = SourceKind::rank;
  const std::size_t at = stem.find("rank");
  if (at < 2) return true;
  const std::string_view front = std::string_view{parts.stem}.substr(0, at - 1);
  const bool numbered = std::any_of(front.begin(), front.end(), is_digit);
  if (numbered && node_like(front)) facts.node = front;
  return true;
}

/// `workerlog.3` (Paddle; counted on each node), `rank.3`, `trainer.3`, `out.3` (Intel MPI's
/// `-outfile-pattern out.%r`).
bool numbered_extension(const PathParts& parts, PathFacts& facts) {
  constexpr std::array<std::string_view, 6> kRanks{"rank", "worker", "trainer",
                                                   "task", "proc",   "process"};
  constexpr std::array<std::string_view, 5> kOutputs{"out", "err", "output", "stdout", "stderr"};
  const auto value = number(parts.extension);
  if (!value) return false;
  const std::string stem = lower(parts.stem);
  if (stem == "workerlog" || stem == "local_rank" || stem == "localrank") {
    facts.local_rank = value;
  } else {
    const bool output = std::ranges::find(kOutputs, stem) != kOutputs.end();
    const bool counted =
        output || std::any_of(kRanks.begin(), kRanks.end(), [&](std::string_view word) {
          return stem.ends_with(word) &&
                 (stem.size() == word.size() || !is_letter(stem[stem.size() - word.size() - 1]));
        });
    if (!counted) return false;
    facts.rank = Rank{*value};
  }
  facts.kind = SourceKind::rank;
  return true;
}

/// Open MPI's `--output-filename`: `OUT/1/rank.3/stdout`.
bool rank_folder(const PathParts& parts, PathFacts& facts) {
  const std::string folder = lower(folder_from_end(parts, 0));
  const auto rank = number_behind(folder, "rank");
  if (!rank || !folder.starts_with("rank")) return false;
  facts.rank = Rank{*rank};
  facts.kind = SourceKind::rank;
  return true;
}

/// MindSpore's `worker_N.log` (N is the rank), Kubernetes' `worker-K.log` (the pod, too).
bool worker(const PathParts& parts, PathFacts& facts) {
  const std::string stem = lower(parts.stem);
  if (!stem.starts_with("worker")) return false;
  const auto value = number_behind(stem, "worker");
  if (!value || !is_digit(stem.back())) return false;
  facts.rank = Rank{*value};
  facts.kind = SourceKind::rank;
  const std::string_view folder = folder_from_end(parts, 0);
  if (stem[6] != '-' || (node_like(folder) && std::any_of(folder.begin(), folder.end(), is_digit)))
    return true;  // the folder is the node
  facts.node = parts.stem;
  facts.node_known = false;
  return true;
}

bool slurm_extension(const PathParts& parts) {
  return parts.extension == "out" || parts.extension == "err" || parts.extension == "log" ||
         parts.extension == "o" || parts.extension == "e" || parts.extension == "txt";
}

/// Bytes of "NAME-" in `NAME-JOB-TASK`: what stands before a job's number that a task's follows
/// (Slurm's `%x-%j-%t`). 0 if the number may be a date, or the one behind it that of an array.
std::size_t name_before_job(std::string_view stem, std::string_view extension) {
  constexpr std::size_t kJobMin = 5, kTaskMax = 4, kDate = 8;
  const std::size_t last = stem.find_last_of("-_.");
  if (last == stem.npos || last == 0) return 0;
  const std::size_t front = stem.find_last_of("-_.", last - 1);
  if (front == stem.npos || front == 0) return 0;
  const std::string_view job = stem.substr(front + 1, last - front - 1);
  const std::string_view task = stem.substr(last + 1);
  const bool date = job.size() == kDate && (job.starts_with("19") || job.starts_with("20"));
  const bool array = stem[last] == '_' && (extension == "out" || extension == "err");
  const bool both = all_digits(job) && all_digits(task);
  return both && job.size() >= kJobMin && task.size() <= kTaskMax && !date && !array ? front + 1
                                                                                     : 0;
}

/// `JOB-NODE-TASK.out`, `JOB-NODE.out`, `NAME-JOB-TASK.log`: the job from the front, the task from
/// the end, so that nodes may have dashes of their own.
bool slurm_task(const PathParts& parts, PathFacts& facts) {
  std::string_view stem = parts.stem;
  if (!slurm_extension(parts)) return false;
  const bool slurm = stem.starts_with("slurm-");
  const std::size_t named = slurm ? 0 : name_before_job(stem, parts.extension);
  stem.remove_prefix(slurm ? 6 : named);
  const std::size_t first = stem.find_first_of(named > 0 ? "-_." : "-_");
  if (slurm && first != stem.npos && stem[first] == '_') return false;  // array: slurm-J_A.out
  if (first == stem.npos || first < 2 || !all_digits(stem.substr(0, first))) return false;
  const std::string_view middle = stem.substr(first + 1);
  const std::size_t last = middle.find_last_of("-_");
  const std::string_view tail = last == middle.npos ? middle : middle.substr(last + 1);
  facts.job = stem.substr(0, first);
  if (last == middle.npos) {
    if (const auto task = number(tail)) {  // slurm-JOB-TASK.out
      facts.rank = Rank{*task};
      facts.kind = SourceKind::rank;
      return true;
    }
    facts.node = middle;
    facts.kind = SourceKind::merged;
    return !middle.empty();
  }
  const std::string_view node = middle.substr(0, last);
  const bool has_digit = std::any_of(node.begin(), node.end(), is_digit);
  const bool padded = tail.size() > 1 && tail[0] == '0';  // node-01 without a task
  const auto task = number(tail);
  if (!task || (padded && !has_digit)) {
    facts.node = middle;
    facts.kind = SourceKind::merged;
    return true;
  }
  facts.node = node;
  facts.rank = Rank{*task};
  facts.kind = SourceKind::rank;
  return true;
}

/// `slurm-J.out`, `NAME-J.out`, `J.out`: all tasks in one file.
bool slurm_merged(const PathParts& parts, PathFacts& facts) {
  const std::string_view stem = parts.stem;
  if (parts.extension != "out" && parts.extension != "err" && !stem.starts_with("slurm-"))
    return false;
  std::size_t at = stem.size();
  while (at > 0 && is_digit(stem[at - 1])) --at;
  if (at > 0 && at < stem.size() && stem[at - 1] == '_') {  // array: slurm-J_A.out
    std::size_t front = at - 1;
    while (front > 0 && is_digit(stem[front - 1])) --front;
    if (at - 1 - front >= 2) at = front;
  }
  if (stem.size() - at < 2) return false;
  if (at > 0 && stem[at - 1] != '-' && stem[at - 1] != '_' && stem[at - 1] != '.') return false;
  facts.job = stem.substr(at);
  facts.kind = SourceKind::merged;
  return true;
}

/// `NS_POD_UID/C/N.log`: N counts the restarts.
bool pod(const PathParts& parts, PathFacts& facts) {
  const std::string_view folder = folder_from_end(parts, 1);
  const std::size_t first = folder.find('_');
  const std::size_t last = folder.rfind('_');
  if (first == folder.npos || last == first || folder.size() - last < 33) return false;
  const auto restarts = number(parts.stem);
  if (!restarts) return false;
  facts.node = folder.substr(first + 1, last - first - 1);
  facts.attempt = *restarts;
  return true;
}

/// `/var/log/containers/POD_NS_C-ID.log`.
bool container(const PathParts& parts, PathFacts& facts) {
  const std::string_view stem = parts.stem;
  const std::size_t first = stem.find('_');
  const std::size_t last = stem.rfind('_');
  const std::size_t dash = stem.rfind('-');
  if (first == stem.npos || first == last || dash == stem.npos || stem.size() - dash != 65)
    return false;
  facts.node = stem.substr(0, first);
  return true;
}

/// `dmesg.log`, `dmesg-NODE.txt`, `NODE.dmesg`, `kern.log`, `syslog`.
bool kernel(const PathParts& parts, PathFacts& facts) {
  constexpr std::array<std::string_view, 7> kNames{"dmesg",    "kern",   "kmsg",   "syslog",
                                                   "messages", "kernel", "journal"};
  const std::string stem = lower(parts.stem);
  if (parts.extension == "dmesg") {
    facts.kind = SourceKind::kernel;
    facts.node = parts.stem;
    return true;
  }
  for (const auto name : kNames) {
    if (!stem.starts_with(name)) continue;
    if (stem.size() > name.size() && is_letter(stem[name.size()])) continue;
    facts.kind = SourceKind::kernel;
    if (stem.size() > name.size() + 2) {
      const std::string_view tail = std::string_view{parts.stem}.substr(name.size() + 1);
      if (node_like(tail)) facts.node = tail;
    }
    return true;
  }
  return false;
}

/// NCCL_DEBUG_FILE with %h and %p: `nccl_debug.HOST.PID`, `nccl.HOST.PID.log`.
bool nccl_debug(const PathParts& parts, PathFacts& facts) {
  std::string whole = parts.stem;
  if (parts.extension != "log" && parts.extension != "txt" && !parts.extension.empty())
    whole += "." + parts.extension;
  if (!lower(whole).starts_with("nccl")) return false;
  const std::size_t last = whole.rfind('.');
  const std::size_t first = whole.find('.');
  if (first == whole.npos || last == first || !all_digits(std::string_view{whole}.substr(last + 1)))
    return false;
  facts.node = whole.substr(first + 1, last - first - 1);
  return true;
}

/// Ascend's `plog-PID_TIME.log` and `device-K/device-PID_TIME.log`.
bool ascend(const PathParts& parts, PathFacts& facts) {
  if (parts.stem.starts_with("plog-")) {
    facts.kind = SourceKind::rank;
    return true;
  }
  const auto device = number_behind(folder_from_end(parts, 0), "device");
  if (!device || !parts.stem.starts_with("device-")) return false;
  facts.local_rank = device;
  facts.kind = SourceKind::rank;
  return true;
}

/// Tried in this order: a strict rule stands before a loose one.
constexpr std::array kRules{torchrun,    launcher, both_ranks, rank_name,   numbered_extension,
                            rank_folder, worker,   pod,        container,   kernel,
                            nccl_debug,  ascend,   slurm_task, slurm_merged};

}  // namespace

PathParts split_path(std::string_view relative) {
  PathParts parts;
  std::size_t at = 0;
  for (std::size_t slash = relative.find('/'); slash != relative.npos;
       slash = relative.find('/', at)) {
    const std::string_view folder = relative.substr(at, slash - at);
    if (!folder.empty() && folder != "." && folder != "..") parts.folders.emplace_back(folder);
    at = slash + 1;
  }
  const std::string_view name = plain_name(relative.substr(at));
  const std::size_t dot = name.rfind('.');
  const bool split = dot != name.npos && dot > 0;
  parts.stem = split ? name.substr(0, dot) : name;
  if (split) parts.extension = lower(name.substr(dot + 1));
  if (parts.stem.ends_with(".log") && split) parts.stem.resize(parts.stem.size() - 4);
  return parts;
}

bool node_like(std::string_view folder) {
  constexpr std::array<std::string_view, 24> kGeneric{
      "log",      "logs",         "output",    "outputs", "out",    "stdout",
      "stderr",   "tmp",          "var",       "home",    "mnt",    "data",
      "debug",    "plog",         "msrun_log", "train",   "pods",   "containers",
      "torchrun", "torchelastic", "results",   "raw",     "device", "history"};
  constexpr std::array<std::string_view, 9> kFronts{"job",   "run",    "attempt", "case", "exp",
                                                    "trial", "device", "rank",    "slurm"};
  constexpr std::array<std::string_view, 7> kBacks{"log", "logs",   "output", "outputs",
                                                   "out", "stdout", "results"};
  const std::string name = lower(folder);
  if (name.empty() || all_digits(name)) return false;
  const auto begins = [&](std::string_view word) {
    return name.starts_with(word) && (name.size() == word.size() || !is_letter(name[word.size()]));
  };
  const auto ends = [&](std::string_view word) {
    return name.size() > word.size() && name.ends_with(word) &&
           !is_letter(name[name.size() - word.size() - 1]);
  };
  if (std::find(kGeneric.begin(), kGeneric.end(), name) != kGeneric.end()) return false;
  return std::ranges::none_of(kFronts, begins) && std::ranges::none_of(kBacks, begins) &&
         std::ranges::none_of(kBacks, ends);  // `log_gpt` and `gpt-logs`, of no node
}

std::string node_of_folders(const std::vector<std::string>& folders) {
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
    if (node_like(*folder)) return *folder;
  return {};
}

PathFacts facts_of(const PathParts& parts) {
  for (const auto rule : kRules) {
    PathFacts facts;
    if (rule(parts, facts)) return facts;
  }
  return {};
}

}  // namespace l4::discover
