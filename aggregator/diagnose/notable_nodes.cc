#include "aggregator/diagnose/notable_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "aggregator/faults/fault.h"
#include "aggregator/job/printed.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

using detect::spatial::EventDifference;
using detect::spatial::EvidenceKind;

constexpr std::size_t kTextMax = 80;

std::string quoted(const job::JobView& view, std::uint32_t event) {
  const std::string& text = view.events[event].text;
  return text.size() <= kTextMax ? fmt::format("\"{}\"", text)
                                 : fmt::format("\"{}...\"", text.substr(0, kTextMax));
}

std::string times(double count) {
  return count == 1 ? "once" : fmt::format("{:.0f} times", count);
}

std::string text_of(const job::JobView& view, const std::string& subject,
                    const EventDifference& event, bool alone) {
  const std::string said = quoted(view, event.event);
  switch (event.kind) {
    case EvidenceKind::absent:
      return fmt::format("{} does not print {}, which its peers print.", subject, said);
    case EvidenceKind::count:
    case EvidenceKind::excess:
      if (event.count < 1)
        return fmt::format("{} no longer prints {}: {:.0f} were expected.", subject, said,
                           event.expected);
      return fmt::format("{} prints {} {}, {:.1f} were expected.", subject, said,
                         times(event.count), event.expected);
    default:
      return fmt::format("{}{} prints {} ({}).", subject, alone ? " alone" : "", said,
                         times(event.count));
  }
}

Notable notable_of(const job::JobView& view, std::uint32_t node, const EventDifference& event) {
  Notable notable;
  notable.kind = "node";
  notable.node = view.nodes[node].name;
  notable.value = Printed{event.count};
  notable.usual = Printed{std::round(10 * event.expected) / 10};
  notable.count = static_cast<std::uint64_t>(event.count);
  notable.text = text_of(view, *notable.node, event, event.nodes == 1);
  return notable;
}

Notable notable_of_group(const job::JobView& view, std::uint64_t nodes,
                         const EventDifference& event) {
  Notable notable;
  notable.kind = "nodes";
  notable.count = nodes;
  notable.text =
      text_of(view, fmt::format("Each of {} of {} nodes", nodes, view.nodes.size()), event, false);
  return notable;
}

}  // namespace

void add_standing_faults(const job::JobView& view, const std::vector<StandingFault>& faults,
                         std::vector<Notable>& notable) {
  for (const StandingFault& standing : faults) {
    Notable one;
    one.kind = "fault";
    one.node = view.nodes[standing.node].name;
    one.count = standing.lines;
    one.text = fmt::format("{} tells {} times of a known fault: {}.", *one.node, standing.lines,
                           standing.fault->title);
    notable.push_back(std::move(one));
  }
}

void add_turns(const job::JobView& view, const std::vector<detect::temporal::Turn>& turns,
               std::vector<Notable>& notable) {
  constexpr std::size_t kNamedMax = 8;
  for (std::size_t i = 0; i < std::min(turns.size(), kNamedMax); ++i) {
    const detect::temporal::Turn& turn = turns[i];
    const job::StreamView& stream = view.streams[turn.stream];
    Notable one;
    one.kind = "order";
    one.node = view.nodes[stream.node].name;
    one.rank = view.ranks[stream.rank].rank;
    one.iteration = job::printed(view, turn.iteration);
    one.count = turn.after;
    one.text = fmt::format(
        "{} on {} prints {} before {} from iteration {} on; it came behind until then, and still "
        "does on its peers.",
        one.rank ? fmt::format("Rank {}", one.rank->value()) : std::string("A process"), *one.node,
        quoted(view, turn.later), quoted(view, turn.earlier), one.iteration->value());
    notable.push_back(std::move(one));
  }
}

void add_differences(const job::JobView& view, const detect::spatial::Differences& differences,
                     std::vector<Notable>& notable) {
  constexpr std::uint64_t kNamedMax = 8;
  std::map<std::uint32_t, std::pair<std::uint64_t, const EventDifference*>> by_event;
  for (const auto& node : differences.nodes) {
    auto& [count, example] = by_event[node.events.front().event];
    ++count;
    example = &node.events.front();
  }
  for (const auto& node : differences.nodes) {
    auto& [count, example] = by_event.at(node.events.front().event);
    if (count <= kNamedMax) {
      notable.push_back(notable_of(view, node.node, node.events.front()));
    } else if (example != nullptr) {
      notable.push_back(notable_of_group(view, count, *std::exchange(example, nullptr)));
    }
  }
}

}  // namespace l4::diagnose
