#include "aggregator/detect/crash/failure_events.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "aggregator/detect/crash/caught.h"
#include "aggregator/detect/crash/failure_order.h"
#include "aggregator/detect/crash/free_text.h"
#include "aggregator/detect/crash/precedence.h"
#include "aggregator/detect/crash/quiet.h"
#include "aggregator/detect/crash/set_apart.h"
#include "aggregator/detect/evidence/ending.h"
#include "aggregator/detect/evidence/lines_by_log.h"
#include "aggregator/detect/evidence/report_ahead.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/share.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"
#include "aggregator/numbers/verdict.h"
#include "common/base/earliest.h"

namespace l4::detect::crash {
namespace {

/// Time of a rank's last progress on its own clock; none for a rank that is far behind.
std::optional<TimeMs> progress_of(const job::RankView& rank, const job::JobClock& clock) {
  if (!clock.counted && rank.completed && clock.is_far_behind(*rank.completed)) return std::nullopt;
  return rank.completed_time;
}

/// Time of each node's last progress on its own clock, since clocks of nodes differ by seconds; the
/// job's time where a node shows no progress or stopped long before the others.
std::vector<std::optional<TimeMs>> progress_by_node(const job::JobView& view,
                                                    const job::JobClock& clock) {
  std::vector<std::optional<TimeMs>> progress(view.nodes.size());
  for (const job::RankView& rank : view.ranks)
    progress[rank.node] = std::max(progress[rank.node], rank.completed_time);
  for (std::optional<TimeMs>& own : progress)
    if (!own ||
        (clock.last_progress && *own + numbers::crash().node_apart_max < *clock.last_progress))
      own = clock.last_progress;
  return progress;
}

/// Of the file of a stream.
struct InFile {
  std::uint64_t completed_line = 0;  ///< the last with which any speaker completed an iteration
  std::size_t speakers = 0;
};

/// By stream.
std::vector<InFile> find_files(const job::JobView& view) {
  const auto logs = job::completed_lines(view);
  std::map<job::Log, std::size_t> speakers;
  for (const job::StreamView& stream : view.streams) ++speakers[stream.log()];
  std::vector<InFile> files;
  files.reserve(view.streams.size());
  for (const job::StreamView& stream : view.streams)
    files.push_back({logs.at(stream.log()), speakers.at(stream.log())});
  return files;
}

/// What a speaker without iterations said without a time, while others that write into its file
/// completed iterations for long afterwards: all of them print some lines in an iteration.
bool went_on(const job::JobView& view, const job::Occurrence& occurrence, const InFile& file) {
  if (occurrence.time && occurrence.exact) return false;
  if (view.streams[occurrence.stream].state->last_completed) return false;
  const std::uint64_t most = std::max(numbers::crash().went_on_lines_min,
                                      numbers::crash().went_on_lines_of_speaker * file.speakers);
  return occurrence.first_line + most < file.completed_line;
}

/// Without a stamp of its own, a line has the time of its speaker's last stamp, which may be hours
/// old in a file of several speakers; its place in the file tells more. So it does where nobody
/// knows at what time progress ended (`progress`). What stands behind a bar has the bar's line.
bool is_behind(const job::Occurrence& occurrence, std::uint64_t completed_line,
               std::optional<TimeMs> progress) {
  const bool timed = occurrence.time && occurrence.exact && progress;
  return !timed && completed_line > 0 && occurrence.first_line >= completed_line;
}

/// Lines that a program had buffered are printed behind the line that tells of its end.
bool is_before_buffered(const job::Stream& stream, const job::EventStats& stats,
                        const job::JobClock& clock) {
  if (stream.last_line > stats.last_line + numbers::crash().buffered_lines_max ||
      !stats.last_iteration)
    return false;
  return stream.last_completed->value() - stats.last_iteration->value() <=
         numbers::crash().buffered_iterations_max * clock.stride;
}

/// A failure with which a log ends that was silent for most of its time before.
bool is_closing_burst(const job::Stream& state, const job::Occurrence& occurrence,
                      const EventHint& hint) {
  if (hint.severity < Severity::failure || !state.begin || !state.end) return false;
  const Millis behind = *state.end - *occurrence.time;
  return behind * numbers::crash().burst_part <= *state.end - *state.begin;
}

/// Whether an occurrence began after the end of progress, judged within its stream.
bool after_progress(const job::JobView& view, const job::JobClock& clock,
                    std::optional<TimeMs> node_progress, const job::Occurrence& occurrence,
                    const EventHint& hint) {
  const job::StreamView& stream = view.streams[occurrence.stream];
  if (stream.state->last_completed) {
    if (hint.stop && is_before_buffered(*stream.state, occurrence.stats, clock)) return true;
    if (occurrence.first_line <= stream.state->last_completed_line) return false;
    if (!occurrence.time || !clock.last_progress) return true;
  }
  if (!clock.has_iterations()) return true;
  if (!occurrence.time) {
    // Among lines without a time, the last lines of a stream are new, and so are all lines behind
    // its last stamp.
    const job::Stream& state = *stream.state;
    return occurrence.first_line >= state.tail_line ||
           (state.timed_last_line > 0 && occurrence.first_line > state.timed_last_line);
  }
  const auto own = progress_of(view.ranks[stream.rank], clock);
  const auto progress = own ? own : node_progress;
  // The end of progress is unknown, so only the last lines of a stream can be about it, and what a
  // batch system says among them of the limit at which it ended the job.
  if (!progress) {
    const job::Stream& state = *stream.state;
    if (occurrence.first_line >= state.tail_line) return true;
    const bool last = state.is_among_last(occurrence.first_line, numbers::verdict().last_lines);
    return last && ((hint.stop && !hint.general) || is_closing_burst(state, occurrence, hint));
  }
  const Millis margin = std::max(numbers::crash().margin_min,
                                 Millis{static_cast<std::int64_t>(2 * clock.gap_median_ms)});
  return *occurrence.time + margin >= *progress;
}

bool may_indicate(const job::EventView& event, const EventHint& hint) {
  if (hint.in_pool && !hint.excess) return false;
  return (event.marks & (wire::kMarkIteration | wire::kMarkFinished | wire::kMarkProgress)) == 0;
}

void set_first(const job::EventView& event, FailureEvent& found) {
  for (const std::uint32_t i : found.occurrences) {
    const job::Occurrence& occurrence = event.at[i];
    const bool earlier =
        occurrence.time && (!found.first_time || *occurrence.time < *found.first_time);
    if (i == found.occurrences.front() || earlier) {
      if (earlier || !found.first_time) {
        found.first_stream = occurrence.stream;
        found.first_line = occurrence.first_line;
      }
      if (earlier) found.first_time = occurrence.time;
    }
  }
}

std::uint64_t first_line_of(const job::EventStats& stats) {
  return stats.first_line;
}

/// By log: first line of the newest sentence that the program ended well, or that its result is
/// there.
LinesByLog good_ends(const job::JobView& view) {
  const auto is_good = [&](std::size_t event) {
    const Ending ending = ending_of(view.events[event].text);
    return ending == Ending::well || ending == Ending::kept;
  };
  return last_lines(view, is_good, first_line_of);
}

/// In a job that prints no iterations: the program went on for long, and came to a good end.
bool ended_well_after(const job::JobView& view, const LinesByLog& ends, const job::Occurrence& at) {
  const auto end = ends.find(view.streams[at.stream].log());
  return end != ends.end() && at.first_line + numbers::crash().good_end_lines < end->second;
}

/// In a job that prints no iterations: a line that the stream printed again and again from its
/// beginning on, while it went on. No known fault: some programs try for long before they fail.
bool recurs(const job::JobView& view, const EventHint& hint, const job::Occurrence& at) {
  if (hint.known_fault || hint.severity == Severity::fatal ||
      at.stats.count < numbers::crash().recurs_times)
    return false;
  const std::uint64_t end = view.streams[at.stream].state->last_line;
  return end - at.first_line >= numbers::crash().recurs_lines &&
         at.first_line * numbers::crash().recurs_part <= end &&
         (at.stats.last_line - at.first_line) * numbers::crash().recurs_part >= end;
}

/// By log: last line that sounds like a failure.
LinesByLog last_complaints(const job::JobView& view, const std::vector<EventHint>& hints) {
  const auto complains = [&](std::size_t event) {
    return hints[event].severity >= Severity::failure;
  };
  return last_lines(view, complains, last_known_line);
}

/// By stream of a job that prints no iterations: it worked on behind the last complaint of its log,
/// as its many lines of many kinds show.
std::vector<bool> find_unhurt(const job::JobView& view, const std::vector<EventHint>& hints) {
  const auto complaints = last_complaints(view, hints);
  std::vector<std::uint64_t> from(view.streams.size(), 0);
  for (std::size_t i = 0; i < view.streams.size(); ++i)
    if (const auto line = complaints.find(view.streams[i].log()); line != complaints.end())
      from[i] = line->second;
  std::vector<std::uint32_t> kinds(view.streams.size(), 0);
  for (const job::EventView& event : view.events)
    for (const job::Occurrence& at : event.at)
      if (at.stats.last_line > from[at.stream]) ++kinds[at.stream];
  std::vector<bool> unhurt(view.streams.size(), false);
  for (std::size_t i = 0; i < unhurt.size(); ++i)
    unhurt[i] = from[i] > 0 &&
                view.streams[i].state->last_line >= from[i] + numbers::crash().unhurt_lines &&
                kinds[i] >= numbers::crash().unhurt_kinds;
  return unhurt;
}

/// By log: the line at which its newest kind of line was first printed. Empty where no hint is
/// mild: nothing else asks.
LinesByLog newest_kinds(const job::JobView& view, const std::vector<EventHint>& hints) {
  if (std::ranges::none_of(hints, &EventHint::mild)) return {};
  return last_lines(view, [](std::size_t) { return true; }, first_line_of);
}

/// The lines of a stream between its last time from before the end of progress and its first from
/// after it.
struct Gap {
  std::uint64_t before = 0, after = 0;  ///< lines with these times; `after` is 0 if there is none
};

/// By stream; without `after` for streams that complete iterations.
std::vector<Gap> gaps_of(const job::JobView& view,
                         const std::vector<std::optional<TimeMs>>& progress) {
  const Millis margin = numbers::crash().margin_min;
  std::vector<Gap> gaps(view.streams.size());
  std::vector<std::uint8_t> asked(view.streams.size(), 0);
  for (std::size_t i = 0; i < asked.size(); ++i)
    asked[i] = !view.streams[i].state->last_completed && progress[view.streams[i].node] ? 1 : 0;
  if (std::ranges::find(asked, 1) == asked.end()) return gaps;
  for (const job::EventView& event : view.events)
    for (const job::Occurrence& at : event.at) {
      if (asked[at.stream] == 0 || !at.time || !at.exact) continue;
      Gap& gap = gaps[at.stream];
      const std::uint64_t line = at.first_line;
      if (*at.time + margin < *progress[view.streams[at.stream].node])
        gap.before = std::max(gap.before, line);
      else
        gap.after = gap.after == 0 ? line : std::min(gap.after, line);
    }
  return gaps;
}

/// By stream: the last line whose own time is from before the end of progress on its node; 0 for
/// none.
std::vector<std::uint64_t> lines_before(const job::JobView& view,
                                        const std::vector<std::optional<TimeMs>>& progress) {
  std::vector<std::uint64_t> lines(view.streams.size(), 0);
  for (const job::EventView& event : view.events)
    for (const job::Occurrence& at : event.at) {
      if (!at.time || !at.exact) continue;
      const std::optional<TimeMs>& ended = progress[view.streams[at.stream].node];
      const auto note = [&](TimeMs time, std::uint64_t line) {
        if (ended && time + numbers::crash().margin_min < *ended)
          lines[at.stream] = std::max(lines[at.stream], line);
      };
      note(*at.time, at.first_line);
      if (at.stats.last_time) note(*at.stats.last_time, at.stats.last_line);
    }
  return lines;
}

/// What is known of a job before its events are judged one by one.
struct Setting {
  const job::JobView& view;
  const job::JobClock& clock;
  const std::vector<EventHint>& hints;
  Known known;
  std::vector<std::optional<TimeMs>> progress = progress_by_node(view, clock);  // by node
  std::vector<Gap> gaps = gaps_of(view, progress);                              // by stream
  std::vector<FreeText> free_text = find_free_text(view, hints);                // by stream
  std::vector<InFile> files = find_files(view);                                 // by stream
  LinesByLog ends = clock.has_iterations() ? LinesByLog() : good_ends(view);
  std::vector<bool> unhurt = clock.has_iterations() ? std::vector<bool>(view.streams.size(), false)
                                                    : find_unhurt(view, hints);  // by stream
  LinesByLog newest = newest_kinds(view, hints);
  ReportAhead report{view};
  mutable std::vector<std::uint64_t> before = {};  // lines_before(), once it is asked

  /// What is known as a warning, and not as the effect of another failure, ends a process only if
  /// nothing new is printed behind it.
  Severity severity_of(const EventHint& hint, const job::EventView& event) const {
    const auto goes_on = [&](const job::Occurrence& at) {
      return newest.at(view.streams[at.stream].log()) > at.first_line;
    };
    return hint.mild && !hint.consequence && std::ranges::all_of(event.at, goes_on)
               ? std::min(hint.severity, Severity::failure)
               : hint.severity;
  }
  /// It tells of usual work, or of nothing.
  bool is_usual(const job::EventView& event, const EventHint& hint,
                const job::Occurrence& at) const {
    if (report.holds(view, at)) return false;
    const FreeText free = hint.by_words ? free_text[at.stream] : FreeText::none;
    if (free == FreeText::all || (free == FreeText::prose && is_prose(event.text))) return true;
    if (went_on(view, at, files[at.stream])) return true;
    if (unhurt[at.stream] && hint.ordinary && !hint.known_fault) return true;
    return !clock.has_iterations() && (recurs(view, hint, at) || ended_well_after(view, ends, at));
  }
  bool is_new(const EventHint& hint, const job::Occurrence& at) const {
    if (hint.severity >= Severity::failure && report.holds(view, at)) return true;
    const std::optional<TimeMs>& ended = progress[view.streams[at.stream].node];
    const bool behind = is_behind(at, files[at.stream].completed_line, ended) ||
                        is_in_gap(hint, at) || after_progress(view, clock, ended, at, hint);
    return behind && !is_overtaken(at);
  }
  /// Long behind the line its own stream prints a time from before the end of progress: it belongs
  /// to an earlier start of the program, of which its file does not tell.
  bool is_overtaken(const job::Occurrence& at) const {
    if (at.stats.count > 1) return false;
    if (before.empty()) before = lines_before(view, progress);
    return at.first_line + numbers::crash().buffered_lines_max < before[at.stream];
  }
  /// A line without a time that tells how a process ends, shortly before what its log prints after
  /// the end of progress, belongs to that: the stamp before it may be hours old. So does one with
  /// which a log ends that was written for most of the job.
  bool is_in_gap(const EventHint& hint, const job::Occurrence& at) const {
    const Gap& gap = gaps[at.stream];
    const std::uint64_t line = at.first_line;
    const bool tells = (!known.wording && known.runs) || hint.severity == Severity::fatal ||
                       (hint.known_fault && hint.severity == Severity::failure);
    if (!tells || hint.mild || at.exact || line <= gap.before || came_before(at)) return false;
    if (gap.after > 0) return line < gap.after && line + numbers::crash().gap_lines > gap.after;
    const job::Stream& stream = *view.streams[at.stream].state;
    const std::optional<TimeMs>& ended = progress[view.streams[at.stream].node];
    return gap.before > 0 && stream.begin && stream.end && ended &&
           *ended - *stream.end < *stream.end - *stream.begin &&
           stream.is_among_last(line, numbers::crash().gap_lines);
  }
  /// A line without a time that tells how a process ends, with which a log ends that tells of no
  /// progress: of a rank that prints nothing while the others train.
  bool is_at_end(const EventHint& hint, const job::Occurrence& at) const {
    const job::Stream& stream = *view.streams[at.stream].state;
    return hint.severity == Severity::fatal && !hint.mild && !hint.is_echo() && !at.exact &&
           !stream.last_completed &&
           stream.is_among_last(at.first_line, numbers::crash().gap_lines);
  }
  /// It came behind several stamps, all of them from before the end of progress: the job lived on
  /// after the first, whenever the last was printed.
  bool came_before(const job::Occurrence& at) const {
    const std::optional<TimeMs>& ended = progress[view.streams[at.stream].node];
    return at.stats.count > 1 && ended && at.time && at.stats.last_time &&
           *at.stats.last_time > *at.time &&
           *at.stats.last_time + numbers::crash().margin_min < *ended;
  }
  /// A line without a stamp is later than the stamp before it by an unknown time; but its speaker
  /// completed an iteration behind it, or did not.
  bool may_be_new(const job::Occurrence& at) const {
    const job::Stream& stream = *view.streams[at.stream].state;
    return !at.exact && !(stream.last_completed && at.first_line <= stream.last_completed_line);
  }
  /// If most streams first print an event after the end of progress and none surely before, it is
  /// new in all.
  bool is_new_in_all(const EventHint& hint, std::size_t now, std::size_t unsure,
                     std::size_t all) const {
    const bool weighs = hint.severity >= Severity::failure || !known.wording;
    return weighs && now > unsure && now + unsure == all;
  }
};

/// `at_end`: what stands at the end of a log counts, whatever the time before it.
std::optional<FailureEvent> judge(const Setting& setting, std::uint32_t index,
                                  bool at_end = false) {
  const job::EventView& event = setting.view.events[index];
  const EventHint& hint = setting.hints[index];
  FailureEvent found;
  found.event = index;
  found.severity = setting.severity_of(hint, event);
  std::size_t unsure = 0;
  for (std::uint32_t i = 0; i < event.at.size(); ++i) {
    const job::Occurrence& at = event.at[i];
    if (setting.is_usual(event, hint, at)) continue;
    if (setting.is_new(hint, at) || (at_end && setting.is_at_end(hint, at)))
      found.occurrences.push_back(i);
    else if (setting.may_be_new(at))
      ++unsure;
  }
  if (found.occurrences.empty()) return std::nullopt;
  set_first(event, found);
  if (setting.is_new_in_all(hint, found.occurrences.size(), unsure, event.at.size())) {
    found.occurrences.resize(event.at.size());
    std::iota(found.occurrences.begin(), found.occurrences.end(), 0U);
  }
  return found;
}

std::uint64_t count_of(const job::JobView& view, const FailureEvent& event) {
  std::uint64_t count = 0;
  for (const std::uint32_t i : event.occurrences)
    count += view.events[event.event].at[i].stats.count;
  return count;
}

/// It was already there while iterations went on.
bool was_survived(const job::JobView& view, const FailureEvent& event, const EventHint& hint) {
  const bool seen_before = event.occurrences.size() < view.events[event.event].at.size();
  return seen_before &&
         !(hint.known_fault && !hint.consequence && hint.severity == Severity::fatal);
}

/// The last line of a file that was copied while it grew may be the beginning of one that the job
/// survived.
bool is_cut_short(const job::JobView& view, const FailureEvent& event,
                  const std::vector<std::string_view>& survived) {
  const job::EventView& cut = view.events[event.event];
  if (cut.count > 1 || cut.text.size() < numbers::crash().cut_length_min) return false;
  const job::Occurrence& at = cut.at.front();
  if (at.stats.last_line < view.streams[at.stream].state->last_line) return false;
  return std::ranges::any_of(survived,
                             [&](std::string_view whole) { return whole.starts_with(cut.text); });
}

/// Of several ranks few end with it, each with one: what all print while they start they have
/// survived, and what one prints again, or prints before an iteration into the same file, it has,
/// too. Launchers and agents go on for long.
bool is_of_few_ranks(const Setting& setting, const FailureEvent& event) {
  const job::JobView& view = setting.view;
  std::set<std::uint32_t> ranks;
  for (const std::uint32_t i : event.occurrences) {
    const job::Occurrence& at = view.events[event.event].at[i];
    const std::uint32_t rank = view.streams[at.stream].rank;
    const job::RankView& speaker = view.ranks[rank];
    if (at.stats.count > 1 || speaker.launcher) return false;
    if (!speaker.rank && !speaker.local_rank) return false;
    if (at.first_line <= setting.files[at.stream].completed_line) return false;
    ranks.insert(rank);
  }
  return view.ranks.size() > 1 && ranks.size() * 2 < view.ranks.size();
}

/// Where the job has failed and no event says why, the ends of logs without progress may. Where
/// nothing tells that it failed, those of few ranks do, but for `dropped`: events that are no
/// evidence of that.
void add_ends(const Setting& setting, const std::set<std::uint32_t>& dropped,
              std::vector<FailureEvent>& judged) {
  const auto fails = [](const FailureEvent& event) { return event.severity >= Severity::failure; };
  const auto explains = [&](const FailureEvent& event) {
    const EventHint& hint = setting.hints[event.event];
    return fails(event) && !hint.is_echo() && !hint.general && !hint.stop;
  };
  if (!setting.clock.has_iterations() || !setting.known.wording ||
      std::ranges::any_of(judged, explains))
    return;
  const bool failed = std::ranges::any_of(judged, fails);
  for (std::uint32_t i = 0; i < setting.view.events.size(); ++i) {
    if (!may_indicate(setting.view.events[i], setting.hints[i]) ||
        setting.hints[i].severity < Severity::fatal || (!failed && dropped.contains(i)) ||
        std::ranges::find(judged, i, &FailureEvent::event) != judged.end())
      continue;
    auto event = judge(setting, i, true);
    if (event && (failed || is_of_few_ranks(setting, *event))) judged.push_back(std::move(*event));
  }
}

/// A known warning that a few streams print far more often than the others and than any healthy
/// run: no failure by itself, but it accompanies one.
std::optional<FailureEvent> judge_excess(const job::JobView& view, std::uint32_t index,
                                         const EventHint& hint) {
  const job::EventView& event = view.events[index];
  if (!hint.in_pool || !hint.excess || hint.severity < Severity::failure) return std::nullopt;
  std::vector<std::uint64_t> counts;
  counts.reserve(event.at.size());
  for (const job::Occurrence& occurrence : event.at) counts.push_back(occurrence.stats.count);
  std::ranges::sort(counts);
  const std::uint64_t usual = counts[(counts.size() - 1) / 2];
  FailureEvent found;
  found.event = index;
  found.severity = Severity::notice;
  for (std::uint32_t i = 0; i < event.at.size(); ++i)
    if (event.at[i].stats.count > numbers::crash().excess_times * usual)
      found.occurrences.push_back(i);
  if (found.occurrences.empty() || !job::is_few(found.occurrences.size(), view.ranks.size()))
    return std::nullopt;
  set_first(event, found);
  return found;
}

/// Where nothing is known of healthy runs and some events are those of few nodes, others that came
/// before these are the usual work of all, unless the logs end with them.
void keep_rare(const job::JobView& view, std::vector<FailureEvent>& events) {
  const auto is_rare = [&](const FailureEvent& event) {
    return job::is_few(count_nodes(view, event), view.nodes.size());
  };
  if (view.nodes.size() < numbers::crash().rare_nodes_min || std::ranges::none_of(events, is_rare))
    return;
  std::optional<TimeMs> first;
  for (const FailureEvent& event : events)
    if (is_rare(event)) keep_earliest(first, event.first_time);
  std::erase_if(events, [&](const FailureEvent& event) {
    return !is_rare(event) && !is_closing(view, event) &&
           !(first && event.first_time && *event.first_time > *first);
  });
}

/// Moves the events that the comparison sets apart, as failures.
void take_set_apart(const job::JobView& view, const job::JobClock& clock,
                    const std::vector<EventHint>& hints, const UsualCourse& course,
                    const std::vector<FreeText>& free_text, std::vector<FailureEvent>& quiet,
                    std::vector<FailureEvent>& events) {
  const auto apart = std::ranges::stable_partition(quiet, [&](const FailureEvent& event) {
    return free_text[event.first_stream] == FreeText::all ||
           !is_set_apart(view, clock, event, hints[event.event], course);
  });
  for (FailureEvent& event : apart) event.severity = Severity::failure;
  events.insert(events.end(), std::make_move_iterator(apart.begin()),
                std::make_move_iterator(apart.end()));
  quiet.erase(apart.begin(), apart.end());
  if (!course.known().runs) keep_rare(view, events);
}

}  // namespace

FailureEvents find_failure_events(const job::JobView& view, const job::JobClock& clock,
                                  const std::vector<EventHint>& hints, Known known) {
  FailureEvents found;
  std::vector<FailureEvent> quiet;  // new events that do not sound like a failure
  const Setting setting{view, clock, hints, known};
  Caught caught(view, hints);
  std::vector<FailureEvent> judged;
  std::vector<std::string_view> survived;  // texts
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    std::optional<FailureEvent> event;
    if (may_indicate(view.events[i], hints[i])) event = judge(setting, i);
    if (event) caught.add(i, count_of(view, *event));
    if (!event || was_survived(view, *event, hints[i]))
      survived.push_back(view.events[i].text);
    else
      judged.push_back(std::move(*event));
  }
  std::set<std::uint32_t> dropped;  // events
  std::erase_if(judged, [&](const FailureEvent& event) {
    const bool drops = (clock.has_iterations() && caught.changed_nothing(event.event)) ||
                       is_cut_short(view, event, survived);
    if (drops) dropped.insert(event.event);
    return drops;
  });
  add_ends(setting, dropped, judged);
  for (FailureEvent& event : judged)
    (event.severity >= Severity::failure ? found.events : quiet).push_back(std::move(event));
  found.pooled = known.runs;
  found.worded = known.wording;
  found.compared = found.events.empty();
  const UsualCourse course(view, hints, known);
  if (found.compared)
    take_set_apart(view, clock, hints, course, setting.free_text, quiet, found.events);
  if (found.compared && known.runs) {
    const Closing closing = closing_of(view, found.events, course);
    found.closed = closing.most_nodes;
    found.led = closing.led;
    found.closing = closing.on_a_node;
    found.parted = closing.parted;
  }
  found.note_failures();
  if (!found.events.empty() && !found.compared)
    for (std::uint32_t i = 0; i < view.events.size(); ++i)
      if (auto event = judge_excess(view, i, hints[i])) found.events.push_back(std::move(*event));
  add_quiet(view, clock, hints, course, quiet, found);
  sort_by_place(view, found.events);
  settle_precedence(view, hints, found.events);
  return found;
}

}  // namespace l4::detect::crash
