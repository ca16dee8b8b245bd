#include "tools/fleet/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "aggregator/job/median.h"
#include "tools/fleet/speech.h"

namespace l4::fleet {
namespace {

double median(std::vector<double> values) {
  return job::upper_median(values);
}

double resident_mb(const Sample& sample) {
  return static_cast<double>(sample.usage.resident_bytes) / 1e6;
}

double median_mb(const Outcome& outcome, double from, double to) {
  std::vector<double> values;
  for (const Sample& sample : outcome.samples) {
    const double share =
        static_cast<double>(sample.at.count()) / static_cast<double>(outcome.length.count());
    if (share >= from && share < to && sample.usage.resident_bytes > 0)
      values.push_back(resident_mb(sample));
  }
  return median(std::move(values));
}

double seconds(Millis span) {
  return static_cast<double>(span.count()) / 1000;
}

std::string place_of(const Script& script, const Fault& fault) {
  const auto job = std::ranges::find(script.jobs, fault.job, &JobScript::name);
  return fmt::format("{} at {} s, {}", name(fault.kind), fault.at, node_name(*job, fault.node));
}

std::string row_of(const Script& script, const Ruling& ruling) {
  const std::string what = place_of(script, *ruling.fault);
  if (ruling.wrong.empty())
    return fmt::format("found   {}: {} after {:.1f} s", what, ruling.found->state,
                       seconds(ruling.after));
  return fmt::format("MISSED  {}: {}", what, ruling.wrong);
}

std::string row_of(const Absence& absence) {
  const std::string_view what = absence.at == Millis{0}         ? "start"
                                : absence.kind == Kind::restart ? "restart"
                                                                : "all links cut";
  const std::string back = absence.back ? fmt::format("all agents back after {:.1f} s",
                                                      seconds(*absence.back - absence.until))
                                        : "agents stayed away";
  return fmt::format("{} at {:.0f} s: {}{}", what, seconds(absence.at), back,
                     absence.seen_blind ? ", called blind" : "");
}

void put_figures(std::vector<std::string>& rows, const Outcome& outcome) {
  if (outcome.samples.empty()) return;
  for (const char* figure :
       {"agents_connected", "heartbeats_total", "messages_total", "batches_applied_total",
        "batches_seen_total", "wants_total", "answers_full_total", "diagnoses_total",
        "diagnoses_seconds_total", "diagnosis_longest_seconds", "checkpoints_total",
        "checkpoint_written_bytes_total", "journal_written_bytes_total", "jobs_saved_bytes",
        "jobs_frozen", "job_batches_refused_total", "refused_total{reason=\"no_handshake\"}"}) {
    const auto& figures = outcome.samples.back().figures;
    const auto at = figures.find(std::string("l4_aggregator_") + figure);
    if (at != figures.end()) rows.push_back(fmt::format("  {:40} {:.0f}", figure, at->second));
  }
}

std::vector<std::string> surplus(const std::set<std::string>& of, const std::set<std::string>& to) {
  std::vector<std::string> more;
  std::ranges::set_difference(of, to, std::back_inserter(more));
  return more;
}

std::string some(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 5;
  const std::size_t named = std::min(names.size(), kNamed);
  return fmt::format(
      "{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "),
      named < names.size() ? " ..." : "");
}

}  // namespace

Costs costs_of(const Outcome& outcome) {
  Costs costs;
  if (outcome.samples.size() < 2) return costs;
  const Sample& first = outcome.samples.front();
  const Sample& last = outcome.samples.back();
  costs.user_s = seconds(last.usage.user - first.usage.user);
  costs.system_s = seconds(last.usage.system - first.usage.system);
  const double wall = seconds(last.at - first.at);
  costs.cores = wall > 0 ? (costs.user_s + costs.system_s) / wall : 0;
  costs.third_quarter_mb = median_mb(outcome, 0.5, 0.75);
  costs.last_quarter_mb = median_mb(outcome, 0.75, 1.01);
  for (const Sample& sample : outcome.samples)
    costs.peak_mb = std::max(costs.peak_mb, resident_mb(sample));
  if (costs.third_quarter_mb > 0)
    costs.growth_percent = 100 * (costs.last_quarter_mb / costs.third_quarter_mb - 1);
  return costs;
}

std::vector<std::string> complaints(const Script& script, const Outcome& outcome) {
  std::vector<std::string> wrong;
  if (outcome.judgement.missed() > 0)
    wrong.push_back(fmt::format("{} faults were missed", outcome.judgement.missed()));
  for (const Found& found : outcome.judgement.false_ones)
    wrong.push_back(fmt::format("false incident {}: {}", found.id, found.state));
  for (const Absence& absence : outcome.absences) {
    const Millis most{script.limits.back_s * 1000};
    if (!absence.back || *absence.back - absence.until > most)
      wrong.push_back(
          fmt::format("not all agents were back within {}: {}", to_human(most), row_of(absence)));
    if (absence.kind == Kind::blind && !absence.seen_blind)
      wrong.emplace_back("all links were cut and the aggregator did not call itself blind");
  }
  if (outcome.log_read) {
    const auto more = surplus(outcome.lost_said, outcome.lost_expected);
    const auto less = surplus(outcome.lost_expected, outcome.lost_said);
    if (!more.empty())
      wrong.push_back(
          fmt::format("{} nodes were called lost and were not: {}", more.size(), some(more)));
    if (!less.empty())
      wrong.push_back(
          fmt::format("{} nodes were lost and not called so: {}", less.size(), some(less)));
  }
  if (!outcome.level) wrong.emplace_back("not everything that was said was counted at the end");
  const Costs costs = costs_of(outcome);
  if (100 * costs.cores > static_cast<double>(script.limits.cpu_percent))
    wrong.push_back(fmt::format("the aggregator used {:.2f} cores", costs.cores));
  if (costs.growth_percent > static_cast<double>(script.limits.growth_percent))
    wrong.push_back(fmt::format("its memory grew by {:.1f} % in the second half of the run",
                                costs.growth_percent));
  return wrong;
}

std::vector<std::string> rows_of(const Script& script, const Outcome& outcome) {
  std::vector<std::string> rows;
  rows.reserve(outcome.absences.size() + outcome.judgement.rulings.size());
  for (const Absence& absence : outcome.absences) rows.push_back(row_of(absence));
  for (const Ruling& ruling : outcome.judgement.rulings) rows.push_back(row_of(script, ruling));
  for (const Found& found : outcome.judgement.false_ones)
    rows.push_back(
        fmt::format("FALSE   {}: {}, opened {}", found.id, found.state, to_rfc3339(found.opened)));
  const Costs costs = costs_of(outcome);
  rows.push_back(
      fmt::format("aggregator: {:.3f} cores ({:.1f} s user, {:.1f} s system in {:.0f} s)",
                  costs.cores, costs.user_s, costs.system_s, seconds(outcome.length)));
  rows.push_back(fmt::format(
      "memory: {:.0f} MB in the third quarter, {:.0f} MB in the last ({:+.1f} %), at most {:.0f} "
      "MB",
      costs.third_quarter_mb, costs.last_quarter_mb, costs.growth_percent, costs.peak_mb));
  const ship::SessionStats& all = outcome.sessions;
  rows.push_back(fmt::format(
      "agents: {} connects, {} welcomes, {} batches offered, {} sent, {} sent again, {} resets, "
      "{:.1f} MB",
      all.connects, all.welcomes, all.batches_offered, all.batches_sent, all.batches_sent_again,
      all.resets, static_cast<double>(all.bytes_sent) / 1e6));
  rows.push_back(fmt::format("links: {} messages lost, {} held up, {} connections broken",
                             outcome.links.lost, outcome.links.held_up, outcome.links.broken));
  put_figures(rows, outcome);
  return rows;
}

std::set<std::string> lost_in(const std::filesystem::path& log) {
  constexpr std::string_view kAgent = " agent ", kLost = " is lost: ";
  std::set<std::string> names;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) {
    const auto begin = line.find(kAgent), end = line.find(kLost);
    if (begin == std::string::npos || end == std::string::npos || end < begin) continue;
    names.insert(line.substr(begin + kAgent.size(), end - begin - kAgent.size()));
  }
  return names;
}

}  // namespace l4::fleet
