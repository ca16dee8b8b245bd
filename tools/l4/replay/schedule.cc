#include "tools/l4/replay/schedule.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "common/base/earliest.h"
#include "tools/l4/replay/main_times.h"

namespace l4::replay {
namespace {

constexpr Millis kSilenceMax = std::chrono::days{1};
/// Lines of several writers mix within seconds; more is a clock that was set back.
constexpr Millis kMixedMax = std::chrono::minutes{1};
/// Lines without a time that were written with the line before them, and last words of a program.
constexpr std::size_t kBlockLines = 200;

struct Span {
  TimeMs from, to;
};

std::string count_of(std::size_t n, std::string_view thing) {
  return std::to_string(n) + " " + std::string(thing) + (n == 1 ? "" : "s");
}

/// The times of one log, made to never fall back.
class LogClock {
 public:
  TimeMs next(TimeMs printed) {
    if (due_ && printed < *due_ - kMixedMax) {
      // Set back before, or now: time goes on from the line before.
      if (printed + ahead_ < *due_ - kMixedMax || printed + ahead_ > *due_ + kSilenceMax)
        ahead_ = *due_ - printed;
      printed += ahead_;
    }
    due_ = due_ ? std::max(*due_, printed) : printed;
    return *due_;
  }

 private:
  std::optional<TimeMs> due_;
  Millis ahead_{0};
};

/// Gives the dues of the lines of one log after another, by their printed times.
class PrintedTimes {
 public:
  PrintedTimes(const Recording& recording, const std::vector<LineTimes>& times)
      : recording_(recording), times_(times), main_(times) {}

  std::vector<Due> run();
  void note(std::vector<std::string>& notes) const;

 private:
  void add(std::uint32_t log, std::uint64_t size, TimeMs at) {
    std::vector<Due>& dues = dues_[log];
    if (!dues.empty() && dues.back().at == at)
      dues.back().size = size;
    else
      dues.push_back({at, log, size});
  }
  void timed(std::uint32_t log);
  void tail(std::uint32_t log);
  void spread(std::uint32_t log, std::size_t first, Span span);
  std::size_t last_words(std::uint32_t log, std::size_t first) const;
  Span beside(std::uint32_t log) const;

  const Recording& recording_;
  const std::vector<LineTimes>& times_;
  MainTimes main_;
  std::vector<std::optional<Span>> spans_;  // of each log
  std::vector<std::vector<Due>> dues_;      // of each log
  std::size_t strange_lines_ = 0;
  std::vector<std::uint32_t> spread_;
};

std::vector<Due> PrintedTimes::run() {
  const auto logs = static_cast<std::uint32_t>(times_.size());
  spans_.resize(logs);
  dues_.resize(logs);
  for (std::uint32_t log = 0; log < logs; ++log) timed(log);
  for (std::uint32_t log = 0; log < logs; ++log)
    if (!spans_[log] && !times_[log].lines.empty()) spread_.push_back(log);
  for (std::uint32_t log = 0; log < logs; ++log)
    if (spans_[log]) tail(log);
  for (const std::uint32_t log : spread_) spread(log, 0, beside(log));
  std::vector<Due> all;
  const auto append = [&](std::uint32_t log) {
    all.insert(all.end(), dues_[log].begin(), dues_[log].end());
  };
  for (std::uint32_t log = 0; log < logs; ++log)
    if (spans_[log]) append(log);
  for (const std::uint32_t log : spread_) append(log);  // last among dues of one time
  return all;
}

/// The lines up to the last one with a time.
void PrintedTimes::timed(std::uint32_t log) {
  LogClock clock;
  std::optional<TimeMs> at;
  std::uint64_t untimed = 0;  // end of the lines without a time behind the last one with a time
  for (const Line& line : times_[log].lines) {
    const bool timed = line.time && main_.holds(*line.time);
    strange_lines_ += line.time.has_value() && !timed;
    if (!timed) {
      untimed = line.end;
      continue;
    }
    if (at && untimed > 0) add(log, untimed, *at);
    untimed = 0;
    at = clock.next(*line.time);
    if (!spans_[log]) spans_[log] = Span{*at, *at};
    spans_[log]->to = *at;
    add(log, line.end, *at);
  }
}

/// The lines behind the last one with a time: they go on until the logs beside end, if these do so
/// later. Few lines were written with the line before them, except for last words.
void PrintedTimes::tail(std::uint32_t log) {
  const auto& lines = times_[log].lines;
  std::size_t first = lines.size();
  while (first > 0 && !(lines[first - 1].time && main_.holds(*lines[first - 1].time))) --first;
  if (first == lines.size()) return;
  Span span{spans_[log]->to, std::max(spans_[log]->to, beside(log).to)};
  if (span.to - span.from <= kMixedMax) span.to = span.from;
  spread(log, first, span);
}

/// The first of the lines with which a program ended: those from an error on, near the end.
std::size_t PrintedTimes::last_words(std::uint32_t log, std::size_t first) const {
  const auto& lines = times_[log].lines;
  std::size_t at = std::max(first, lines.size() - std::min(lines.size(), kBlockLines));
  while (at < lines.size() && !lines[at].alarm) ++at;
  return at;
}

/// The time of the logs that share most with this one: the folder, the node and attempt, the
/// attempt, or nothing.
Span PrintedTimes::beside(std::uint32_t log) const {
  const auto near = [&](std::uint32_t other) {
    const Log& a = recording_.logs[log];
    const Log& b = recording_.logs[other];
    return std::tuple{a.attempt == b.attempt, a.node == b.node,
                      a.node == b.node && a.file.parent_path() == b.file.parent_path()};
  };
  std::optional<Span> span;
  std::tuple<bool, bool, bool> best{};
  for (std::uint32_t other = 0; other < spans_.size(); ++other) {
    if (!spans_[other]) continue;
    const auto how = near(other);
    if (span && how < best) continue;
    if (!span || how > best) span = spans_[other];
    best = how;
    span->from = std::min(span->from, spans_[other]->from);
    span->to = std::max(span->to, spans_[other]->to);
  }
  if (span) return *span;
  // No line of the job has a time: as fast as one can read.
  constexpr Millis kForLine{100}, kLeast{5'000}, kMost{60'000};
  std::size_t lines = 0;
  for (const LineTimes& each : times_) lines = std::max(lines, each.lines.size());
  return {TimeMs{}, TimeMs{std::clamp<Millis>(kForLine * lines, kLeast, kMost)}};
}

/// Spreads the lines from `first` on over the span; the last words come at its end.
void PrintedTimes::spread(std::uint32_t log, std::size_t first, Span span) {
  const auto& lines = times_[log].lines;
  const std::size_t words = last_words(log, first);
  const bool block = first > 0 && words - first <= kBlockLines;
  const auto steps = static_cast<double>(std::max<std::size_t>(lines.size() - first, 2) - 1);
  for (std::size_t i = first; i < lines.size(); ++i) {
    const double share = i >= words ? 1 : block ? 0 : static_cast<double>(i - first) / steps;
    const auto after = static_cast<double>((span.to - span.from).count()) * share;
    add(log, lines[i].end, span.from + Millis{static_cast<std::int64_t>(after)});
  }
}

void PrintedTimes::note(std::vector<std::string>& notes) const {
  if (strange_lines_ > 0)
    notes.push_back(count_of(strange_lines_, "line") +
                    " with times more than a day from those of the job: written with the lines "
                    "before them");
  if (spread_.empty()) return;
  const std::string& first = recording_.logs[spread_.front()].name;
  const std::string names =
      spread_.size() == 1 ? first : first + " and " + std::to_string(spread_.size() - 1) + " more";
  notes.push_back(names + (spread_.size() == 1 ? " prints" : " print") +
                  " no times that the decoder reads: " +
                  (main_.empty() ? "the lines are spread over some seconds"
                                 : "the lines are spread over the time of the logs beside"));
}

/// The latest size of a log, for logs that no row names or whose rows end early.
struct Reached {
  std::uint64_t size = 0;
  std::optional<TimeMs> at;
};

}  // namespace

Schedule::Schedule(std::vector<Due> dues) : dues_(std::move(dues)) {
  std::ranges::stable_sort(dues_, {}, &Due::at);
  for (std::size_t i = 1; i < dues_.size(); ++i) {
    const Millis silence = dues_[i].at - dues_[i - 1].at;
    if (silence > kSilenceMax) silences_.emplace_back(dues_[i].at, silence);
  }
}

Millis Schedule::since_begin(TimeMs at) const {
  Millis since = at - dues_.front().at;
  for (const auto& [end, length] : silences_)
    if (end <= at) since -= length - kSilenceLeft;
  return since;
}

Result<Schedule> by_arrivals(const Recording& recording, const Arrivals& arrivals,
                             const std::filesystem::path& path) {
  const auto fault = [&](const Arrival& row, const std::string& reason) {
    return std::unexpected(Error{path.string() + ":" + std::to_string(row.row), reason});
  };
  std::map<std::string, std::uint32_t, std::less<>> by_name;
  for (std::uint32_t log = 0; log < recording.logs.size(); ++log)
    by_name.emplace(recording.logs[log].name, log);
  std::vector<Reached> reached(recording.logs.size());
  std::vector<Due> dues;
  for (const Arrival& row : arrivals.rows) {
    const auto found = by_name.find(row.path);
    if (found == by_name.end())
      return fault(row, row.path + " is no log of the recording; paths are relative to its folder");
    const std::size_t size = recording.logs[found->second].text.size();
    if (row.size > size)
      return fault(row, row.path + " has only " + std::to_string(size) + " bytes, not " +
                            std::to_string(row.size));
    dues.push_back({row.at, found->second, row.size});
    reached[found->second] = {row.size, row.at};
  }
  for (const auto& [name, log] : by_name) {
    const std::size_t size = recording.logs[log].text.size();
    if (reached[log].size == size) continue;
    if (!reached[log].at)
      return std::unexpected(Error{
          path.string(), "has no row for " + name + ", a log of the recording that is not empty"});
    dues.push_back({*reached[log].at, log, size});
  }
  return Schedule{std::move(dues)};
}

Schedule by_printed_times(const Recording& recording, const std::vector<LineTimes>& times,
                          std::vector<std::string>& notes) {
  PrintedTimes printed{recording, times};
  Schedule schedule{printed.run()};
  printed.note(notes);
  return schedule;
}

Millis clock_difference(const Schedule& schedule, const std::vector<LineTimes>& times) {
  std::vector<std::optional<Millis>> least(times.size());
  std::vector<std::size_t> next(times.size(), 0);
  for (const Due& due : schedule.dues()) {
    const auto& lines = times[due.log].lines;
    for (std::size_t& line = next[due.log]; line < lines.size() && lines[line].end <= due.size;
         ++line)
      if (lines[line].time)
        keep_earliest(least[due.log], std::optional{due.at - *lines[line].time});
  }
  std::vector<Millis> differences;
  for (const auto& each : least)
    if (each) differences.push_back(*each);
  if (differences.empty()) return Millis{0};
  std::ranges::sort(differences);
  const Millis middle = differences[differences.size() / 2];
  return std::chrono::abs(middle) < kMixedMax ? Millis{0}
                                              : std::chrono::round<std::chrono::seconds>(middle);
}

}  // namespace l4::replay
