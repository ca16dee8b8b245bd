#include "aggregator/diagnose/network_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "aggregator/cards/nic_table.h"
#include "aggregator/diagnose/findings/states.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/diagnose.h"

namespace l4::diagnose {
namespace {

bool is_telling(const detect::nics::Rise& rise) {
  const std::string_view name = rise.counter;
  const bool link =
      name == "link_downed" || name == "carrier_changes" || name == "link_error_recovery";
  return rise.fault && (link || rise.rise >= numbers::diagnose().nic_errors_least);
}

using detect::network::Bearing;
using detect::network::Finding;
using detect::network::Network;

Notable note(std::string kind, std::string text, std::uint64_t count) {
  Notable notable;
  notable.kind = std::move(kind);
  notable.text = std::move(text);
  notable.count = count;
  return notable;
}

void add_quiet(const Findings& findings, std::vector<Notable>& to) {
  const Bearing& seen = findings.network;
  const Network& network = *seen.network;
  const auto& progress = findings.clock.last_progress;
  const std::string since =
      progress ? fmt::format("The logs show no progress since {}", to_rfc3339(*progress))
               : std::string("The logs show no progress");
  if (seen.goes_on && findings.silence.overdue)
    to.push_back(note("network_steps",
                      fmt::format("{}, and steps go on in the network until {}: not a hang; look "
                                  "at buffered output, the logging interval or the logs' mount.",
                                  since, to_rfc3339(network.step.value_or(*network.last))),
                      network.steps));
  if (seen.stores)
    to.push_back(note("network_storage",
                      fmt::format("{}, and the job writes to storage until {}: the deadline waits "
                                  "for it.",
                                  since, to_rfc3339(*network.stored)),
                      1));
}

void add_agents(const Network& network, const Live& told, std::vector<Notable>& to) {
  for (const LostAgent& lost : told.lost) {
    if (lost.back || !still_sends(network, lost.agent, lost.heard)) continue;
    Notable notable = note("network_agent",
                           fmt::format("The agent of {} is gone since {}, and the cards of the "
                                       "node still send: the agent or the way to it failed, not "
                                       "the node.",
                                       lost.agent, to_rfc3339(lost.heard)),
                           1);
    notable.node = lost.agent;
    to.push_back(std::move(notable));
  }
}

void add_passed(const Bearing& seen, std::vector<Notable>& to) {
  constexpr std::size_t kToldMax = 8;
  const std::size_t from = seen.passed.size() - std::min(kToldMax, seen.passed.size());
  for (std::size_t i = from; i < seen.passed.size(); ++i) {
    const Finding& finding = *seen.passed[i];
    Notable notable =
        note("network_slow",
             fmt::format("The network shows {}{} from {} on: {}.",
                         detect::network::text(finding.trouble), detect::network::where(finding),
                         to_rfc3339(finding.since), detect::network::extent(finding)),
             finding.steps);
    notable.phase = std::string(detect::network::name(finding.trouble));
    to.push_back(std::move(notable));
  }
}

}  // namespace

bool stands_by_network(const Findings& findings) {
  const detect::ending::Endings& endings = findings.endings;
  return findings.network.stop != nullptr && !endings.well && !endings.complete && !endings.kept &&
         !endings.ended();
}

bool is_torn(const Findings& findings) {
  const ProcessEvidence& processes = findings.processes;
  return findings.network.torn && stands_by_network(findings) &&
         (!processes.known || processes.first_left || processes.all_left);
}

std::optional<bool> stood_by_network(const Findings& findings) {
  const Network* const network = findings.network.network;
  const auto& failed = findings.failures.first_failure;
  if (is_torn(findings)) return false;
  if (network == nullptr || !failed || !network->last || network->now < *failed ||
      network->period == Millis{0} || findings.failures.events.empty())
    return std::nullopt;
  return *failed - *network->last > network->deadline;
}

std::optional<Live> without_senders(std::optional<Live> live, const Network* network) {
  if (live && network != nullptr)
    std::erase_if(live->lost, [&](const LostAgent& lost) {
      return !lost.back && detect::network::still_sends(*network, lost.agent, lost.heard);
    });
  return live;
}

std::vector<std::uint32_t> without_senders(const Findings& findings,
                                           std::vector<std::uint32_t> lost) {
  const Bearing& seen = findings.network;
  if (seen.stop == nullptr) return lost;
  std::erase_if(lost, [&](std::uint32_t node) {
    const auto server = std::ranges::find_if(seen.network->servers, [&](const auto& one) {
      return detect::network::is_server(one, findings.view.nodes[node].name);
    });
    return server != seen.network->servers.end() && server->last &&
           *server->last > seen.stop->since + numbers::diagnose().sends_later;
  });
  return lost;
}

void add_network(const Findings& findings, const std::optional<Live>& told,
                 std::vector<Notable>& to) {
  if (findings.network.network == nullptr) return;
  add_quiet(findings, to);
  if (told) add_agents(*findings.network.network, *told, to);
  add_passed(findings.network, to);
}

std::string network_text(const Bearing& seen, State state) {
  const Finding* const finding = seen.stop != nullptr ? seen.stop : seen.slow;
  if (finding == nullptr || !has_suspects(state)) return {};
  using enum detect::network::Trouble;
  const bool contradicted = (finding->trouble == hang && state == State::crashed) ||
                            (finding->trouble == crash && state == State::hung);
  if (contradicted)  // others know better how it stopped, and so where
    return fmt::format(" The network shows no transfer since {}.", to_rfc3339(finding->since));
  const std::string steps = seen.stop != nullptr ? std::string(", and no transfer since then")
                                                 : ": " + detect::network::extent(*finding);
  return fmt::format(" The network shows {}{} from {} on{}.",
                     detect::network::text(finding->trouble), detect::network::where(*finding),
                     to_rfc3339(finding->since), steps);
}

void add_nic_errors(const job::JobView& view, const detect::nics::Nics& nics,
                    std::vector<Notable>& notable) {
  for (const detect::nics::Nic& nic : nics.nics) {
    const detect::nics::Rise* worst = nullptr;
    for (const detect::nics::Rise& rise : nic.rises)
      if (is_telling(rise) && (worst == nullptr || rise.rise > worst->rise)) worst = &rise;
    if (worst == nullptr) continue;
    Notable one;
    one.kind = "nic_errors";
    one.node = view.nodes[nic.node].name;
    if (nic.ranks.size() == 1) one.rank = nic.ranks.front();
    one.value = Printed{static_cast<double>(worst->rise)};
    one.count = worst->rise;
    one.text = fmt::format(
        "Network card {} on {} counts errors (hardware, network): {} rose by {} "
        "since {}.",
        nic.history->facts.name, *one.node, worst->counter, worst->rise, to_rfc3339(worst->first));
    notable.push_back(std::move(one));
  }
}

}  // namespace l4::diagnose
