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
  const std::size_t nodes = findings.view.nodes.size();
  bool alike = true;  // most nodes say each cause
  for (const FailureEvent& failure : findings.failures.events) {
    const EventHint& hint = findings.hints.events[failure.event];
    const Telling telling = telling_of(hint, failure);
    Voice& voice = lines.emplace_back(printers_of(findings.view, failure));
    fatal |= failure.severity == Severity::fatal && !hint.is_echo() && !hint.mild;
    most = std::max(most, telling);
    alike = alike && (telling != Telling::cause || 2 * voice.said.nodes > nodes);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const FailureEvent& failure = findings.failures.events[i];
    const EventHint& hint = findings.hints.events[failure.event];
    Voice& voice = lines[i];
    const bool apart = alike && most == Telling::cause && (hint.waited || hint.accuses_peer) &&
                       failure.severity == Severity::fatal && job::is_few(voice.said.nodes, nodes);
    voice.counts = apart || (most != Telling::nothing && telling_of(hint, failure) == most);
    voice.echo = ((hint.is_echo() || failure.follows) && !voice.counts) ||
                 !findings.hints.accused[failure.event].empty();
    for (const auto& [rank, first] : voice.said.ranks) {
      complained[rank] = true;
      if (first && voice.counts && !voice.echo && !reports[rank])
        keep_earliest(cause_time[rank], first);
      keep_earliest(first_seen[rank], first);
    }
  }
}

}  // namespace l4::diagnose::clues
