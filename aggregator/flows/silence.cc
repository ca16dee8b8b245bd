#include "aggregator/flows/silence.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace l4::flows {
namespace {

constexpr TimeNs kAtOnce = kMillisecond * 5 / 2;

/// What a job left behind in the middle of a step.
struct Torn {
  bool in_step = false;
  std::set<std::uint32_t> missing;  ///< cards without an edge in the last event of their group
  std::size_t cut_at_end = 0;       ///< transfers that ended, too short, with the last row
  TimeNs first_cut = 0;
};

Torn torn_of(const JobTracker& job) {
  constexpr double kShort = 0.95;
  Torn torn;
  const JobPlan& plan = job.plan();
  // Nothing tells the phase of steps of pipeline traffic alone, so its end is never torn by counts.
  const bool has_phase = std::ranges::any_of(
      plan.groups, [](const Group& g) { return g.rule && g.label == Label::data; });
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const auto now = job.now(g);
    torn.in_step = torn.in_step || (has_phase && now.counted > 0);
    for (const Event& event : now.open) {
      if (event.parts.size() >= plan.groups[g].edges.size()) continue;
      torn.in_step = true;
      std::set<std::uint32_t> present;
      for (const KeptPart& part : event.parts) {
        present.insert(plan.groups[g].edges[part.edge].src);
        present.insert(plan.groups[g].edges[part.edge].dst);
        torn.cut_at_end += event.end_of(part) >= job.last_row() - kAtOnce;
      }
      for (const std::uint32_t card : plan.groups[g].cards)
        if (!present.contains(card)) torn.missing.insert(card);
    }
  }
  for (std::size_t p = 0; p < plan.pipes.size(); ++p) {
    const PipeStep& pipe = job.open_step().pipes[p];
    torn.in_step = torn.in_step || (has_phase && pipe.sends > 0);
    if (pipe.last_end < job.last_row() - kAtOnce || pipe.sends < 2) continue;
    const double usual = pipe.bytes / pipe.sends;
    torn.cut_at_end += static_cast<double>(job.last_bytes(p)) < kShort * usual;
  }
  return torn;
}

std::set<std::uint32_t> servers_of(const JobTracker& job, const StreamTable& table) {
  std::set<std::uint32_t> servers;
  for (const std::uint32_t card : job.plan().cards) servers.insert(table.cards()[card].server);
  return servers;
}

/// Who may have been the first to fall silent.
struct Suspects {
  std::vector<std::uint32_t> servers;  ///< the likeliest first, if they are ordered
  bool is_ordered = false;             ///< by when they sent last
};

/// Servers of the job by when they sent last; those that are behind in this step, or missing.
Suspects first_silent(const JobTracker& job, const StreamTable& table, const Torn& torn) {
  const JobPlan& plan = job.plan();
  std::set<std::uint32_t> missing;
  for (const std::uint32_t card : torn.missing) missing.insert(table.cards()[card].server);
  std::map<std::uint32_t, TimeNs> last;
  for (std::size_t p = 0; p < plan.pipes.size(); ++p) {
    const std::uint32_t server = table.cards()[plan.pipes[p].src].server;
    if (!missing.empty() && !missing.contains(server)) continue;
    const PipeStep& pipe = job.open_step().pipes[p];
    if (pipe.sends >= job.usual_sends(p)) continue;  // it has sent all of this step
    TimeNs& own = last[server];
    own = std::max(own, job.last_send(p));
  }
  Suspects found;
  found.is_ordered = !last.empty();
  if (last.empty()) {
    found.servers.assign(missing.begin(), missing.end());
  } else {
    for (const auto& [server, time] : last) found.servers.push_back(server);
    std::ranges::stable_sort(found.servers, {}, [&](std::uint32_t server) { return last[server]; });
  }
  if (found.servers.empty() && torn.in_step)  // two servers leave no trace of who did not come
    if (const auto all = servers_of(job, table); all.size() == 2)
      found.servers.assign(all.begin(), all.end());
  std::erase(found.servers, kNone);
  return found;
}

/// How many may be named: two, but of less than eight servers only the one who sent no more first,
/// where that is known.
std::size_t named_of(const Suspects& suspects, std::size_t servers) {
  constexpr std::size_t kNamed = 2, kQuarter = 4;
  const std::size_t count = std::min(kNamed, suspects.servers.size());
  return suspects.is_ordered && count * kQuarter > servers ? std::min<std::size_t>(1, count)
                                                           : count;
}

}  // namespace

TimeNs deadline_of(const JobTracker& job) {
  constexpr TimeNs kWithoutClock = 30 * kSecond;
  const TimeNs steps = job.period() > 0 ? 3 * job.period() : kWithoutClock;
  return std::max(steps, 2 * job.longest_gap());
}

std::optional<FlowFinding> find_silence(const JobTracker& job, const StreamTable& table, TimeNs now,
                                        TimeNs others) {
  constexpr std::size_t kCutMin = 2;
  const TimeNs deadline = deadline_of(job);
  if (job.last_row() == 0 || now - job.last_row() < deadline || job.writes_storage(now))
    return std::nullopt;
  const Torn torn = torn_of(job);
  if (!torn.in_step && others - job.last_row() < deadline) return std::nullopt;
  FlowFinding finding;
  finding.at = job.last_row() + deadline;
  finding.since = job.last_row();
  finding.in_step = torn.in_step;
  const Suspects suspects = first_silent(job, table, torn);
  if (torn.cut_at_end >= kCutMin && torn.missing.empty())
    finding.cause = Cause::crash;
  else if (torn.in_step && !suspects.servers.empty())
    finding.cause = Cause::hang;
  const std::size_t named = named_of(suspects, servers_of(job, table).size());
  for (std::size_t i = 0; i < named; ++i)
    finding.place.push_back(table.topology().servers()[suspects.servers[i]]);
  finding.ambiguous = suspects.servers.size() > 1;
  return finding;
}

}  // namespace l4::flows
