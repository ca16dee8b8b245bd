#include "aggregator/detect/ending/endings.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "aggregator/detect/evidence/ending.h"
#include "aggregator/detect/evidence/lines_by_log.h"
#include "aggregator/detect/evidence/report_ahead.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/ending.h"
#include "common/base/earliest.h"

namespace l4::detect::ending {
namespace {

/// The line stands behind the last progress, among the last lines of its stream, or in a report of
/// the end.
bool is_at_end(const job::JobView& view, const job::JobClock& clock, const ReportAhead& report,
               const job::Occurrence& occurrence) {
  if (report.holds(view, occurrence)) return true;
  const job::Stream& stream = *view.streams[occurrence.stream].state;
  const std::uint64_t line = occurrence.stats.last_line;
  if (stream.last_line > line + numbers::ending().last_lines) return false;
  if (stream.last_completed) return line > stream.last_completed_line;
  const auto& last = occurrence.stats.last_time;
  return !last || !clock.last_progress ||
         *last + numbers::ending().tolerance >= *clock.last_progress;
}

void note(Ending ending, Endings& found) {
  switch (ending) {
    case Ending::well:
      found.well = true;
      break;
    case Ending::badly:
      found.badly = true;
      break;
    case Ending::kept:
      found.kept = true;
      break;
    case Ending::left:
      found.left = true;
      break;
    case Ending::tidied:
      found.tidied = true;
      break;
    case Ending::asked:
      found.asked = true;
      break;
    case Ending::gone:
      found.gone = true;
      break;
    case Ending::none:
      break;
  }
}

/// `lines`: the last ones by stream; empty until there is one.
void note_line(const job::JobView& view, const job::Occurrence& at,
               std::vector<std::uint64_t>& lines) {
  lines.resize(view.streams.size(), 0);
  lines[at.stream] = std::max(lines[at.stream], at.stats.last_line);
}

void note_first_line(const job::JobView& view, const job::Occurrence& at,
                     std::vector<std::uint64_t>& lines) {
  lines.resize(view.streams.size(), 0);
  std::uint64_t& line = lines[at.stream];
  line = line == 0 ? std::uint64_t{at.first_line} : std::min(line, std::uint64_t{at.first_line});
}

/// What the text of each event says of the end.
std::vector<Ending> endings_of(const job::JobView& view) {
  std::vector<Ending> endings;
  endings.reserve(view.events.size());
  for (const job::EventView& event : view.events) endings.push_back(ending_of(event.text));
  return endings;
}

/// The first line of each log that says that the job ended well, or that its result was kept.
LinesByLog first_kept_lines(const job::JobView& view, const std::vector<Ending>& endings) {
  LinesByLog lines;
  for (std::size_t i = 0; i < endings.size(); ++i) {
    if (endings[i] != Ending::kept && endings[i] != Ending::well) continue;
    for (const job::Occurrence& at : view.events[i].at) {
      const auto [line, first] = lines.try_emplace(view.streams[at.stream].log(), at.first_line);
      if (!first) line->second = std::min(line->second, std::uint64_t{at.first_line});
    }
  }
  return lines;
}

/// `kept`: first_kept_lines(). What asks a program to end that has kept its result explains
/// nothing.
void add_sign(const job::JobView& view, const job::JobClock& clock, const ReportAhead& report,
              const LinesByLog& kept, std::uint32_t index, Ending ending, Endings& found) {
  if (ending == Ending::none) return;
  const job::EventView& event = view.events[index];
  FailureEvent sign;
  sign.event = index;
  const bool failure = ending == Ending::gone || ending == Ending::asked;
  sign.severity = failure ? Severity::failure : Severity::notice;
  for (std::uint32_t i = 0; i < event.at.size(); ++i) {
    const job::Occurrence& at = event.at[i];
    if (!is_at_end(view, clock, report, at)) continue;
    if (ending == Ending::asked) {
      const auto line = kept.find(view.streams[at.stream].log());
      if (line != kept.end() && line->second < at.first_line) continue;
      note_first_line(view, at, found.asked_lines);
    }
    const auto& last = at.stats.last_time;
    if (last && (ending == Ending::kept || ending == Ending::well)) keep_latest(found.said, *last);
    if (ending == Ending::well) note_line(view, at, found.well_lines);
    if (sign.occurrences.empty()) {
      sign.first_stream = at.stream;
      sign.first_line = at.first_line;
      sign.first_time = at.time;
    }
    sign.occurrences.push_back(i);
  }
  if (sign.occurrences.empty()) return;
  note(ending, found);
  if (failure || ending == Ending::left || ending == Ending::tidied)
    found.signs.push_back(std::move(sign));
}

/// Some file holds a later run than the one that the view shows.
bool is_followed(const job::JobView& view) {
  std::map<job::Log, std::uint32_t> newest;  // run that the view shows
  for (const job::StreamView& stream : view.streams) {
    std::uint32_t& run = newest[stream.log()];
    run = std::max(run, stream.state->source.run);
  }
  for (const auto& [log, run] : newest)
    for (const auto& [id, stream] : log.first->streams)
      if (stream.source.path == log.second && stream.source.run > run) return true;
  return false;
}

void compare_totals(const job::JobView& view, Endings& found) {
  bool reached = false;
  for (const job::StreamView& stream : view.streams) {
    if (!stream.state->last_completed) continue;
    reached |= stream.state->reach == wire::Reach::total;
    found.short_of |= stream.state->reach == wire::Reach::before;
  }
  found.complete = reached && !found.short_of;
}

}  // namespace

Endings find_endings(const job::JobView& view, const job::JobClock& clock) {
  Endings found;
  const std::vector<Ending> endings = endings_of(view);
  const LinesByLog kept = first_kept_lines(view, endings);
  const ReportAhead report(view);
  for (std::uint32_t i = 0; i < endings.size(); ++i)
    add_sign(view, clock, report, kept, i, endings[i], found);
  const auto place = [&](const FailureEvent& sign) {
    return std::tuple(sign.severity < Severity::failure,
                      std::string_view(view.streams[sign.first_stream].state->source.path),
                      sign.first_line);
  };
  std::ranges::stable_sort(found.signs, {}, place);
  found.followed = is_followed(view);
  compare_totals(view, found);
  return found;
}

}  // namespace l4::detect::ending
