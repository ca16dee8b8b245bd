// The sources of clues: a pure function for each, and the table of them.
//
// Place in the flow: findings of all detectors -> clues. A source reads what was found and the
// voices, never another source's clues. To add one: a function here with a file of its own, a row
// in the table, a kind in clue.h with its sentence, a row in config/scoring.toml.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aggregator/diagnose/clues/clue.h"
#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/diagnose/clues/voices.h"
#include "aggregator/diagnose/findings/findings.h"
#include "common/base/vocabulary.h"

namespace l4::diagnose::clues {

/// What every source reads. Belongs to the caller, for the time of the call.
struct Scene {
  const Findings& findings;
  State state = State::unknown;
  const std::vector<std::uint32_t>& lost;  ///< JobView::nodes that stopped without a word
  const Scale& scale;
  const Voices& voices;

  const job::JobView& view() const { return findings.view; }
  std::size_t nodes() const;
  /// The agents of some nodes do not answer.
  bool is_agent_lost() const;
};

std::vector<Clue> processes(const Scene& scene);    ///< stopped, waiting, gone; lost agents
std::vector<Clue> accusations(const Scene& scene);  ///< lines about others
std::vector<Clue> failures(const Scene& scene);     ///< lines of a rank's own
std::vector<Clue> standing(const Scene& scene);     ///< known faults of a job that goes on
std::vector<Clue> sequences(const Scene& scene);    ///< last iterations that differ (DTW)
std::vector<Clue> windows(const Scene& scene);      ///< nodes that differ while the job runs
std::vector<Clue> delays(const Scene& scene);       ///< late starts, slow phases, stalls
std::vector<Clue> turns(const Scene& scene);        ///< lines in another order
std::vector<Clue> order(const Scene& scene);        ///< which node came first
std::vector<Clue> silence(const Scene& scene);      ///< silent while others complain
std::vector<Clue> habits(const Scene& scene);       ///< lines that stopped during a stall
std::vector<Clue> progress(const Scene& scene);     ///< iterations not completed
std::vector<Clue> lost_nodes(const Scene& scene);   ///< all logs of a node stop
std::vector<Clue> drags(const Scene& scene);        ///< timers that grew
std::vector<Clue> nics(const Scene& scene);         ///< errors of network cards; who sent no more
std::vector<Clue> network(const Scene& scene);      ///< servers, cards that the network accuses
std::vector<Clue> forest(const Scene& scene);       ///< nodes set apart by the failure's lines

struct Source {
  std::string_view name;
  std::uint32_t states;  ///< bits of the states in which it is asked
  std::vector<Clue> (*clues)(const Scene& scene);
};

/// In the order in which their reasons are listed.
std::span<const Source> sources();

/// All clues of a job in this state, in that order.
std::vector<Clue> collect(const Scene& scene);

/// Id and text of the event's template.
Facts facts_of(const job::EventView& event);

/// 1 for evidence on one of `all`, 0 for evidence on all of them: -ln(share) / ln(all).
double rarity(std::size_t have, std::size_t all);

}  // namespace l4::diagnose::clues
