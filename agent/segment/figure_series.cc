#include "agent/segment/figure_series.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace l4::segment {
namespace {

using wire::FigureKind;
using wire::FigureWindow;

/// The median changes by a larger share than the noise of such a number, and by more than medians
/// differ of values that scatter as widely as those of the quieter window.
bool has_moved(const FigureWindow& window, const FigureWindow& told) {
  constexpr double kOfSpread = 0.25;  // 2.8 standard deviations, for 64 values spread evenly
  const double share = window.kind == FigureKind::gradient_norm ? 0.5 : 0.1;
  const double spread = std::min(window.most - window.least, told.most - told.least);
  const double change = std::abs(window.median - told.median);
  return change > share * std::abs(told.median) && change > kOfSpread * spread;
}

/// True if the window says what the one shipped last does not.
bool is_news(const FigureWindow& window, const FigureWindow& told) {
  if (std::isfinite(window.final) != std::isfinite(told.final)) return true;
  if (window.kind == FigureKind::loss_term || window.finite() == 0) return false;
  if (told.finite() == 0) return true;
  if (window.kind == FigureKind::loss_scale) return window.final != told.final;
  return has_moved(window, told);
}

/// Lengths of a run of values that are not finite at which it is worth telling at once.
bool is_milestone(FigureKind kind, std::uint32_t run) {
  const bool loss = kind == FigureKind::loss || kind == FigureKind::loss_term;
  return (run == 1 && loss) || run == 4 || run == 16;
}

}  // namespace

FigureSeries::Series* FigureSeries::series_of(FigureKind kind, std::string_view name) {
  for (Series& series : series_)
    if (series.open.kind == kind && series.open.name == name) return &series;
  if (series_.size() >= kSeriesMax) return nullptr;
  Series& series = series_.emplace_back();
  series.open.source = source_;
  series.open.kind = kind;
  series.open.name = std::string(name);
  return &series;
}

void FigureSeries::note_run(Series& series, std::optional<Iteration> iteration, double value) {
  FigureWindow& open = series.open;
  const bool finite = std::isfinite(value);
  const bool goes_on = open.run > 0 && (finite ? open.final == value : !std::isfinite(open.final));
  if (!goes_on) open.run_from = iteration;
  open.run = goes_on ? open.run + 1 : 1;
  series.bad_run = finite ? 0 : series.bad_run + 1;
  const bool was_told = series.told && !std::isfinite(series.told->final);
  const bool news = finite ? was_told : is_milestone(open.kind, series.bad_run);
  if (!news || series.urgent || urgent_left_ == 0) return;
  series.urgent = true;
  --urgent_left_;
}

void FigureSeries::add(FigureKind kind, std::string_view name, std::optional<Iteration> iteration,
                       double value) {
  Series* series = series_of(kind, name);
  if (series == nullptr) return;
  FigureWindow& open = series->open;
  if (open.count++ == 0) open.first = iteration;
  note_run(*series, iteration, value);
  open.final = value;
  if (std::isfinite(value)) {
    add_finite(*series, iteration, value);
  } else {
    ++open.not_finite;
    series->outside = 0;
  }
  open.last = iteration;
  if (open.count >= kWindow && series->outside == 0) end_window(*series);
}

void FigureSeries::add_finite(Series& series, std::optional<Iteration> iteration, double value) {
  constexpr std::size_t kRangeKnown = 8;
  constexpr double kNarrow = 0.05;  // a range is at least this share of its height
  series.values.push_back(value);
  const bool known = series.values.size() > kRangeKnown + series.outside;
  const Range range = known ? Range{series.low, series.high} : series.before.value_or(Range{});
  const double margin = std::max(range.high - range.low,
                                 kNarrow * std::max(std::abs(range.low), std::abs(range.high)));
  const bool is_outside =
      (known || series.before) && (value > range.high + margin || value < range.low - margin);
  if (!is_outside) {
    const bool first = series.values.size() == 1 + series.outside;
    series.low = first ? value : std::min(series.low, value);
    series.high = first ? value : std::max(series.high, value);
    series.outside = 0;
    return;
  }
  if (series.outside++ == 0) {
    series.outside_from = iteration;
    series.before_outside = series.open.last;
  }
  if (series.outside < kOutside) return;
  if (series.values.size() > kOutside)
    split(series);
  else  // the window began with the new range
    take_range(series);
}

/// The range of a window is that of its values, all of which lie in it.
void FigureSeries::take_range(Series& series) {
  const auto [low, high] = std::ranges::minmax(series.values);
  series.low = low;
  series.high = high;
  series.before = Range{low, high};
  series.outside = 0;
}

/// Ends the window before the values that lie outside of its range; these begin the next one.
void FigureSeries::split(Series& series) {
  const FigureWindow whole = series.open;
  const std::vector<double> outside(series.values.end() - kOutside, series.values.end());
  series.values.resize(series.values.size() - kOutside);
  series.open.count -= kOutside;
  series.open.last = series.before_outside;
  series.open.final = series.values.back();
  series.open.run = 1;
  series.open.run_from = series.before_outside;
  end_window(series);
  series.open.first = series.outside_from;
  series.open.count = kOutside;
  series.open.final = whole.final;
  series.open.run = std::min(whole.run, kOutside);
  series.open.run_from = whole.run_from;
  series.values = outside;
  take_range(series);
}

void FigureSeries::end_window(Series& series) {
  FigureWindow window = series.open;
  if (!series.values.empty()) {
    const auto middle =
        series.values.begin() + static_cast<std::ptrdiff_t>(series.values.size() / 2);
    const auto [least, most] = std::ranges::minmax(series.values);
    window.least = least;
    window.most = most;
    std::ranges::nth_element(series.values, middle);
    window.median = *middle;
  }
  if (!series.values.empty() && series.values.size() > series.outside)
    series.before = Range{series.low, series.high};
  series.open = {};
  series.open.source = source_;
  series.open.kind = window.kind;
  series.open.name = window.name;
  series.values.clear();
  series.outside = 0;
  const FigureWindow next = series.held ? joined(*series.held, window) : window;
  if (series.told && !is_news(window, *series.told)) {
    series.held = next;
    return;
  }
  if (series.held) ship(series, *std::exchange(series.held, std::nullopt));
  ship(series, window);
}

void FigureSeries::ship(Series& series, const FigureWindow& window) {
  series.told = window;
  ready_.push_back(window);
}

void FigureSeries::release(std::vector<FigureWindow>& out, bool all) {
  for (Series& series : series_) {
    if (!all && !std::exchange(series.urgent, false)) continue;
    if (series.open.count > 0) end_window(series);
    if (series.held) ship(series, *std::exchange(series.held, std::nullopt));
  }
  out.insert(out.end(), ready_.begin(), ready_.end());
  ready_.clear();
}

}  // namespace l4::segment
