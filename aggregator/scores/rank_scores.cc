// Scores of ranks and of their phases: how many times as long as usual each iteration took.
//
// The usual duration is the median of all iterations of the stream that are kept. Stamps of whole
// seconds say nothing of less, so `exact` is added on both sides.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "aggregator/job/clock.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/laps.h"
#include "aggregator/job/median.h"
#include "aggregator/job/view.h"
#include "aggregator/scores/kinds.h"
#include "aggregator/scores/rows.h"

namespace l4::scores {
namespace {

constexpr std::size_t kUsualMin = 5;  // durations that tell what is usual

struct Timed {
  std::int64_t iteration = 0;
  double ms = 0;
};

double exactness_ms(const job::Stream& stream) {
  constexpr double kFine = 1, kSecond = 1000;
  for (const auto& [iteration, record] : stream.iterations)
    if (record.end && record.end->time_since_epoch() % std::chrono::seconds{1} != Millis{0})
      return kFine;
  return kSecond;
}

/// Durations by the times of completed iterations, or by timers where no times are printed.
std::vector<Timed> durations_of(const job::StreamView& view) {
  const job::Stream& stream = *view.state;
  std::vector<Timed> durations;
  const job::Iterations::value_type* before = nullptr;
  for (const auto& entry : stream.iterations) {
    const auto& [iteration, record] = entry;
    if (!record.completed) continue;
    if (!record.end) {
      if (const double ms = job::timed_ms(record, view.agent->timers); ms > 0)
        durations.push_back({iteration.value(), ms});
    } else if (before != nullptr && before->second.end && before->first < iteration) {
      const auto ms = static_cast<double>((*record.end - *before->second.end).count());
      const auto steps = static_cast<double>(iteration.value() - before->first.value());
      durations.push_back({iteration.value(), std::max(ms, 0.0) / steps});
    }
    before = &entry;
  }
  return durations;
}

/// By the name of the timer.
std::map<std::string, std::vector<Timed>> phases_of(const job::StreamView& stream) {
  std::map<std::uint16_t, std::vector<Timed>> by_timer;
  for (const auto& [iteration, record] : stream.state->iterations)
    for (const wire::TimerTotal& timer : record.timers)
      by_timer[timer.timer].push_back({iteration.value(), timer.sum_ms});
  std::map<std::string, std::vector<Timed>> phases;
  for (const wire::TimerName& timer : stream.agent->timers)
    if (const auto found = by_timer.find(timer.timer); found != by_timer.end())
      phases[timer.name] = std::move(found->second);
  return phases;
}

void score(const std::vector<Timed>& durations, double exact, const Columns& columns, What what,
           std::vector<Score>& cells) {
  if (durations.size() < kUsualMin) return;
  std::vector<double> all;
  all.reserve(durations.size());
  for (const Timed& one : durations) all.push_back(one.ms);
  const double usual = job::lower_median(all);
  for (const Timed& one : durations)
    if (columns.has(one.iteration))
      fold(score_of(std::log((one.ms + exact) / (usual + exact)), what),
           cells[columns.at(one.iteration)]);
}

Columns columns_of(const job::JobView& view, bool counted, std::int64_t from, std::int64_t to,
                   std::size_t width) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = -1;
  for (const job::StreamView& stream : view.streams) {
    const auto& iterations = stream.state->iterations;
    if (iterations.empty() || stream.state->counted != counted) continue;
    first = std::min(first, iterations.front().first.value());
    last = std::max(last, iterations.back().first.value());
  }
  if (last < 0) return {};
  return columns_over(std::max(first, from), std::min(last, to) + 1, width);
}

/// Durations of all ranks, by column: their sum, their count and the longest of them.
class CourseOf {
 public:
  explicit CourseOf(std::size_t columns) : sums_(columns), counts_(columns), most_(columns) {}

  void add(const std::vector<Timed>& durations, const Columns& columns) {
    for (const Timed& one : durations) {
      if (!columns.has(one.iteration)) continue;
      const std::size_t at = columns.at(one.iteration);
      sums_[at] += one.ms;
      ++counts_[at];
      most_[at] = std::max(most_[at], one.ms);
    }
  }

  Course finish(const std::string& phase) const {
    const auto drawn = [](double ms) { return std::round(ms * 10) / 10; };
    Course course{.phase = phase, .mean_ms = {}, .most_ms = {}};
    course.mean_ms.resize(sums_.size());
    course.most_ms.resize(sums_.size());
    for (std::size_t at = 0; at < sums_.size(); ++at) {
      if (counts_[at] == 0) continue;
      course.mean_ms[at] = drawn(sums_[at] / static_cast<double>(counts_[at]));
      course.most_ms[at] = drawn(most_[at]);
    }
    return course;
  }

  double weight() const { return std::accumulate(sums_.begin(), sums_.end(), 0.0); }

 private:
  std::vector<double> sums_;
  std::vector<std::size_t> counts_;
  std::vector<double> most_;
};

class RankRows {
 public:
  RankRows(const job::JobView& view, const Columns& columns, const Query& query)
      : view_(view), columns_(columns), what_(query.what), worst_(query.rows) {}

  void add(const job::RankView& rank, bool counted) {
    std::map<std::string, std::vector<Score>> found;
    for (const std::uint32_t at : rank.streams) {
      const job::StreamView& stream = view_.streams[at];
      if (stream.state->iterations.empty() || stream.state->counted != counted) continue;
      if (what_ == What::ranks) {
        score_into(found, "", durations_of(stream), exactness_ms(*stream.state));
        continue;
      }
      constexpr double kTimerExact = 1;  // ms
      for (const auto& [name, durations] : phases_of(stream))
        score_into(found, name, durations, kTimerExact);
    }
    for (const auto& [phase, cells] : found)
      worst_.offer(cells, [&](Row& row) {
        row.node = view_.nodes[rank.node].name;
        row.rank = rank.rank;
        row.phase = phase;
      });
  }

  void finish(Matrix& matrix) {
    worst_.finish(matrix);
    std::vector<std::pair<double, const std::string*>> order;
    for (const auto& [phase, course] : courses_) order.emplace_back(-course.weight(), &phase);
    std::ranges::sort(order, [](const auto& a, const auto& b) {
      return std::tie(a.first, *a.second) < std::tie(b.first, *b.second);
    });
    for (const auto& [weight, phase] : order)
      if (weight < 0 && matrix.course.size() < kPhasesMax)
        matrix.course.push_back(courses_.at(*phase).finish(*phase));
  }

 private:
  void score_into(std::map<std::string, std::vector<Score>>& found, const std::string& phase,
                  const std::vector<Timed>& durations, double exact) {
    auto& cells = found[phase];
    cells.resize(columns_.count(), kUnknown);
    score(durations, exact, columns_, what_, cells);
    courses_.try_emplace(phase, columns_.count()).first->second.add(durations, columns_);
  }

  const job::JobView& view_;
  const Columns& columns_;
  What what_;
  WorstRows worst_;
  std::map<std::string, CourseOf> courses_;
};

}  // namespace

Result<void> score_ranks(const job::JobView& view, const job::JobClock& clock, const Query& query,
                         Matrix& matrix) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max() - 1;
  const auto from = iteration_in(query.from, "from", 0);
  const auto to = iteration_in(query.to, "to", kLast);
  if (!from) return std::unexpected(from.error());
  if (!to) return std::unexpected(to.error());
  const Columns columns = columns_of(view, clock.counted, *from, std::min(*to, kLast), query.width);
  for (std::size_t column = 0; column < columns.count(); ++column)
    matrix.begins.push_back(columns.begin_of(column));
  matrix.end = columns.end;
  if (matrix.begins.empty()) return {};
  RankRows rows(view, columns, query);
  for (const job::RankView& rank : view.ranks) rows.add(rank, clock.counted);
  rows.finish(matrix);
  return {};
}

}  // namespace l4::scores
