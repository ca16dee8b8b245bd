// The identity of a process in its training job: job, start, node, rank, sizes.
//
// Flow: from the environment of the process, else from the paths of its log files (agent/discover),
// else from the configuration. `rank_rules` and the other rules in identity_rules.cc form one
// table; the first row that applies wins. Every field has its origin. Pure; values are checked and
// bounded: a malformed number, or a rank beyond its world size, counts as absent.
//
// A launcher inside a scheduler's task inherits the numbers of that task: torchrun under srun has
// SLURM_PROCID, which is not its rank. `rule` is the row that gave the rank; smaller rows are
// stronger, and roles.h compares them along the process tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/discover/path_facts.h"
#include "agent/host/environment.h"
#include "agent/host/facts.h"

namespace l4::host {

enum class Origin : std::uint8_t { none, env, derived, path, config };

template <class T>
struct Known {
  std::optional<T> value;
  Origin origin = Origin::none;
  std::string_view from;  ///< key of the environment, "path", "config"; static text

  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
};

/// Two values that should agree and do not; the first was believed.
struct Conflict {
  std::string_view field;
  std::string believed, other;  ///< "RANK=3"
};

struct Identity {
  Known<std::string> job, node;
  Known<Rank> rank;
  Known<std::int32_t> local_rank, world_size;
  Known<std::int32_t> local_world_size, node_rank;
  Known<AttemptKey> attempt;          ///< counts of scheduler and launcher
  Known<std::int32_t> path_attempt;   ///< attempt_N of a path
  std::size_t rule = ~std::size_t{};  ///< row of the table that gave the rank
  std::vector<Conflict> conflicts;    ///< at most 8
};

/// Facts that the caller knows from elsewhere.
struct IdentityHints {
  std::vector<discover::PathFacts> paths;  ///< facts of the log files that the process writes
  std::string node;                        ///< node of the group of files; counts as a path
  std::string rendezvous;  ///< from a launcher's command line; counts as its environment
  std::string config_job, config_node;
  std::optional<Rank> config_rank;  ///< rank of all processes on this host that write logs
  std::optional<std::int32_t> config_local_rank, config_world_size;
};

Identity identify(const Environment& environment, const IdentityHints& hints);

RankSource rank_source(Origin origin);
std::string_view name(Origin origin);

}  // namespace l4::host
