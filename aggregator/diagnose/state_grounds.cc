#include <algorithm>
#include <cmath>
#include <set>

#include "aggregator/diagnose/certainty.h"
#include "aggregator/diagnose/findings/causes.h"
#include "aggregator/diagnose/findings/waiting.h"
#include "aggregator/job/rank_coverage.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

/// Facts that logs may show wrongly, or not at all. Whether somebody watches the job is known.
constexpr Facts kDoubtful =
    facts(Fact::said_well, Fact::closed_well, Fact::complete, Fact::kept, Fact::ended, Fact::gone,
          Fact::stopped, Fact::untrained, Fact::waited, Fact::stood, Fact::untimed, Fact::fatal,
          Fact::peer_lost, Fact::opening, Fact::starting, Fact::lost, Fact::slowed, Fact::dragged,
          Fact::overdue, Fact::blind);

/// Share of the nodes on which a line of the failure was printed, or a process ended.
double shown_share(const Findings& findings) {
  const job::JobView& view = findings.view;
  std::set<std::uint32_t> nodes;
  for (const detect::FailureEvent& failure : findings.failures.events) {
    if (failure.severity < detect::Severity::failure) continue;
    for (const std::uint32_t i : failure.occurrences)
      nodes.insert(view.streams[view.events[failure.event].at[i].stream].node);
  }
  for (const job::RankView& rank : view.ranks)
    if (rank.process != nullptr && rank.process->state == wire::ProcessState::gone)
      nodes.insert(rank.node);
  return view.nodes.empty()
             ? 0
             : static_cast<double>(nodes.size()) / static_cast<double>(view.nodes.size());
}

}  // namespace

std::vector<Doubt> doubts_of(Facts known) {
  const State said = row_of(known).state;
  std::vector<Doubt> held, lacking;
  for (unsigned bit = 0; bit <= static_cast<unsigned>(Fact::live); ++bit) {
    const auto fact = static_cast<Fact>(bit);
    if ((facts(fact) & kDoubtful) == 0) continue;
    const State instead = row_of(known ^ facts(fact)).state;
    if (instead == said || instead == State::unknown) continue;
    ((known & facts(fact)) != 0 ? held : lacking).push_back({fact, instead});
  }
  held.insert(held.end(), lacking.begin(), lacking.end());
  return held;
}

double missing_share(const job::JobView& view) {
  const auto ranks = job::rank_coverage(*view.state);
  double missing = 0;
  if (ranks.is_short())
    missing = 1 - static_cast<double>(ranks.mapped()) / static_cast<double>(*ranks.expected);
  if (view.bytes_known > 0)
    missing = std::max(missing,
                       1 - static_cast<double>(view.bytes) / static_cast<double>(view.bytes_known));
  return std::clamp(missing, 0.0, 1.0);
}

clues::Grounds state_grounds(const VerdictInput& input, Facts known) {
  using enum clues::GroundKind;
  const Findings& findings = input.findings;
  const detect::FailureEvents& failures = findings.failures;
  const bool failed = (known & facts(Fact::failed)) != 0;
  return {
      {row_of(known).ground},
      {state_fatal, clues::flag((known & facts(Fact::fatal)) != 0)},
      {state_caused, clues::flag(has_cause(findings))},
      {state_compared, clues::flag(failures.compared && !failures.open)},
      {state_unread, clues::flag(!failures.worded)},
      {state_pooled, clues::flag(failures.pooled)},
      {state_doubts, std::log1p(static_cast<double>(doubts_of(known).size()))},
      {state_near_wait, failed ? nearness_to_wait(findings) : 0.0},
      {state_shown, failed ? shown_share(findings) : 0.0},
      {state_missing, missing_share(findings.view)},
  };
}

}  // namespace l4::diagnose
