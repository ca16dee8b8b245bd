#include "aggregator/diagnose/clues/sources.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "aggregator/diagnose/findings/live.h"
#include "aggregator/job/view.h"
#include "common/base/ids.h"

namespace l4::diagnose::clues {
namespace {

/// States of a job, one bit each.
template <class... T>
constexpr std::uint32_t in(T... states) {
  return ((std::uint32_t{1} << static_cast<unsigned>(states)) | ...);
}

constexpr std::uint32_t kAnyState = ~std::uint32_t{0};
constexpr std::uint32_t kFailed = kAnyState & ~in(State::healthy, State::finished);
constexpr std::uint32_t kStopped = kFailed & ~in(State::slow);

constexpr std::array kSources{
    Source{"processes", kFailed, processes},
    Source{"accusations", kFailed, accusations},
    Source{"failures", kFailed, failures},
    Source{"standing", ~kFailed, standing},
    Source{"sequences", kAnyState & ~in(State::slow), sequences},
    Source{"windows", kAnyState, windows},
    Source{"delays", kAnyState, delays},
    Source{"turns", kAnyState, turns},
    Source{"order", kStopped, order},
    Source{"silence", kStopped, silence},
    Source{"habits", in(State::hung), habits},
    Source{"progress", kStopped, progress},
    Source{"lost_nodes", in(State::node_lost), lost_nodes},
    Source{"drags", in(State::slow), drags},
    Source{"network", kFailed, network},
    Source{"forest", kAnyState, forest},
    Source{"nics", kFailed, nics},
};

}  // namespace

std::size_t Scene::nodes() const {
  return findings.view.nodes.size();
}

bool Scene::is_agent_lost() const {
  return findings.live != nullptr && !findings.live->lost.empty();
}

std::span<const Source> sources() {
  return kSources;
}

std::vector<Clue> collect(const Scene& scene) {
  std::vector<Clue> clues;
  for (const Source& source : kSources)
    if ((source.states & in(scene.state)) != 0)
      std::ranges::move(source.clues(scene), std::back_inserter(clues));
  return clues;
}

Facts facts_of(const job::EventView& event) {
  return {{FactKind::event, to_string(event.id)}, {FactKind::text, event.text}};
}

double rarity(std::size_t have, std::size_t all) {
  if (all < 2 || have == 0) return have == 0 ? 0.0 : 1.0;
  return std::log(static_cast<double>(all) / static_cast<double>(have)) /
         std::log(static_cast<double>(all));
}

}  // namespace l4::diagnose::clues
