#include "tools/fleet/script.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "common/config/config_table.h"
#include "common/config/config_values.h"

namespace l4::fleet {
namespace {

constexpr std::array<std::string_view, 7> kKinds{"crash", "stop",  "hang",   "slow",
                                                 "lost",  "blind", "restart"};

JobScript read_job(ConfigTable from) {
  JobScript job;
  job.name = from.text("name");
  job.nodes = static_cast<std::size_t>(from.integer_within("nodes", 1, 1, 20'000));
  job.ranks = static_cast<std::size_t>(from.integer_within("ranks", 8, 1, 64));
  return job;
}

Fault read_fault(ConfigTable from, const Script& script) {
  Fault fault;
  const std::vector<std::string_view> kinds(kKinds.begin(), kKinds.end());
  fault.kind = static_cast<Kind>(from.choice("kind", kinds));
  fault.at = from.integer_within("at_s", 0, 0, kDaySeconds);
  fault.lasts = from.integer_within("lasts_s", fault.kind == Kind::blind ? 30 : 0, 0, kDaySeconds);
  if (fault.kind == Kind::blind || fault.kind == Kind::restart) return fault;
  fault.job = from.text("job");
  const auto job = std::ranges::find(script.jobs, fault.job, &JobScript::name);
  if (job == script.jobs.end()) {
    from.refuse("job", "no such [[job]]");
    return fault;
  }
  fault.node = static_cast<std::size_t>(
      from.integer_within("node", 0, 0, static_cast<std::int64_t>(job->nodes) - 1));
  fault.rank = static_cast<std::size_t>(
      from.integer_within("rank", 0, 0, static_cast<std::int64_t>(job->ranks) - 1));
  fault.factor = from.integer_within("factor", 2, 2, 9);
  return fault;
}

Limits read_limits(ConfigTable from) {
  Limits limits;
  limits.crash_s = from.integer_within("crash_s", limits.crash_s, 1, kDaySeconds);
  limits.stop_s = from.integer_within("stop_s", limits.stop_s, 1, kDaySeconds);
  limits.hang_s = from.integer_within("hang_s", limits.hang_s, 1, kDaySeconds);
  limits.slow_s = from.integer_within("slow_s", limits.slow_s, 1, kDaySeconds);
  limits.lost_s = from.integer_within("lost_s", limits.lost_s, 1, kDaySeconds);
  limits.back_s = from.integer_within("back_s", limits.back_s, 1, kDaySeconds);
  limits.cpu_percent = from.integer_within("cpu_percent", limits.cpu_percent, 1, 100'000);
  limits.growth_percent = from.integer_within("growth_percent", limits.growth_percent, 0, 100'000);
  return limits;
}

LinkTrouble read_link(ConfigTable from) {
  LinkTrouble link;
  link.loss = static_cast<double>(from.integer_within("loss_per_mille", 0, 0, 900)) / 1000;
  link.delay_most = Millis{from.integer_within("delay_ms", 0, 0, 60'000)};
  link.breaks_every = Millis{from.integer_within("breaks_every_s", 0, 0, kDaySeconds) * 1000};
  return link;
}

Result<Script> read(ConfigTable root) {
  Script script;
  script.seed = static_cast<std::uint64_t>(root.integer_within("seed", 1, 0, INT64_MAX));
  script.seconds = root.integer_within("seconds", 60, 10, kDaySeconds);
  for (const ConfigTable& job : root.tables("job")) script.jobs.push_back(read_job(job));
  if (script.jobs.empty()) root.refuse("job", "at least one [[job]] must be given");
  if (script.nodes() > 20'000) root.refuse("job", "more than 20,000 nodes in all");
  for (const ConfigTable& fault : root.tables("fault"))
    script.faults.push_back(read_fault(fault, script));
  if (script.faults.size() > 1'000) root.refuse("fault", "more than 1,000");
  for (const ConfigTable& link : root.tables("link")) script.link = read_link(link);
  for (const ConfigTable& limits : root.tables("limits")) script.limits = read_limits(limits);
  if (const auto error = root.finish()) return std::unexpected(*error);
  std::ranges::stable_sort(script.faults, {}, &Fault::at);
  return script;
}

}  // namespace

std::string_view name(Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

std::int64_t Limits::of(Kind kind) const {
  switch (kind) {
    case Kind::crash:
      return crash_s;
    case Kind::stop:
      return stop_s;
    case Kind::hang:
      return hang_s;
    case Kind::slow:
      return slow_s;
    case Kind::lost:
      return lost_s;
    case Kind::blind:
    case Kind::restart:
      break;
  }
  return back_s;
}

std::size_t Script::nodes() const {
  return std::transform_reduce(jobs.begin(), jobs.end(), std::size_t{0}, std::plus<>{},
                               [](const JobScript& job) { return job.nodes; });
}

Result<Script> read_script(std::string_view text, const std::string& name) {
  auto root = ConfigTable::parse(text, name);
  if (!root) return std::unexpected(root.error());
  return read(std::move(*root));
}

Result<Script> load_script(const std::filesystem::path& file) {
  auto root = ConfigTable::load(file);
  if (!root) return std::unexpected(root.error());
  return read(std::move(*root));
}

}  // namespace l4::fleet
