#include "aggregator/detect/network/bearing.h"

#include <algorithm>
#include <map>

#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/network.h"

namespace l4::detect::network {
namespace {

bool is_after(const std::optional<TimeMs>& seen, const std::optional<TimeMs>& than, Millis by) {
  return seen && (!than || *seen > *than + by);
}

bool goes_on(const Network& network, const job::JobClock& clock, TimeMs as_of) {
  if (network.period > Millis{0})
    return is_after(network.step, clock.last_progress, 2 * network.period) && network.last &&
           as_of - *network.last <= network.deadline;
  return is_after(network.last, clock.last_progress, numbers::network().without_steps) &&
         as_of - *network.last <= network.deadline;
}

bool stores(const Network& network, const job::JobClock& clock, TimeMs as_of) {
  return is_after(network.stored, clock.last_progress, Millis{0}) &&
         as_of - *network.stored <= numbers::network().stores_within;
}

/// Logs that go on behind the last transfer: the records are missing, not the job.
bool logs_go_on(const Network& network, const job::JobClock& clock, const Finding& stop) {
  return is_after(clock.last_progress, stop.since,
                  std::max(network.deadline, numbers::network().slack));
}

std::optional<std::uint32_t> node_of(const job::JobView& view, const Network& network,
                                     const std::string& server) {
  const auto known = std::ranges::find(network.servers, server, &Server::name);
  for (std::uint32_t node = 0; node < view.nodes.size(); ++node) {
    const std::string& name = view.nodes[node].name;
    if (known != network.servers.end() ? is_server(*known, name)
                                       : is_server({server, {}, {}}, name))
      return node;
  }
  return std::nullopt;
}

double lines_an_iteration(const job::JobView& view, const job::JobClock& clock) {
  std::uint64_t ranks = 0;
  for (const job::RankView& rank : view.ranks) ranks += rank.launcher || rank.lines == 0 ? 0 : 1;
  if (ranks == 0 || clock.ticks.empty()) return 0;
  return static_cast<double>(view.lines) / static_cast<double>(ranks) /
         static_cast<double>(clock.ticks.size());
}

/// Places of nodes by when their ranks stopped, from 0; those that stopped within `slack` share
/// one.
std::map<std::uint32_t, double> places_by_logs(const job::JobView& view,
                                               const hang::Silence& silence) {
  std::map<std::uint32_t, TimeMs> since;
  for (const hang::SilentRank& rank : silence.order) {
    if (!rank.since) continue;
    const auto [at, fresh] = since.try_emplace(view.ranks[rank.rank].node, *rank.since);
    if (!fresh) at->second = std::min(at->second, *rank.since);
  }
  std::map<std::uint32_t, double> places;
  for (const auto& [node, time] : since)
    places[node] = static_cast<double>(std::ranges::count_if(
        since, [&](const auto& other) { return other.second + numbers::network().slack < time; }));
  return places;
}

/// The mean of both orders, as a strength: 1 for the first in both, 0 for the last.
std::vector<Accusation> first_to_stop(const job::JobView& view, const job::JobClock& clock,
                                      const hang::Silence& silence, const Network& network,
                                      const Finding& stop) {
  const bool flows_lead = lines_an_iteration(view, clock) < numbers::network().lines_enough;
  const auto by_logs = places_by_logs(view, silence);
  const double last = std::max<double>(1, static_cast<double>(view.nodes.size()) - 1);
  std::vector<Accusation> accused;
  double place = 0;
  for (const std::string& server : stop.servers) {
    const double own = place++;
    const auto node = node_of(view, network, server);
    if (!node) continue;
    const auto logs = by_logs.find(*node);
    const bool lead = flows_lead || logs == by_logs.end();
    const double mean = lead ? own : (own + logs->second) / 2;
    accused.push_back({*node, stop.trouble, std::max(0.0, 1 - mean / last), server});
  }
  return accused;
}

/// Each of the places may be the one.
std::vector<Accusation> slow_places(const job::JobView& view, const Network& network,
                                    const Finding& slow) {
  std::vector<Accusation> accused;
  for (std::size_t i = 0; i < slow.servers.size(); ++i) {
    const auto node = node_of(view, network, slow.servers[i]);
    if (!node) continue;
    const bool is_new = std::ranges::find(accused, *node, &Accusation::node) == accused.end();
    if (is_new)
      accused.push_back(
          {*node, slow.trouble, 1, i < slow.places.size() ? slow.places[i] : slow.servers[i]});
  }
  for (Accusation& one : accused) one.strength = 1 / static_cast<double>(accused.size());
  return accused;
}

}  // namespace

Bearing bear(const job::JobView& view, const job::JobClock& clock, const hang::Silence& silence,
             const Network& network, const Asked& asked) {
  Bearing bearing;
  bearing.network = &network;
  for (const Finding& finding : network.findings) {
    if (is_stop(finding.trouble)) {
      const bool counts = is_failure(finding) || (finding.open && asked.unfinished);
      if (counts && !logs_go_on(network, clock, finding)) bearing.stop = &finding;
    } else if (is_failure(finding)) {
      bearing.slow = &finding;
    } else {
      bearing.passed.push_back(&finding);
    }
  }
  if (bearing.stop != nullptr) {
    bearing.torn = bearing.stop->trouble == Trouble::crash;
    bearing.waits = !bearing.torn;
    bearing.accused = first_to_stop(view, clock, silence, network, *bearing.stop);
    bearing.slow = nullptr;
  } else if (bearing.slow != nullptr) {
    bearing.accused = slow_places(view, network, *bearing.slow);
  }
  std::ranges::stable_sort(bearing.accused, std::greater{}, &Accusation::strength);
  bearing.goes_on = bearing.stop == nullptr && goes_on(network, clock, asked.as_of);
  bearing.stores = !bearing.goes_on && stores(network, clock, asked.as_of);
  return bearing;
}

bool still_sends(const Network& network, std::string_view node, TimeMs heard) {
  const auto server = std::ranges::find_if(network.servers,
                                           [&](const Server& one) { return is_server(one, node); });
  if (server == network.servers.end() || !server->last) return false;
  return *server->last > heard + numbers::network().sends_later &&
         network.now - *server->last <= network.deadline;
}

}  // namespace l4::detect::network
