#include "aggregator/diagnose/suspects.h"

#include "aggregator/diagnose/clues/sources.h"
#include "common/base/earliest.h"

namespace l4::diagnose {

Suspects find_suspects(const Findings& findings, State state,
                       const std::vector<std::uint32_t>& lost_nodes, const clues::Scale& scale) {
  const clues::Voices voices(findings);
  const std::size_t outsiders = findings.hints.outsiders.size();
  Suspects suspects = weigh(findings.view, outsiders,
                            clues::collect({findings, state, lost_nodes, scale, voices}), scale);
  for (std::size_t rank = 0; rank < suspects.ranks.size(); ++rank)
    suspects.ranks[rank].first_seen = voices.first_seen[rank];
  for (const detect::FailureEvent& failure : findings.failures.events)
    for (const std::uint32_t one : findings.hints.accused[failure.event].outsiders)
      keep_earliest(suspects.outsiders[one].first_seen, failure.first_time);
  return order_suspects(findings.view, findings.hints.outsiders, std::move(suspects));
}

}  // namespace l4::diagnose
