#include "aggregator/detect/delay/late_starts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "aggregator/job/job_state.h"
#include "aggregator/job/median.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "common/base/earliest.h"

namespace l4::detect::delay {
namespace {

/// How far behind the others a rank was when it first printed some line.
struct Lag {
  TimeMs time;
  double ms = 0;
};

double since(TimeMs time, TimeMs begin) {
  return static_cast<double>((time - begin).count());
}

using Firsts = std::vector<std::pair<std::uint32_t, TimeMs>>;  ///< by rank

/// First times of an event.
void find_firsts(const job::JobView& view, const job::EventView& event, Firsts& firsts) {
  firsts.clear();
  for (const job::Occurrence& occurrence : event.at) {
    const std::uint32_t rank = view.streams[occurrence.stream].rank;
    if (!occurrence.exact || !occurrence.time || view.ranks[rank].launcher) continue;
    firsts.emplace_back(rank, *occurrence.time);
  }
  if (!std::ranges::is_sorted(firsts)) std::ranges::sort(firsts);
  const auto repeated =
      std::ranges::unique(firsts, {}, [](const auto& first) { return first.first; });
  firsts.erase(repeated.begin(), repeated.end());
}

struct Middle {
  double median = 0;
  double scatter = 0;  ///< between the quartiles
};

/// Of at least one value; reorders them.
Middle middle_of(std::vector<double>& values) {
  const auto from = values.begin();
  const auto place = [&](std::size_t i) { return from + static_cast<std::ptrdiff_t>(i); };
  const auto lower = place(values.size() / 4), upper = place(values.size() * 3 / 4);
  const auto median = place((values.size() - 1) / 2);
  std::ranges::nth_element(values, upper);
  std::ranges::nth_element(from, lower, upper);
  if (median > lower) std::ranges::nth_element(lower + 1, median, upper);
  return {*median, *upper - *lower};
}

/// The run of its file with which most ranks began: the run of another file may be a later one.
std::uint32_t usual_run(const job::JobView& view) {
  std::map<std::uint32_t, std::size_t> runs;
  for (const job::StreamView& stream : view.streams) ++runs[stream.state->source.run];
  return std::ranges::max_element(runs, {}, [](const auto& run) { return run.second; })->first;
}

constexpr std::size_t kLinesLikely = 32;  ///< of a rank

/// Lags of each rank in the lines that most ranks first print at about the same time.
std::vector<std::vector<Lag>> lags_of(const job::JobView& view, const LateOptions& options) {
  std::vector<std::vector<Lag>> lags(view.ranks.size());
  if (!view.begin || view.streams.empty()) return lags;
  const std::size_t most = std::max(options.ranks_min, view.training_ranks() / 2 + 1);
  std::vector<double> times;
  Firsts firsts;
  for (const job::EventView& event : view.events) {
    if (event.at.size() < most) continue;
    find_firsts(view, event, firsts);
    if (firsts.size() < most) continue;
    times.clear();
    for (const auto& [rank, time] : firsts) times.push_back(since(time, *view.begin));
    const Middle middle = middle_of(times);
    if (middle.scatter > options.scatter_max_ms) continue;
    for (const auto& [rank, time] : firsts) {
      if (lags[rank].empty()) lags[rank].reserve(kLinesLikely);
      lags[rank].push_back({time, since(time, *view.begin) - middle.median});
    }
  }
  const std::uint32_t run = usual_run(view);
  for (const job::StreamView& stream : view.streams)
    if (stream.state->source.run != run) lags[stream.rank].clear();
  for (auto& own : lags) std::ranges::sort(own, {}, &Lag::time);
  return lags;
}

/// How late the rank began, less what it is behind all along: in one of its later lines it is in
/// step with the others.
std::optional<double> lateness(const std::vector<Lag>& lags) {
  if (lags.size() < 2) return std::nullopt;
  double settled = lags.back().ms;
  for (std::size_t i = 1; i < lags.size(); ++i)
    if (std::abs(lags[i].ms) < std::abs(settled)) settled = lags[i].ms;
  return lags.front().ms - settled;
}

/// When most ranks had begun.
std::optional<TimeMs> usual_begin(const job::JobView& view) {
  std::vector<double> begins;
  for (const job::RankView& rank : view.ranks)
    if (rank.begin && !rank.launcher) begins.push_back(since(*rank.begin, *view.begin));
  if (begins.empty()) return std::nullopt;
  return *view.begin + Millis{static_cast<std::int64_t>(job::lower_median(begins))};
}

}  // namespace

std::vector<Delay> find_late_starts(const job::JobView& view, const LateOptions& options) {
  std::vector<Delay> late;
  const auto lags = lags_of(view, options);
  std::vector<double> all;
  std::vector<std::pair<std::uint32_t, double>> of_rank;
  for (std::uint32_t rank = 0; rank < lags.size(); ++rank)
    if (const auto ms = lateness(lags[rank])) {
      all.push_back(*ms);
      of_rank.emplace_back(rank, *ms);
    }
  const auto begin = all.size() < options.ranks_min ? std::nullopt : usual_begin(view);
  if (!begin) return late;
  const double usual = job::lower_median(all);
  for (double& ms : all) ms = std::abs(ms - usual);
  const double limit =
      std::max(options.late_min_ms, options.sigmas_min * 1.4826 * job::lower_median(all));
  for (const auto& [rank, ms] : of_rank) {
    // What a rank says late, having said other things in time, is no late start.
    const auto& first = view.ranks[rank].begin;
    if (ms - usual > limit && first && since(*first, *begin) > limit / 2)
      late.push_back({DelayKind::late_start, rank, {}, {}, ms - usual, 0, 0, 0, 1});
  }
  if (!job::is_few(late.size(), of_rank.size()) && late.size() > 1) late.clear();
  std::ranges::stable_sort(late, std::greater<>{}, &Delay::ms);
  return late;
}

}  // namespace l4::detect::delay
