#include "aggregator/live/network_desk.h"

#include <algorithm>

#include "aggregator/scoring/publish.h"

namespace l4::live {
namespace {

using detect::network::Finding;
using detect::network::Network;

}  // namespace

NetworkDesk::NetworkDesk(std::vector<scoring::Shard*> shards,
                         scoring::IncidentBook::Options incidents, scoring::Services services)
    : shards_(std::move(shards)), incidents_(incidents), services_(std::move(services)) {
  const MutexLock lock(answers_->mutex);
  answers_->rounds.resize(shards_.size());
  answers_->known.resize(shards_.size());
}

void NetworkDesk::close_left() {
  store::IncidentQuery query;
  query.open_only = true;
  query.count = 1'000;
  const auto rows = services_.store.database().incidents(query);
  if (!rows) return services_.warn("incidents of flows: " + rows.error().text());
  const TimeMs now = services_.now().wall;
  for (store::Incident row : *rows) {
    if (row.source != store::kOfNetwork) continue;
    alert::Alert alert = scoring::standing_alert(row).value_or(alert::Alert{});
    alert.kind = alert::Kind::resolved;
    alert.at = now;
    alert.incident = row.id;
    alert.job = row.job;
    alert.summary = "the aggregator was started anew, and learns jobs of the network anew";
    row.resolved = row.updated = now;
    static_cast<void>(services_.alert(alert, &row));
  }
}

/// Keeps what has just ended open, as it was told last.
void NetworkDesk::hold_open(Network& network, Known& known, TimeMs now) {
  constexpr Millis kLeast{30'000};
  constexpr int kSteps = 3;
  const Millis calm = std::max(kLeast, kSteps * network.period);
  std::set<detect::network::Trouble> open;
  for (Finding& finding : network.findings)
    if (detect::network::is_failure(finding)) {
      open.insert(finding.trouble);
      known.open[finding.trouble] = now;
    }
  for (auto at = network.findings.rbegin(); at != network.findings.rend(); ++at) {
    const auto last = known.open.find(at->trouble);
    if (at->open || last == known.open.end() || now - last->second >= calm) continue;
    if (!open.insert(at->trouble).second) continue;
    at->open = true;
  }
}

void NetworkDesk::ask_shards(const scoring::NetworkList& networks) {
  for (std::size_t i = 0; i < shards_.size(); ++i)
    static_cast<void>(
        shards_[i]->call([networks, i, round = round_, answers = answers_](scoring::Shard& shard) {
          std::set<std::string> known;
          shard.see(networks, known);
          const MutexLock lock(answers->mutex);
          answers->rounds[i] = round;
          answers->known[i] = std::move(known);
        }));
}

void NetworkDesk::look(std::vector<Network> networks) {
  const TimeMs now = services_.now().wall;
  ++round_;
  std::set<std::string> have_logs;
  std::uint64_t answered = round_;
  {
    const MutexLock lock(answers_->mutex);
    for (const std::uint64_t round : answers_->rounds) answered = std::min(answered, round);
    for (const auto& known : answers_->known) have_logs.insert(known.begin(), known.end());
  }
  scoring::NetworkList shared;
  std::set<std::string> seen;
  for (Network& network : networks) {
    seen.insert(network.job);
    Known& known = jobs_[network.job];
    if (known.first_round == 0) known.first_round = round_;
    hold_open(network, known, now);
    shared.push_back(std::make_shared<const Network>(std::move(network)));
    const Network& told = *shared.back();
    if (have_logs.contains(told.job)) {
      if (known.job)
        scoring::publish(services_, known.job->close("the job's logs are read now", now));
      known.job.reset();
      continue;
    }
    if (answered < known.first_round) continue;  // nobody knows yet whether it has logs
    if (!known.job) known.job = std::make_unique<scoring::NetworkJob>(told.job, incidents_);
    scoring::publish(services_, known.job->seen(told, now));
  }
  std::erase_if(jobs_, [&](const auto& entry) {
    if (seen.contains(entry.first)) return false;
    if (entry.second.job)
      scoring::publish(services_,
                       entry.second.job->close("the network has not shown the job for long", now));
    return true;
  });
  ask_shards(shared);
}

}  // namespace l4::live
