#include "aggregator/detect/delay/phases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "aggregator/job/job_state.h"
#include "aggregator/job/median.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/delay.h"
#include "common/wire/segment.h"

namespace l4::detect::delay {
namespace {

constexpr double kMadToSigma = 1.4826;

/// What one rank says of one phase of one iteration, and what it said before.
struct Reading {
  std::uint32_t rank = 0;
  wire::TimerKind kind = wire::TimerKind::own;
  double ms = 0, usual_ms = 0;
  bool learned = false;  ///< no rule pack names the timer
  double excess() const { return ms - usual_ms; }
};

/// By name of the phase.
using Readings = std::map<std::string_view, std::vector<Reading>>;

/// What a timer says of an iteration. A learned one may belong to a line that comes by the clock,
/// and so more often in a long iteration: its longest value alone counts.
double ms_of(const wire::TimerTotal& total, bool learned) {
  return learned ? total.max_ms : total.sum_ms;
}

double ms_of(const job::IterationRecord& record, std::uint16_t timer, bool learned) {
  for (const wire::TimerTotal& total : record.timers)
    if (total.timer == timer) return ms_of(total, learned);
  return -1;
}

/// Places of up to kPastMax iterations around `at`, those before it first.
std::vector<std::size_t> neighbours(std::size_t size, std::size_t at) {
  std::vector<std::size_t> places;
  for (std::size_t i = at; i > 0 && places.size() < kPastMax; --i) places.push_back(i - 1);
  for (std::size_t i = at + 1; i < size && places.size() < kPastMax; ++i) places.push_back(i);
  return places;
}

void read_timers(const job::StreamView& stream, const job::NumberedRows& rows, std::size_t at,
                 Readings& readings) {
  const auto places = neighbours(rows.size(), at);
  for (const wire::TimerTotal& timer : rows.record(at).timers) {
    if (timer.timer >= stream.agent->timers.size()) continue;
    const wire::TimerName& known = stream.agent->timers[timer.timer];
    std::vector<double> past;
    for (const std::size_t place : places)
      if (const double ms = ms_of(rows.record(place), timer.timer, known.learned); ms >= 0)
        past.push_back(ms);
    if (past.size() < numbers::delay().timer_past_min) continue;
    // What few iterations print is no part of an ordinary one.
    if (known.learned && 2 * past.size() < places.size()) continue;
    readings[known.name].push_back({stream.rank, known.kind, ms_of(timer, known.learned),
                                    job::lower_median(past), known.learned});
  }
}

double lead_ms(const job::NumberedRows& rows, std::size_t at) {
  if (at == 0 || !rows.record(at).begin || !rows.record(at - 1).end) return -1;
  return static_cast<double>((*rows.record(at).begin - *rows.record(at - 1).end).count());
}

/// The time until the first line, of streams that print further lines in their iterations.
void read_lead(const job::StreamView& stream, const job::NumberedRows& rows, std::size_t at,
               Readings& readings) {
  const double lead = lead_ms(rows, at);
  if (lead < 0) return;
  std::vector<double> past;
  for (const std::size_t place : neighbours(rows.size(), at))
    if (const double ms = lead_ms(rows, place);
        ms >= 0 && rows.record(place).begin != rows.record(place).end)
      past.push_back(ms);
  if (past.size() < numbers::delay().lead_past_min) return;
  readings[""].push_back({stream.rank, wire::TimerKind::mixed, lead, job::lower_median(past)});
}

Readings read_iteration(const job::JobView& view, const job::NumberedStreams& numbered,
                        const std::vector<job::Stamps>& stamps, Iteration iteration) {
  Readings readings;
  for (std::size_t i = 0; i < view.streams.size(); ++i) {
    const auto at = numbered[i].find(iteration);
    if (!at) continue;
    read_timers(view.streams[i], numbered[i], *at, readings);
    if (stamps[i].printed) read_lead(view.streams[i], numbered[i], *at, readings);
  }
  return readings;
}

/// The rank that alone took long in this phase, or nobody if most did; empty if it explains
/// nothing.
std::optional<Holdup> holdup_of(std::string_view phase, const std::vector<Reading>& readings,
                                double excess_ms) {
  const auto is_long = [&](const Reading& reading) {
    return reading.excess() >= numbers::delay().holdup_explains * excess_ms;
  };
  const auto longs = static_cast<std::size_t>(std::ranges::count_if(readings, is_long));
  if (longs == 0) return std::nullopt;
  const Reading& most = *std::ranges::max_element(readings, {}, &Reading::excess);
  if (most.kind == wire::TimerKind::wait) return std::nullopt;
  // A phase of an iteration takes no longer than it.
  if (most.learned && most.excess() > numbers::delay().holdup_beyond * excess_ms +
                                          numbers::delay().holdup_rounding_ms)
    return std::nullopt;
  Holdup holdup{std::string(phase), std::nullopt, most.ms, most.usual_ms, false};
  const bool own = most.kind == wire::TimerKind::own;
  // With two ranks, one waits for the other: only what the phase is tells which one.
  const bool alone = readings.size() == 2 ? longs == 1 && own : job::is_few(longs, readings.size());
  if (alone && readings.size() > 1) holdup.rank = most.rank;
  holdup.own = holdup.rank.has_value() || own;
  if (phase.empty() && !holdup.rank) return std::nullopt;
  return holdup;
}

/// Values of one phase: a row for each rank, a column for each iteration.
struct Grid {
  wire::TimerKind kind = wire::TimerKind::own;
  bool learned = false;              ///< no rule pack names the phase
  std::vector<std::uint32_t> ranks;  ///< by row
  std::vector<float> cells;          ///< NaN: not printed
};

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Iterations with timers, at most `most` of them, spread evenly.
std::vector<Iteration> columns_of(const job::NumberedStreams& numbered, std::size_t most) {
  std::vector<Iteration> all;
  std::size_t looked = 0;
  for (const job::NumberedRows& rows : numbered) {
    std::vector<Iteration> own;
    for (std::size_t place = 0; place < rows.size(); ++place)
      if (!rows.record(place).timers.empty()) own.push_back(rows.number(place));
    if (own.empty()) continue;
    if (own.size() > all.size()) all = std::move(own);
    if (++looked == 64) break;  // ranks that print timers do so alike
  }
  if (all.size() <= most) return all;
  std::vector<Iteration> spread;
  spread.reserve(most);
  for (std::size_t i = 0; i < most; ++i) spread.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return spread;
}

using Grids = std::map<std::string_view, Grid>;

void fill_row(const job::StreamView& stream, const job::NumberedRows& all,
              const std::vector<Iteration>& columns, Grids& grids) {
  struct Row {
    Grid* grid = nullptr;
    std::size_t first = 0;
  };
  std::map<std::uint16_t, Row> rows;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const auto at = all.find(columns[column]);
    if (!at) continue;
    for (const wire::TimerTotal& timer : all.record(*at).timers) {
      const auto [row, created] = rows.try_emplace(timer.timer);
      if (created && timer.timer < stream.agent->timers.size() &&
          stream.agent->timers[timer.timer].kind != wire::TimerKind::wait) {
        Grid& grid = grids[stream.agent->timers[timer.timer].name];
        row->second = {&grid, grid.cells.size()};
        grid.kind = stream.agent->timers[timer.timer].kind;
        grid.learned = stream.agent->timers[timer.timer].learned;
        grid.ranks.push_back(stream.rank);
        grid.cells.resize(grid.cells.size() + columns.size(), kNone);
      }
      if (row->second.grid != nullptr)
        row->second.grid->cells[row->second.first + column] = static_cast<float>(timer.sum_ms);
    }
  }
}

/// Median of each column over at most 256 rows; NaN where nobody printed the phase.
std::vector<float> typical_of(const Grid& grid, std::size_t columns) {
  constexpr std::size_t kRowsMax = 256;
  const std::size_t rows = grid.ranks.size();
  const std::size_t step = std::max<std::size_t>(1, rows / kRowsMax);
  std::vector<float> typical(columns, kNone);
  std::vector<float> values;
  for (std::size_t column = 0; column < columns; ++column) {
    values.clear();
    for (std::size_t row = 0; row < rows; row += step)
      if (const float ms = grid.cells[row * columns + column]; !std::isnan(ms))
        values.push_back(ms);
    if (!values.empty()) typical[column] = job::lower_median(values);
  }
  return typical;
}

struct Shift {
  std::size_t from = 0;  ///< index of the first slow value
  double before = 0, after = 0;
};

double part_median(const std::vector<float>& values, std::size_t from, std::size_t to) {
  std::vector<float> part(values.begin() + static_cast<std::ptrdiff_t>(from),
                          values.begin() + static_cast<std::ptrdiff_t>(to));
  return part.empty() ? 0 : job::lower_median(part);
}

/// Where values rise for good: the suffix with the largest sum above the middle of old and new.
std::optional<Shift> shift_of(const std::vector<float>& values, const PhaseOptions& options,
                              double growth_min) {
  if (values.size() < options.before_min + options.after_min) return std::nullopt;
  std::vector<float> sorted = values;
  const auto quarter = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 4);
  std::ranges::nth_element(sorted, quarter);
  const double base = *quarter;
  const double newest = part_median(values, values.size() - options.after_min, values.size());
  if (newest < base * options.ratio_min || newest < base + growth_min) return std::nullopt;
  const double middle = (base + newest) / 2;
  const double clip = newest - base;
  Shift shift{values.size(), 0, 0};
  double sum = 0, best = 0;
  for (std::size_t i = values.size(); i > 0; --i) {
    sum += std::clamp(values[i - 1] - middle, -clip, clip);
    if (sum <= best) continue;
    best = sum;
    shift.from = i - 1;
  }
  if (shift.from < options.before_min || values.size() - shift.from < options.after_min)
    return std::nullopt;
  shift.before = part_median(values, 0, shift.from);
  shift.after = part_median(values, shift.from, values.size());
  std::vector<float> off;
  std::size_t high = 0, low = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i < shift.from) {
      off.push_back(static_cast<float>(std::abs(values[i] - shift.before)));
      high += values[i] > middle ? 1 : 0;
    } else {
      low += values[i] < middle ? 1 : 0;
    }
  }
  const double sigma = kMadToSigma * job::lower_median(off);
  const double growth = shift.after - shift.before;
  const bool apart = high * numbers::delay().shift_apart_part <= shift.from &&
                     low * numbers::delay().shift_apart_part <= values.size() - shift.from;
  if (!apart || growth < growth_min || growth < options.sigmas_min * sigma ||
      shift.after < shift.before * options.ratio_min)
    return std::nullopt;
  return shift;
}

/// One rank's values, without what changed for its peers, too.
std::vector<float> own_values(const Grid& grid, std::size_t row, const std::vector<float>& typical,
                              double level, std::vector<std::size_t>& places) {
  const std::size_t columns = typical.size();
  const bool peers = grid.ranks.size() > 2;
  std::vector<float> values;
  places.clear();
  for (std::size_t column = 0; column < columns; ++column) {
    const float ms = grid.cells[row * columns + column];
    if (std::isnan(ms)) continue;
    values.push_back(peers ? ms - static_cast<float>(typical[column] - level) : ms);
    places.push_back(column);
  }
  return values;
}

/// So many slow ranks stand out of those that print the phase. Of two ranks one may wait for the
/// other; one rank alone is compared with nobody, and stands out in a job of its own only.
bool sets_apart(const job::JobView& view, const Grid& grid, std::size_t slow) {
  if (grid.ranks.size() > 2) return job::is_few(slow, grid.ranks.size()) || slow == 1;
  return slow == 1 && grid.kind == wire::TimerKind::own &&
         grid.ranks.size() == std::min<std::size_t>(2, view.training_ranks());
}

}  // namespace

std::optional<Holdup> find_holdup(const job::JobView& view, const job::NumberedStreams& numbered,
                                  const std::vector<job::Stamps>& stamps, Iteration iteration,
                                  double excess_ms) {
  std::optional<Holdup> best;
  const auto better = [&](const Holdup& one) {
    if (!best) return true;
    const auto order = [](const Holdup& h) {
      return std::tuple(h.rank.has_value(), !h.phase.empty(), h.own, h.ms - h.usual_ms);
    };
    return order(one) > order(*best);
  };
  for (const auto& [phase, readings] : read_iteration(view, numbered, stamps, iteration))
    if (auto one = holdup_of(phase, readings, excess_ms); one && better(*one))
      best = std::move(one);
  return best;
}

std::vector<Delay> find_slow_phases(const job::JobView& view, double iteration_ms,
                                    const PhaseOptions& options) {
  const auto names_timers = [](const job::StreamView& stream) {
    return !stream.agent->timers.empty();
  };
  if (std::ranges::none_of(view.streams, names_timers)) return {};
  const job::NumberedStreams numbered = job::number_streams(view);
  std::size_t timed = 0;
  for (const job::NumberedRows& rows : numbered) timed += rows.empty() ? 0 : 1;
  const std::size_t most = std::max<std::size_t>(24, kCellsMax / std::max<std::size_t>(1, timed));
  const auto columns = columns_of(numbered, most);
  std::vector<Delay> found;
  if (columns.size() < options.before_min + options.after_min) return found;
  Grids grids;
  for (std::size_t i = 0; i < numbered.size(); ++i)
    if (!numbered[i].empty()) fill_row(view.streams[i], numbered[i], columns, grids);
  const double growth_min = std::max(options.growth_min_ms, options.share_min * iteration_ms);
  std::vector<std::size_t> places;
  for (const auto& [phase, grid] : grids) {
    const auto typical = typical_of(grid, columns.size());
    std::vector<float> known;
    for (const float ms : typical)
      if (!std::isnan(ms)) known.push_back(ms);
    const double level = known.empty() ? 0 : job::lower_median(known);
    if (grid.learned && iteration_ms > 0 && level > options.longest * iteration_ms) continue;
    std::vector<Delay> of_phase;
    for (std::size_t row = 0; row < grid.ranks.size(); ++row) {
      const auto values = own_values(grid, row, typical, level, places);
      const auto shift = shift_of(values, options, growth_min);
      if (!shift) continue;
      of_phase.push_back({DelayKind::slow_phase, grid.ranks[row], std::string(phase),
                          columns[places[shift->from]], shift->after, shift->before, 0, 0,
                          values.size() - shift->from});
    }
    if (sets_apart(view, grid, of_phase.size()))
      std::ranges::move(of_phase, std::back_inserter(found));
  }
  std::ranges::stable_sort(found, std::greater<>{},
                           [](const Delay& one) { return one.ms - one.usual_ms; });
  return found;
}

}  // namespace l4::detect::delay
