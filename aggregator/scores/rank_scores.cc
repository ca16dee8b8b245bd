// Scores of ranks and of their phases: how many times as long as usual each iteration took; and the
// durations that one cell is made of.
//
// The usual duration is the median of all iterations of the stream that are kept. Stamps of whole
// seconds say nothing of less, so `exact` is added on both sides.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
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
  bool timed = false;  // else timers tell the durations
  for (const auto& [iteration, record] : stream.iterations) {
    if (!record.end) continue;
    timed = true;
    if (record.end->time_since_epoch() % std::chrono::seconds{1} != Millis{0}) return kFine;
  }
  return timed ? kSecond : kFine;
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

Result<Columns> iterations_in(const job::JobView& view, const job::JobClock& clock,
                              const Query& query) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max() - 1;
  const auto from = iteration_in(query.from, "from", 0);
  const auto to = iteration_in(query.to, "to", kLast);
  if (!from) return std::unexpected(from.error());
  if (!to) return std::unexpected(to.error());
  return columns_of(view, clock.counted, *from, std::min(*to, kLast), query.width);
}

/// Durations of one rank, by the name of the phase; of whole iterations the name is empty.
struct Rhythm {
  std::string phase;
  std::vector<Timed> durations;
  double exact = 0;
};

std::vector<Rhythm> rhythms_of(const job::JobView& view, const job::RankView& rank, What what,
                               bool counted) {
  std::vector<Rhythm> rhythms;
  for (const std::uint32_t at : rank.streams) {
    const job::StreamView& stream = view.streams[at];
    if (stream.state->iterations.empty() || stream.state->counted != counted) continue;
    if (what == What::ranks) {
      rhythms.push_back({"", durations_of(stream), exactness_ms(*stream.state)});
      continue;
    }
    constexpr double kTimerExact = 1;  // ms
    for (auto& [name, durations] : phases_of(stream))
      rhythms.push_back({name, std::move(durations), kTimerExact});
  }
  return rhythms;
}

/// The duration in the column that is longest beside what is usual; nothing where none is known.
std::optional<LapTerm> longest_in(const Rhythm& rhythm, const Columns& columns,
                                  std::size_t column) {
  if (rhythm.durations.size() < kUsualMin) return std::nullopt;
  const auto is_here = [&](const Timed& one) {
    return columns.has(one.iteration) && columns.at(one.iteration) == column;
  };
  std::vector<double> all;
  const Timed* longest = nullptr;
  for (const Timed& one : rhythm.durations) {
    all.push_back(one.ms);
    if (is_here(one) && (longest == nullptr || one.ms > longest->ms)) longest = &one;
  }
  if (longest == nullptr) return std::nullopt;
  LapTerm term;
  term.phase = rhythm.phase;
  term.iteration = longest->iteration;
  term.ms = longest->ms;
  term.usual_ms = job::lower_median(all);
  term.exact_ms = rhythm.exact;
  term.score = std::max(0.0, std::log((term.ms + rhythm.exact) / (term.usual_ms + rhythm.exact)));
  return term;
}

/// By phase and iteration: what other nodes' ranks took.
using Beside = std::map<std::pair<std::string, std::int64_t>, std::vector<double>>;

void look_beside(const Rhythm& rhythm, Beside& beside) {
  for (const Timed& one : rhythm.durations)
    if (const auto found = beside.find({rhythm.phase, one.iteration}); found != beside.end())
      found->second.push_back(one.ms);
}

class RankRows {
 public:
  RankRows(const job::JobView& view, const Columns& columns, const Query& query)
      : view_(view), columns_(columns), what_(query.what), worst_(query.rows) {}

  void add(const job::RankView& rank, bool counted) {
    std::map<std::string, std::vector<Score>> found;
    for (const Rhythm& rhythm : rhythms_of(view_, rank, what_, counted))
      score_into(found, rhythm.phase, rhythm.durations, rhythm.exact);
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
    order.reserve(courses_.size());
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
  const auto asked = iterations_in(view, clock, query);
  if (!asked) return std::unexpected(asked.error());
  const Columns& columns = *asked;
  for (std::size_t column = 0; column < columns.count(); ++column)
    matrix.begins.push_back(columns.begin_of(column));
  matrix.end = columns.end;
  if (matrix.begins.empty()) return {};
  RankRows rows(view, columns, query);
  for (const job::RankView& rank : view.ranks) rows.add(rank, clock.counted);
  rows.finish(matrix);
  return {};
}

Result<bool> explain_ranks(const job::JobView& view, const job::JobClock& clock,
                           const TermsQuery& query, std::size_t node, Terms& terms) {
  const auto asked = iterations_in(view, clock, query.matrix);
  if (!asked) return std::unexpected(asked.error());
  const auto place = iteration_in(query.at, "at", -1);
  if (!place) return std::unexpected(place.error());
  const Columns& columns = *asked;
  if (columns.count() == 0 || !columns.has(*place)) return false;
  const std::size_t column = columns.at(*place);
  terms.begin = columns.begin_of(column);
  terms.end = std::min(columns.begin_of(column + 1), columns.end);
  const What what = terms.what;
  for (const std::uint32_t at : view.nodes[node].ranks)
    for (const Rhythm& rhythm : rhythms_of(view, view.ranks[at], what, clock.counted))
      if (query.phase.empty() || rhythm.phase == query.phase)
        if (auto term = longest_in(rhythm, columns, column)) {
          term->rank = view.ranks[at].rank;
          terms.laps.push_back(std::move(*term));
        }
  std::ranges::stable_sort(terms.laps, std::greater<>{}, &LapTerm::score);
  if (!terms.laps.empty()) terms.score = terms.laps.front().score;
  terms.left_out = terms.laps.size() - std::min(terms.laps.size(), kLapTermsMax);
  terms.laps.resize(terms.laps.size() - terms.left_out);
  Beside beside;
  for (const LapTerm& term : terms.laps) beside.try_emplace({term.phase, term.iteration});
  for (const job::RankView& rank : view.ranks)
    if (rank.node != node)
      for (const Rhythm& rhythm : rhythms_of(view, rank, what, clock.counted))
        look_beside(rhythm, beside);
  for (LapTerm& term : terms.laps) {
    auto& others = beside.at({term.phase, term.iteration});
    term.peers = others.size();
    if (!others.empty()) term.peers_ms = job::lower_median(others);
  }
  return true;
}

}  // namespace l4::scores
