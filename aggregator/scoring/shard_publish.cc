// News of a shard's jobs: incidents and their alerts, snapshots, changes.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "aggregator/detect/network/servers.h"
#include "aggregator/numbers/network.h"
#include "aggregator/scoring/publish.h"
#include "aggregator/scoring/shard.h"
#include "common/base/check.h"

namespace l4::scoring {

/// Incidents of this run of the job: those opened since the job is known, and those still open when
/// it was dropped shortly before (by a kill before its state was durable, or by the bound on jobs).
std::vector<store::Incident> Shard::incidents_of(const LiveJob& job) {
  store::IncidentQuery query;
  query.job = job.id();
  auto rows = services_.store.database().incidents(query);
  if (!rows) services_.warn(fmt::format("job {}: {}", job.id(), rows.error().text()));
  auto known = rows.value_or(std::vector<store::Incident>{});
  std::erase_if(known, [&](const store::Incident& row) {
    const bool open = !row.resolved && job.opened() - row.updated < options_.closes_after;
    if (row.source == store::kOfNetwork) return true;  // of another job with the same name
    return row.opened < job.opened() && !open;
  });
  return known;
}

void Shard::publish(const LiveJob& job, const IncidentBook::Changes& changes) {
  scoring::publish(services_, changes);
  for (const alert::Alert& alert : changes.alerts) {
    counts_.notices_opened += alert.kind == alert::Kind::noticed ? 1 : 0;
    counts_.incidents_opened += alert.kind == alert::Kind::opened ? 1 : 0;
    if (alert.kind != alert::Kind::opened) continue;
    if (const auto put = snapshot(job, "incident", alert.incident); !put)
      services_.warn(fmt::format("incident {}: its snapshot is not stored: {}", alert.incident,
                                 put.error().text()));
  }
}

/// Offers the run to the pool if the job has ended well.
void Shard::offer(Held& held) {
  const LiveJob& job = *held.job;
  if (!job.ended_well() || job.last() == held.offered) return;
  held.offered = job.last();
  const diagnose::JobSummary& told = job.report()->job;
  if (!services_.pool.wants(job.id(), told.attempt, told.lines)) return;
  auto run = job.healthy_run(false);
  if (!run) return;
  if (const auto added = services_.pool.add(std::move(*run), "its logs"); !added)
    services_.warn(fmt::format("job {} is not in the pool: {}", job.id(), added.error().text()));
}

std::optional<Result<std::string>> Shard::add_to_pool(const std::string& id,
                                                      const std::string& by) {
  const LiveJob* job = find(id);
  if (job == nullptr) return {};
  auto run = job->healthy_run(true);
  return services_.pool.add(std::move(*run), by);
}

Result<store::Snapshot> Shard::snapshot(const LiveJob& job, std::string why, std::string who) {
  L4_CHECK(job.report(), "job {} has no report to store for {}", job.id(), why);
  store::Snapshot made{job.id(),
                       job.looked_at(),
                       std::move(why),
                       std::move(who),
                       std::string(l4::name(job.report()->verdict.state)),
                       job.report_json()};
  if (const auto put = services_.store.database().save(made); !put)
    return std::unexpected(put.error());
  made.report.clear();
  return made;
}

void Shard::see(const NetworkList& networks, std::set<std::string>& known) {
  const TimeMs now = services_.now().wall;
  for (auto& [id, held] : jobs_) {
    if (held.job->ended()) continue;
    std::shared_ptr<const detect::network::Network> best;
    if (networks.empty()) {
      held.job->see(std::move(best), now);
      continue;
    }
    const detect::network::LogNodes nodes(held.job->state());
    double most = numbers::network().node_share;
    for (const auto& network : networks) {
      const double share = detect::network::share_of_servers(*network, nodes);
      if (share <= most) continue;
      most = share;
      best = network;
    }
    if (best) known.insert(best->job);
    held.job->see(std::move(best), now);
  }
}

void Shard::publish_change(Held& held) {
  if (!services_.changed) return;
  const auto news = [](const JobRow& row) {
    return std::tie(row.attempt, row.state, row.suspect, row.ended, row.incident, row.notices);
  };
  JobRow now = row(*held.job);
  if (held.told && news(*held.told) == news(now)) return;
  services_.changed(now, false);
  held.told = std::move(now);
}

}  // namespace l4::scoring
