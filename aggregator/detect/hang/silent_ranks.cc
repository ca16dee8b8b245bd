#include "aggregator/detect/hang/silent_ranks.h"

#include <string_view>
#include <utility>

#include "aggregator/job/view.h"

namespace l4::detect::hang {
namespace {

/// torchrun's line about the signal that it sends to ranks that still run.
bool tells_of_ending(std::string_view text) {
  return (text.contains("Sending process ") && text.contains(" closing signal SIG")) ||
         (text.contains("Closing process ") && text.contains(" via signal SIG"));
}

/// torchrun's line about a worker that a signal ended, except the signal that torchrun sends.
bool tells_of_death(std::string_view text) {
  return text.contains("failed (exitcode: -") && !text.contains("failed (exitcode: -15)");
}

/// Number of launcher lines about processes of each node.
struct Told {
  std::vector<std::uint64_t> ended, died;  // by JobView::nodes
  bool any_died = false;
};

Told told_by_launchers(const job::JobView& view) {
  Told told{std::vector<std::uint64_t>(view.nodes.size(), 0),
            std::vector<std::uint64_t>(view.nodes.size(), 0), false};
  for (const job::EventView& event : view.events) {
    const bool died = tells_of_death(event.text);
    if (!died && !tells_of_ending(event.text)) continue;
    for (const job::Occurrence& occurrence : event.at)
      (died ? told.died : told.ended)[view.streams[occurrence.stream].node] +=
          occurrence.stats.count;
    told.any_died |= died;
  }
  return told;
}

}  // namespace

SilentRanks find_silent_ranks(const job::JobView& view, const std::vector<bool>& complained,
                              Speakers speakers) {
  const bool launchers = speakers == Speakers::launchers;
  SilentRanks found;
  std::vector<std::uint64_t> silent_on(view.nodes.size(), 0);
  for (std::uint32_t rank = 0; rank < view.ranks.size(); ++rank) {
    if (view.ranks[rank].launcher != launchers || view.ranks[rank].lines == 0) continue;
    ++found.all;
    if (complained[rank]) continue;
    found.ranks.push_back(rank);
    ++silent_on[view.ranks[rank].node];
  }
  found.silent = found.ranks.size();
  if (speakers != Speakers::ranks) return found;
  // If more ranks are silent than were ended, at least one fell silent before.
  const Told told = told_by_launchers(view);
  std::vector<std::uint32_t> unexplained = found.ranks;
  std::erase_if(unexplained, [&](std::uint32_t rank) {
    const std::uint32_t node = view.ranks[rank].node;
    return told.died[node] == 0 && silent_on[node] <= told.ended[node];
  });
  if (!unexplained.empty() || told.any_died) found.ranks = std::move(unexplained);
  return found;
}

}  // namespace l4::detect::hang
