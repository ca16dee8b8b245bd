#include "aggregator/diagnose/findings/lost_nodes.h"

#include <algorithm>
#include <set>

#include "aggregator/diagnose/findings/causes.h"
#include "aggregator/faults/fault.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/verdict.h"

namespace l4::diagnose {
namespace {

/// Nodes and ranks that print a line about the failure.
struct Complaints {
  std::vector<bool> nodes, ranks;
  std::size_t most = 0;  ///< nodes of the most common line; 0 where words are read
};

/// Nodes on which the most common event of the failure stands.
std::size_t most_nodes(const Findings& findings) {
  std::size_t most = 0;
  for (const detect::FailureEvent& failure : findings.failures.events)
    most = std::max(most, count_nodes(findings.view, failure));
  return most;
}

/// Where words are not read, new lines of some nodes may be about anything; those of few, or as
/// many as have any, are about the failure.
Complaints complaints_of(const Findings& findings) {
  Complaints found{std::vector<bool>(findings.view.nodes.size(), false),
                   std::vector<bool>(findings.view.ranks.size(), false),
                   findings.failures.worded ? 0 : most_nodes(findings)};
  const auto is_of_some = [&](const detect::FailureEvent& failure) {
    const std::size_t nodes = count_nodes(findings.view, failure);
    return nodes < found.most && !job::is_few(nodes, findings.view.nodes.size());
  };
  for (const detect::FailureEvent& failure : findings.failures.events) {
    if (found.most > 0 && is_of_some(failure)) continue;
    const job::EventView& event = findings.view.events[failure.event];
    for (const std::uint32_t i : failure.occurrences) {
      const job::StreamView& stream = findings.view.streams[event.at[i].stream];
      found.nodes[stream.node] = true;
      found.ranks[stream.rank] = true;
    }
  }
  return found;
}

/// How many nodes are expected to be without a complaint if each rank of every node complains as
/// often as those of the nodes with complaints. Where few ranks complain, a node without any is no
/// sign. `by_place`: as often as those at its place on these nodes: where one rank of each node
/// speaks for all, it is the one at the same place.
double silent_by_chance(const job::JobView& view, const Complaints& complaints, bool by_place) {
  std::vector<std::set<std::uint32_t>> ranks(view.nodes.size());
  for (const job::StreamView& stream : view.streams)
    if (!view.ranks[stream.rank].launcher) ranks[stream.node].insert(stream.rank);
  struct Place {
    std::size_t asked = 0, complaining = 0;
  };
  std::vector<Place> places;  // by a rank's place among those of its node
  for (std::size_t node = 0; node < ranks.size(); ++node) {
    if (!complaints.nodes[node]) continue;
    places.resize(std::max(places.size(), ranks[node].size()));
    std::size_t at = 0;
    for (const std::uint32_t rank : ranks[node]) {
      Place& place = places[by_place ? at++ : 0];
      ++place.asked;
      place.complaining += complaints.ranks[rank] ? 1 : 0;
    }
  }
  double expected = 0;
  for (const auto& of_node : ranks) {
    if (of_node.empty()) continue;
    double silent = 1;
    for (std::size_t at = 0; at < std::min(of_node.size(), places.size()); ++at) {
      const Place& place = places[by_place ? at : 0];
      silent *= 1 - static_cast<double>(place.complaining) /
                        static_cast<double>(std::max<std::size_t>(place.asked, 1));
    }
    expected += silent;
  }
  return expected;
}

/// A cause on a node that still speaks. A limit or a person stops all nodes alike, and one that
/// says nothing of it was gone before; so was one of which others speak, and which says nothing
/// itself.
bool has_inner_cause(const Findings& findings, const std::vector<bool>& complained) {
  const auto speaks = [&](std::uint32_t node) { return complained[node]; };
  return std::ranges::any_of(findings.failures.events, [&](const detect::FailureEvent& failure) {
    const std::vector<std::uint32_t>& accused = findings.hints.accused[failure.event].nodes;
    return is_cause(findings, failure) && !findings.hints.events[failure.event].stop &&
           (accused.empty() || std::ranges::any_of(accused, speaks));
  });
}

/// A rank prints several lines that no other node prints: the message of a failure of its own.
bool has_own_message(const Findings& findings) {
  std::set<std::uint32_t> ranks;
  return std::ranges::any_of(findings.failures.events, [&](const detect::FailureEvent& failure) {
    return count_nodes(findings.view, failure) == 1 &&
           !ranks.insert(findings.view.streams[failure.first_stream].rank).second;
  });
}

/// A known fault tells of the loss of a node.
bool tells_of_lost_node(const Findings& findings, const detect::FailureEvent& failure) {
  const auto& faults = findings.hints.faults[failure.event];
  return !faults.empty() && faults.front()->subcategory == "node";
}

/// Nodes that another node reports as lost and that print nothing themselves.
std::vector<std::uint32_t> named_as_lost(const Findings& findings,
                                         const std::vector<bool>& complained) {
  std::vector<std::uint32_t> lost;
  for (const detect::FailureEvent& failure : findings.failures.events) {
    if (!tells_of_lost_node(findings, failure)) continue;
    for (const std::uint32_t node : findings.hints.accused[failure.event].nodes)
      if (!complained[node] && std::ranges::find(lost, node) == lost.end()) lost.push_back(node);
  }
  return lost;
}

}  // namespace

std::vector<std::uint32_t> find_lost_nodes(const Findings& findings) {
  const Complaints complaints = complaints_of(findings);
  const std::vector<bool>& complained = complaints.nodes;
  const auto complaining = static_cast<std::size_t>(std::ranges::count(complained, true));
  std::vector<std::uint32_t> lost = named_as_lost(findings, complained);
  const std::size_t nodes = findings.view.nodes.size();
  // One that alone does not say what the same rank of all others says is no matter of chance.
  const bool alone = complaining + 1 == nodes;
  // All others end with one line: where words are not read, a line of one node is no cause beside
  // it. Whatever happened there, this one would have told of it.
  const bool common = alone && complaints.most == complaining && !has_own_message(findings);
  if (!lost.empty() || (!common && has_inner_cause(findings, complained))) return lost;
  if (nodes < numbers::verdict().lost_of_min || complaining * 2 < nodes || complaining == nodes)
    return lost;
  if (silent_by_chance(findings.view, complaints, alone) > numbers::verdict().silent_by_chance_max)
    return lost;
  for (std::uint32_t node = 0; node < nodes; ++node)
    if (!complained[node] && findings.view.nodes[node].end) lost.push_back(node);
  if (lost.size() > numbers::verdict().lost_max || !job::is_few(lost.size(), nodes)) lost.clear();
  return lost;
}

bool names_lost_outsider(const Findings& findings) {
  return std::ranges::any_of(findings.failures.events, [&](const detect::FailureEvent& failure) {
    const std::vector<std::uint32_t>& accused = findings.hints.accused[failure.event].outsiders;
    return tells_of_lost_node(findings, failure) && is_cause(findings, failure) &&
           std::ranges::any_of(accused, [&](std::uint32_t one) {
             return !findings.hints.outsiders[one].node.empty();
           });
  });
}

}  // namespace l4::diagnose
