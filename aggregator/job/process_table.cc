#include "aggregator/job/process_table.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/saved/archive.h"

namespace l4::job {
namespace {

using wire::ProcessFact;

/// Processes are evicted in ascending order of this.
auto worth(const ProcessFact& fact) {
  const int part = fact.state == wire::ProcessState::gone ? 0
                   : fact.part == wire::Part::rank        ? 3
                   : fact.part == wire::Part::launcher    ? 2
                                                          : 1;
  return std::pair(part, fact.since);
}

/// A number that is never negative is stored with 1 added, an empty value as 0.
template <class Archive, class Optional>
void persist_number(Archive& archive, Optional& number) {
  std::uint64_t stored = 0;
  if constexpr (!Archive::kLoads) {
    if (number) stored = static_cast<std::uint64_t>(*number) + 1U;
  }
  archive(stored);
  if constexpr (Archive::kLoads) {
    archive.require(stored <= 0x8000'0000U);
    number.reset();
    if (stored > 0) number = static_cast<std::int32_t>(stored - 1);
  }
}

template <class Archive, class Fact>
void persist_fact(Archive& archive, Fact& fact) {
  archive(fact.boot_id, fact.pid, fact.started_boot, fact.started, fact.command);
  archive.enumerator(fact.part, wire::Part::helper);
  archive(fact.node, fact.job, fact.attempt);
  archive(fact.attempt_key.requeue, fact.attempt_key.step, fact.attempt_key.restart);
  std::optional<std::int32_t> rank;
  if (fact.rank) rank = fact.rank->value();
  persist_number(archive, rank);
  if constexpr (Archive::kLoads) {
    if (rank) fact.rank = Rank{*rank};
  }
  archive.enumerator(fact.rank_source, RankSource::derived);
  persist_number(archive, fact.local_rank);
  persist_number(archive, fact.world_size);
  archive.enumerator(fact.state, wire::ProcessState::gone);
  archive(fact.since, fact.cpu, fact.cpu_since);
  archive.enumerator(fact.exit.kind, wire::Exit::Kind::signal);
  archive(fact.exit.value);
  archive.enumerator(fact.exit.by, wire::Exit::Seen::pidfd);
}

}  // namespace

void ProcessTable::apply(const ProcessFact& fact, std::size_t processes_max) {
  const auto [at, created] = facts_.try_emplace({fact.boot_id, fact.pid, fact.started_boot}, fact);
  if (!created &&
      (at->second.state != wire::ProcessState::gone || fact.state == wire::ProcessState::gone))
    at->second = fact;
  while (facts_.size() > processes_max) {
    facts_.erase(std::ranges::min_element(facts_, {},
                                          [](const auto& entry) { return worth(entry.second); }));
    ++forgotten_;
  }
}

template <class Archive, class Self>
void ProcessTable::persist(Archive& archive, Self& self) {
  constexpr std::size_t kBytesEach = 23;
  archive(self.forgotten_);
  if constexpr (Archive::kLoads) {
    std::vector<ProcessFact> facts;
    archive.list(facts, kBytesEach, [&](ProcessFact& fact) { persist_fact(archive, fact); });
    for (ProcessFact& fact : facts) {
      auto key = std::tuple(fact.boot_id, fact.pid, fact.started_boot);
      self.facts_.insert_or_assign(std::move(key), std::move(fact));
    }
  } else {
    archive.list(self.facts_, kBytesEach,
                 [&](const auto& entry) { persist_fact(archive, entry.second); });
  }
}

void ProcessTable::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void ProcessTable::load(ByteReader& in) {
  saved::Reader archive(in);
  facts_.clear();
  persist(archive, *this);
}

}  // namespace l4::job
