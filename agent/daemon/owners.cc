#include "agent/daemon/owners.h"

#include <algorithm>
#include <vector>

namespace l4::daemon {
namespace {

using Processes = std::vector<const host::ProcessWatch::Process*>;

/// The value that all processes agree on; empty if they differ.
template <class Get>
std::string shared(const Processes& processes, Get get) {
  std::string value;
  for (const auto* process : processes) {
    const std::string& one = get(process->fact);
    if (one.empty()) continue;
    if (!value.empty() && value != one) return {};
    value = one;
  }
  return value;
}

bool lives(const host::ProcessWatch::Process* process) {
  return process->fact.state != host::ProcessState::gone;
}

/// The job that the ranks below all of these launchers name; empty if there is none.
std::string job_of_ranks(const Processes& launchers) {
  std::string job;
  for (const auto* process : launchers) {
    if (process->ranks_job.empty()) continue;
    if (!job.empty() && job != process->ranks_job) return {};
    job = process->ranks_job;
  }
  return job;
}

/// A file of one rank belongs to that rank; the file of a launcher holds lines of other ranks, too.
void take_rank(discover::LogFile& file, const Processes& ranks) {
  const bool open = file.kind == wire::SourceKind::rank || file.kind == wire::SourceKind::other;
  if (ranks.empty() || !open) return;
  const host::ProcessFact& fact = ranks.front()->fact;
  const bool one = std::ranges::all_of(
      ranks, [&](const auto* process) { return process->fact.rank == fact.rank; });
  if (!one || !fact.rank) return;
  file.kind = wire::SourceKind::rank;
  file.rank = fact.rank;
  if (fact.local_rank) file.local_rank = fact.local_rank;
}

}  // namespace

std::string Owners::node_of_path(const std::string& path, const std::string& root) const {
  const discover::LogFile file = discover::describe(path, root).file;
  return file.node_known ? file.node : defaults_.node;
}

/// Fills in from the configuration what neither processes nor the path say.
void Owners::apply_configured_rank(discover::LogFile& file) const {
  const bool open = file.kind == wire::SourceKind::rank || file.kind == wire::SourceKind::other;
  if (!open || (!defaults_.rank && !defaults_.local_rank)) return;
  if (defaults_.rank) file.kind = wire::SourceKind::rank;
  if (!file.rank) file.rank = defaults_.rank;
  if (!file.local_rank) file.local_rank = defaults_.local_rank;
}

std::optional<std::string> Owners::living_job(const std::optional<host::FileKey>& file) const {
  if (watch_ == nullptr || !file) return std::nullopt;
  const Processes ranks = watch_->ranks_of(*file);
  if (std::ranges::none_of(ranks, lives)) return std::nullopt;
  return shared(ranks, [](const host::ProcessFact& fact) -> const auto& { return fact.job; });
}

bool Owners::knows(const std::optional<host::FileKey>& file) const {
  if (watch_ == nullptr || !file) return false;
  const Processes ranks = watch_->ranks_of(*file);
  return !ranks.empty() && (watch_->stats().scans > 0 || std::ranges::any_of(ranks, lives));
}

Owner Owners::of(const std::string& path, const std::string& root,
                 const std::optional<host::FileKey>& file) const {
  discover::Described described = discover::describe(path, root);
  Owner owner;
  owner.facts = std::move(described.file);
  owner.facts.modified.reset();  // the file grows
  Processes ranks, writers;
  if (watch_ != nullptr && file) ranks = watch_->ranks_of(*file);
  owner.by_process = !ranks.empty();
  writers = ranks;  // otherwise only launchers write it: their own log, or one for ranks to come
  if (watch_ != nullptr && file && ranks.empty()) writers = watch_->writers_of(*file);
  if (!owner.facts.node_known) {
    const std::string node =
        shared(writers, [](const host::ProcessFact& fact) -> const auto& { return fact.node; });
    owner.facts.node = !node.empty()             ? node
                       : !defaults_.node.empty() ? defaults_.node
                                                 : defaults_.agent;
    owner.facts.node_known = !node.empty();
  }
  take_rank(owner.facts, ranks);
  if (ranks.empty()) apply_configured_rank(owner.facts);
  owner.writers_job =
      shared(writers, [](const host::ProcessFact& fact) -> const auto& { return fact.job; });
  if (owner.facts.kind == wire::SourceKind::rank && owner.by_process)
    // The path counts the restarts of the launcher, and mostly not those of the scheduler.
    owner.facts.attempt =
        std::max(owner.facts.attempt, watch_->first_attempt(*file, owner.writers_job).value_or(0));
  owner.job = owner.writers_job;
  if (owner.job.empty()) owner.job = described.job;
  if (owner.job.empty()) owner.job = job_of_ranks(writers);
  if (owner.job.empty()) owner.job = defaults_.job;
  owner.named = !owner.job.empty();
  if (!owner.named) owner.job = described.folder_job;
  return owner;
}

}  // namespace l4::daemon
