#include "aggregator/diagnose/clues/voices.h"

#include <algorithm>
#include <map>
#include <set>

#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "common/base/earliest.h"

namespace l4::diagnose::clues {

using detect::EventHint;
using detect::FailureEvent;
using detect::Severity;

namespace {

std::vector<bool> reporters(const Findings& findings) {
  const job::JobView& view = findings.view;
  std::vector<bool> reports(view.ranks.size(), false);
  for (const FailureEvent& failure : findings.failures.events) {
    const detect::Accused& accused = findings.hints.accused[failure.event];
    if (accused.empty() || accused.by_peers) continue;
    for (const std::uint32_t i : failure.occurrences) {
      const std::uint32_t rank = view.streams[view.events[failure.event].at[i].stream].rank;
      if (!view.ranks[rank].rank) reports[rank] = true;
    }
  }
  return reports;
}

bool are_causes_common(const Findings& findings) {
  return std::ranges::none_of(findings.failures.events, [&](const FailureEvent& failure) {
    return telling_of(findings.hints.events[failure.event], failure) == Telling::cause &&
           2 * detect::count_nodes(findings.view, failure) <= findings.view.nodes.size();
  });
}

}  // namespace

Telling telling_of(const EventHint& hint, const FailureEvent& failure) {
  if (hint.accuses_peer && !hint.consequence && !hint.waited && failure.severity == Severity::fatal)
    return Telling::accuser;
  if (hint.is_echo() || failure.follows) return Telling::nothing;
  return hint.mild || failure.severity < Severity::failure ? Telling::hint : Telling::cause;
}

Voices::Voices(const Findings& findings)
    : complained(findings.view.ranks.size(), false),
      reports(reporters(findings)),
      first_seen(findings.view.ranks.size()),
      cause_time(findings.view.ranks.size()) {
  for (const FailureEvent& failure : findings.failures.events) {
    const EventHint& hint = findings.hints.events[failure.event];
    fatal |= failure.severity == Severity::fatal && !hint.is_echo() && !hint.mild;
    most = std::max(most, telling_of(hint, failure));
  }
  alike = most == Telling::cause && are_causes_common(findings);
  for (const FailureEvent& failure : findings.failures.events) {
    const bool cause = counts(findings, failure) && !is_echo(findings, failure);
    for (const auto& [rank, first] : printers_of(findings.view, failure).ranks) {
      complained[rank] = true;
      if (first && cause && !reports[rank]) keep_earliest(cause_time[rank], first);
      keep_earliest(first_seen[rank], first);
    }
  }
}

bool Voices::counts(const Findings& findings, const FailureEvent& failure) const {
  const EventHint& hint = findings.hints.events[failure.event];
  const bool apart =
      alike && (hint.waited || hint.accuses_peer) && failure.severity == Severity::fatal &&
      job::is_few(detect::count_nodes(findings.view, failure), findings.view.nodes.size());
  return apart || (telling_of(hint, failure) == most && most != Telling::nothing);
}

bool Voices::is_echo(const Findings& findings, const FailureEvent& failure) const {
  const bool follows = findings.hints.events[failure.event].is_echo() || failure.follows;
  return (follows && !counts(findings, failure)) || !findings.hints.accused[failure.event].empty();
}

Printers printers_of(const job::JobView& view, const FailureEvent& failure) {
  const job::EventView& event = view.events[failure.event];
  std::map<std::uint32_t, std::optional<TimeMs>> ranks;
  std::set<std::uint32_t> nodes;
  for (const std::uint32_t i : failure.occurrences) {
    const job::StreamView& stream = view.streams[event.at[i].stream];
    nodes.insert(stream.node);
    keep_earliest(ranks.try_emplace(stream.rank).first->second, event.at[i].time);
  }
  Printers printers;
  printers.ranks.reserve(ranks.size());
  for (const auto& [rank, first] : ranks) printers.ranks.push_back({rank, first});
  printers.nodes = nodes.size();
  return printers;
}

}  // namespace l4::diagnose::clues
