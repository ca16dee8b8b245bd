#include "aggregator/detect/figures/figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::detect::figures {
namespace {

using wire::FigureKind;
using wire::FigureWindow;
using Windows = std::span<const FigureWindow>;

/// Values of some windows that follow each other.
struct Range {
  std::uint64_t count = 0;
  double least = 0, most = 0;                ///< of all values
  double median_least = 0, median_most = 0;  ///< of the windows' medians
  double median = 0;                         ///< weighted by values
};

Range range_of(Windows windows) {
  Range range;
  for (const FigureWindow& window : windows) {
    if (window.finite() == 0) continue;
    const bool first = range.count == 0;
    range.least = first ? window.least : std::min(range.least, window.least);
    range.most = first ? window.most : std::max(range.most, window.most);
    range.median_least = first ? window.median : std::min(range.median_least, window.median);
    range.median_most = first ? window.median : std::max(range.median_most, window.median);
    range.count += window.finite();
    range.median +=
        (window.median - range.median) * window.finite() / static_cast<double>(range.count);
  }
  return range;
}

/// The newest half of the values, in whole windows: what is usual by then.
Windows newest_half(Windows windows) {
  std::uint64_t all = 0, kept = 0;
  for (const FigureWindow& window : windows) all += window.finite();
  std::size_t from = windows.size();
  while (from > 0 && 2 * kept < all) kept += windows[--from].finite();
  return windows.subspan(from);
}

/// The run of values at the end that are not finite, or equal to the last one.
struct EndRun {
  std::uint64_t count = 0;
  std::optional<Iteration> from;
  std::size_t windows_before = 0;  ///< windows that end before it
};

EndRun end_run(Windows windows) {
  EndRun run;
  FigureWindow all = windows.back();
  std::size_t at = windows.size() - 1;
  while (at > 0 && all.run == all.count) all = joined(windows[--at], all);
  run.count = all.run;
  run.from = all.run_from;
  run.windows_before = at;
  return run;
}

Change made(Windows windows, ChangeKind kind) {
  Change change;
  change.figure = windows.back().kind;
  change.name = windows.back().name;
  change.kind = kind;
  change.value = windows.back().final;
  return change;
}

std::optional<Change> find_not_finite(Windows windows, const Options& options) {
  if (std::isfinite(windows.back().final)) return std::nullopt;
  const FigureKind kind = windows.back().kind;
  if (kind == FigureKind::loss_scale || kind == FigureKind::rate) return std::nullopt;
  const EndRun run = end_run(windows);
  const Range before = range_of(windows);
  const std::uint32_t least = kind == FigureKind::gradient_norm ? options.gradient_run_min
                              : before.count > 0                ? options.loss_run_min
                                                                : options.loss_first_run_min;
  if (run.count < least) return std::nullopt;
  Change change = made(windows, ChangeKind::not_finite);
  change.from = run.from;
  change.count = run.count;
  if (before.count > 0)
    change.usual = range_of(newest_half(windows.first(run.windows_before + 1))).median;
  return change;
}

/// True if all values of `after` lie far above what was usual before.
bool has_left(const Range& usual, const Range& after, double ratio_min, const Options& options) {
  if (usual.count < options.values_min || after.count < options.values_min) return false;
  if (usual.median == 0) return false;  // a number that was not used yet
  const double width = usual.most - usual.least;
  return after.median_least > usual.most + 2 * width && after.least > usual.median &&
         after.median_least > ratio_min * std::abs(usual.most);
}

bool has_fallen(const Range& usual, const Range& after, const Options& options) {
  return usual.count >= options.values_min && after.count >= options.values_min &&
         after.median_most < options.rate_ratio_max * usual.median_least;
}

/// The first change after which all windows lie in another range.
std::optional<Change> find_shift(Windows windows, const Options& options) {
  const FigureKind kind = windows.back().kind;
  const bool rate = kind == FigureKind::rate;
  if (!rate && kind != FigureKind::loss && kind != FigureKind::gradient_norm) return std::nullopt;
  const double ratio =
      kind == FigureKind::loss ? options.loss_ratio_min : options.gradient_ratio_min;
  for (std::size_t at = 1; at < windows.size(); ++at) {
    const Range usual = range_of(newest_half(windows.first(at)));
    const Range after = range_of(windows.subspan(at));
    if (rate ? !has_fallen(usual, after, options) : !has_left(usual, after, ratio, options))
      continue;
    Change change = made(windows, rate ? ChangeKind::falls : ChangeKind::out_of_range);
    if (rate) {
      if (change.value > usual.median) return std::nullopt;  // it has risen again
      change.value = after.median;
    }
    change.from = windows[at].first;
    change.usual = usual.median;
    change.count = after.count;
    return change;
  }
  return std::nullopt;
}

std::optional<Change> find_floor(Windows windows, const Options& options) {
  const FigureWindow& last = windows.back();
  if (last.kind != FigureKind::loss_scale || !(last.final <= options.floor_max))
    return std::nullopt;
  const Range all = range_of(windows);
  const EndRun run = end_run(windows);
  const bool stays = run.count >= options.floor_run_min;
  const bool has_no_floor = last.final < options.floor_none;
  if ((!stays && !has_no_floor) || all.most < options.floor_drop_min * last.final)
    return std::nullopt;
  Change change = made(windows, ChangeKind::at_floor);
  change.from = run.from;
  change.usual = all.most;
  change.count = run.count;
  return change;
}

/// One change for all streams that show it, from the one where it began.
void add(std::vector<Change>& changes, Change change, std::uint32_t stream) {
  const auto same = std::ranges::find_if(changes, [&](const Change& known) {
    return known.figure == change.figure && known.name == change.name && known.kind == change.kind;
  });
  change.streams = {stream};
  if (same == changes.end()) {
    changes.push_back(std::move(change));
    return;
  }
  same->streams.push_back(stream);
  const bool earlier = change.from && (!same->from || *change.from < *same->from);
  if (!earlier) return;
  change.streams = std::move(same->streams);
  *same = std::move(change);
}

using Numbers = std::map<std::pair<FigureKind, std::string>, std::vector<FigureWindow>>;

/// Of one kind alone, if `only` is given.
Numbers numbers_of(const job::StreamView& stream, std::optional<FigureKind> only = std::nullopt) {
  Numbers numbers;
  for (const FigureWindow& window : stream.state->figures.windows())
    if (!only || window.kind == *only) numbers[{window.kind, window.name}].push_back(window);
  return numbers;
}

}  // namespace

std::optional<Change> change_of(const std::vector<FigureWindow>& windows, const Options& options) {
  if (windows.empty()) return std::nullopt;
  if (auto change = find_not_finite(windows, options)) return change;
  if (auto change = find_floor(windows, options)) return change;
  return find_shift(windows, options);
}

std::vector<Change> find_changes(const job::JobView& view, const Options& options) {
  std::vector<Change> changes;
  std::map<std::pair<FigureKind, std::string>, std::uint32_t> printing;
  for (std::uint32_t i = 0; i < view.streams.size(); ++i) {
    for (const auto& [number, windows] : numbers_of(view.streams[i])) {
      ++printing[number];
      if (auto change = change_of(windows, options)) add(changes, std::move(*change), i);
    }
  }
  for (Change& change : changes) change.streams_printing = printing[{change.figure, change.name}];
  std::ranges::sort(changes, {},
                    [](const Change& change) { return std::pair(change.figure, change.name); });
  return changes;
}

std::optional<Fall> find_rate_fall(const job::JobView& view, const Options& options) {
  struct Rate {
    std::size_t printing = 0;
    std::vector<Fall> falls;
  };
  std::map<std::string, Rate> rates;
  for (const job::StreamView& stream : view.streams)
    for (const auto& [number, windows] : numbers_of(stream, FigureKind::rate)) {
      Rate& rate = rates[number.second];
      ++rate.printing;
      const auto change = find_shift(windows, options);
      if (change && change->from && change->value > 0)
        rate.falls.push_back({*change->from, *change->usual / change->value});
    }
  std::erase_if(
      rates, [](const auto& rate) { return 2 * rate.second.falls.size() <= rate.second.printing; });
  if (rates.empty()) return std::nullopt;
  std::vector<Fall>& falls = std::ranges::max_element(rates, {}, [](const auto& rate) {
                               return rate.second.printing;
                             })->second.falls;
  const auto middle = falls.begin() + static_cast<std::ptrdiff_t>(falls.size() / 2);
  std::ranges::nth_element(falls, middle, {}, &Fall::ratio);
  Fall fall = *middle;
  std::ranges::nth_element(falls, middle, {}, &Fall::from);
  fall.from = middle->from;
  return fall;
}

}  // namespace l4::detect::figures
