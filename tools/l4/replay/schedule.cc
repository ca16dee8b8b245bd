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
  bool ends_so = false;  ///< the last line was written at `to`
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
      : recording_(recording),
        times_(times),
        main_(times),
        spans_(times.size()),
        dues_(times.size()) {}

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
  std::vector<std::uint32_t> logs_beside(std::uint32_t log) const;
  Span beside(std::uint32_t log) const;
  bool was_quiet(std::uint32_t log) const;
  bool files_tell() const;
  std::optional<TimeMs> last_write(std::uint32_t log, TimeMs from) const;

  const Recording& recording_;
  const std::vector<LineTimes>& times_;
  MainTimes main_;
  std::vector<std::optional<Span>> spans_;  // of each log
  std::vector<std::vector<Due>> dues_;      // of each log
  std::size_t strange_lines_ = 0;
  std::vector<std::uint32_t> spread_;
  bool files_tell_ = false;
};

std::vector<Due> PrintedTimes::run() {
  const auto logs = static_cast<std::uint32_t>(times_.size());
  for (std::uint32_t log = 0; log < logs; ++log) timed(log);
  files_tell_ = files_tell();
  for (std::uint32_t log = 0; log < logs; ++log)
    if (!spans_[log] && !times_[log].lines.empty()) spread_.push_back(log);
  for (std::uint32_t log = 0; log < logs; ++log)
    if (spans_[log]) tail(log);
  for (const std::uint32_t log : spread_) {
    Span span = beside(log);
    if (const auto written = last_write(log, span.from)) span = {span.from, *written, true};
    spread(log, 0, span);
  }
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
    if (!spans_[log]) spans_[log] = Span{*at, *at, false};
    spans_[log]->to = *at;
    add(log, line.end, *at);
  }
}

/// The lines behind the last one with a time. The last of them was written when the file says, else
/// when the logs beside ended, if this one was quiet while they went on. Few lines were written
/// with the line before them, except for last words.
void PrintedTimes::tail(std::uint32_t log) {
  const auto& lines = times_[log].lines;
  std::size_t first = lines.size();
  while (first > 0 && !(lines[first - 1].time && main_.holds(*lines[first - 1].time))) --first;
  if (first == lines.size()) return;
  Span span{spans_[log]->to, spans_[log]->to, false};
  if (const auto written = last_write(log, span.from))
    span = {span.from, *written, true};
  else if (was_quiet(log) || lines.size() - first > kBlockLines)
    span.to = std::max(span.to, beside(log).to);
  spread(log, first, span);
}

/// The first of the lines with which a program ended: those from an error on, near the end, and the
/// warnings directly before it.
std::size_t PrintedTimes::last_words(std::uint32_t log, std::size_t first) const {
  const auto& lines = times_[log].lines;
  const std::size_t from = std::max(first, lines.size() - std::min(lines.size(), kBlockLines));
  std::size_t at = from;
  while (at < lines.size() && lines[at].level < Level::error) ++at;
  if (at == lines.size()) return at;
  while (at > from && lines[at - 1].level >= Level::warning) --at;
  return at;
}

/// The logs with times that share most with this one: the folder, the node and attempt, the
/// attempt, or nothing.
std::vector<std::uint32_t> PrintedTimes::logs_beside(std::uint32_t log) const {
  const auto near = [&](std::uint32_t other) {
    const Log& a = recording_.logs[log];
    const Log& b = recording_.logs[other];
    return std::tuple{a.attempt == b.attempt, a.node == b.node,
                      a.node == b.node && a.file.parent_path() == b.file.parent_path()};
  };
  std::vector<std::uint32_t> nearest;
  std::tuple<bool, bool, bool> best{};
  for (std::uint32_t other = 0; other < spans_.size(); ++other) {
    if (!spans_[other] || other == log) continue;
    const auto how = near(other);
    if (how < best) continue;
    if (how > best) nearest.clear();
    best = how;
    nearest.push_back(other);
  }
  return nearest;
}

Span PrintedTimes::beside(std::uint32_t log) const {
  std::optional<Span> span;
  for (const std::uint32_t other : logs_beside(log)) {
    if (!span) span = spans_[other];
    span->from = std::min(span->from, spans_[other]->from);
    span->to = std::max(span->to, spans_[other]->to);
  }
  if (span) return *span;
  if (spans_[log]) return *spans_[log];
  // No line of the job has a time: as fast as one can read.
  constexpr Millis kForLine{100}, kLeast{5'000}, kMost{60'000};
  std::size_t lines = 0;
  for (const LineTimes& each : times_) lines = std::max(lines, each.lines.size());
  return {TimeMs{}, TimeMs{std::clamp<Millis>(kForLine * lines, kLeast, kMost)}, false};
}

/// Whether the logs beside printed at least half of their lines after the last time of this one, as
/// those of ranks do after a launcher has started them. A rank that failed is followed by few.
bool PrintedTimes::was_quiet(std::uint32_t log) const {
  std::size_t later = 0, all = 0;
  for (const std::uint32_t other : logs_beside(log))
    for (const Line& line : times_[other].lines) {
      if (!line.time || !main_.holds(*line.time)) continue;
      ++all;
      later += *line.time > spans_[log]->to;
    }
  return all > 0 && later * 2 >= all;
}

/// Whether the files have kept the times of their last writes: those of most logs are near their
/// last printed time. A copy has others, and lines of another zone print others.
bool PrintedTimes::files_tell() const {
  std::size_t near = 0, all = 0;
  for (std::uint32_t log = 0; log < times_.size(); ++log) {
    if (!spans_[log]) continue;
    ++all;
    const auto& modified = recording_.logs[log].modified;
    near += modified && std::chrono::abs(*modified - spans_[log]->to) <= kMixedMax;
  }
  return near * 2 > all;
}

/// When the file of a log was written last, if it says so: not before `from`, and while the job
/// ran.
std::optional<TimeMs> PrintedTimes::last_write(std::uint32_t log, TimeMs from) const {
  const auto& modified = recording_.logs[log].modified;
  if (!files_tell_ || !modified || *modified < from || *modified > main_.last() + kMixedMax)
    return std::nullopt;
  return modified;
}

/// Spreads the lines from `first` on over the span; the last words come at its end.
void PrintedTimes::spread(std::uint32_t log, std::size_t first, Span span) {
  const auto& lines = times_[log].lines;
  const std::size_t words = std::min(last_words(log, first), lines.size() - (span.ends_so ? 1 : 0));
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
