#include "aggregator/job/laps.h"

#include <algorithm>
#include <array>
#include <utility>

#include "aggregator/job/job_state.h"
#include "aggregator/job/view.h"
#include "common/wire/segment.h"

namespace l4::job {
namespace {

/// The largest usual unit in which the newest times of completed iterations are whole. A few need
/// not be: another library's line with a finer time may be the last one that an iteration dates.
Millis step_of(const Stream& stream) {
  constexpr std::size_t kTimesMin = 8, kTimesMax = 64;
  constexpr std::array kUnits{Millis{60'000}, Millis{1000}};
  std::array<std::size_t, kUnits.size()> whole{};
  std::size_t times = 0;
  for (std::size_t place = stream.iterations.size(); place > 0 && times < kTimesMax; --place) {
    const IterationRecord& record = stream.iterations[place - 1].second;
    if (!record.completed || !record.end) continue;
    ++times;
    for (std::size_t unit = 0; unit < kUnits.size(); ++unit)
      whole[unit] += record.end->time_since_epoch() % kUnits[unit] == Millis{0} ? 1 : 0;
  }
  if (times < kTimesMin) return Millis{1};
  for (std::size_t unit = 0; unit < kUnits.size(); ++unit)
    if (whole[unit] * 5 >= times * 4) return kUnits[unit];
  return Millis{1};
}

/// The timers account for most of the time between iterations, and for no more than all of it.
bool timers_cover(const Stream& stream, std::span<const wire::TimerName> timers) {
  constexpr double kMost = 0.6, kAll = 1.2;
  constexpr std::size_t kLapsMin = 12;
  const Iterations::value_type* before = nullptr;
  std::size_t laps = 0;
  double timed = 0, elapsed = 0;
  for (const auto& entry : stream.iterations) {
    if (!entry.second.completed) continue;
    const auto* const last = std::exchange(before, &entry);
    const double ms = timed_ms(entry.second, timers);
    if (last == nullptr || ms <= 0 || entry.first.value() != last->first.value() + 1) continue;
    ++laps;
    timed += ms;
    elapsed += lap_ms(last->second, entry.second);
  }
  return laps >= kLapsMin && timed >= kMost * elapsed && timed <= kAll * elapsed;
}

/// A lap between stamps that are multiples of `coarse`, by what the timers of its iteration sum up
/// to.
double exact_ms(double stamped, double timed, Millis coarse) {
  const auto step = static_cast<double>(coarse.count());
  return std::clamp(timed, stamped - step, stamped + step);
}

}  // namespace

double timed_ms(const IterationRecord& record, std::span<const wire::TimerName> timers) {
  double whole = 0, sum = 0;
  for (const wire::TimerTotal& timer : record.timers) {
    const bool known = timer.timer < timers.size();
    if (known && timers[timer.timer].learned) continue;
    (known && timers[timer.timer].name == wire::kWholeIteration ? whole : sum) += timer.sum_ms;
  }
  return whole > 0 ? whole : sum;
}

double lap_ms(const IterationRecord& before, const IterationRecord& record) {
  if (!before.end || !record.end) return 0;
  return static_cast<double>((*record.end - *before.end).count());
}

std::vector<Stamps> stamps_of(const JobView& view) {
  std::vector<Stamps> stamps(view.streams.size());
  for (const EventView& event : view.events) {
    if ((event.marks & wire::kMarkIteration) == 0) continue;
    for (const Occurrence& occurrence : event.at)
      if (occurrence.exact) stamps[occurrence.stream].printed = true;
  }
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    const Stream& stream = *view.streams[i].state;
    if (stream.source.marker && !stream.iterations.empty()) {
      const EventStats* const marker = stream.events.find(stream.source.marker->id.value());
      stamps[i].printed = stamps[i].printed || (marker != nullptr && marker->first_time_exact);
    }
    stamps[i].timers = view.streams[i].agent->timers;
    if (!stamps[i].printed) continue;
    stamps[i].step = step_of(stream);
    if (stamps[i].step > Millis{1} && timers_cover(stream, stamps[i].timers))
      stamps[i].coarse = std::exchange(stamps[i].step, Millis{1});
  }
  return stamps;
}

std::vector<Lap> laps_of(const Stream& stream, const Stamps& stamps, std::size_t most) {
  std::vector<Lap> laps;
  const Iterations& all = stream.iterations;
  const Iterations::value_type* before = nullptr;
  for (std::size_t place = all.size() > most ? all.size() - most : 0; place < all.size(); ++place) {
    const auto& [iteration, record] = all[place];
    if (!record.completed) continue;
    const auto* const last = std::exchange(before, &all[place]);
    Lap lap{iteration, 1, 0, -1, static_cast<std::uint32_t>(place)};
    if (!stamps.printed) {
      lap.ms = timed_ms(record, stamps.timers);
    } else if (last != nullptr) {
      lap.steps = iteration.value() - last->first.value();
      lap.ms = lap_ms(last->second, record);
      if (const double timed = timed_ms(record, stamps.timers);
          stamps.coarse > Millis{0} && timed > 0 && lap.steps == 1)
        lap.ms = exact_ms(lap.ms, timed, stamps.coarse);
      if (record.begin && last->second.end)
        lap.lead_ms = static_cast<double>((*record.begin - *last->second.end).count());
    }
    if (lap.ms > 0) laps.push_back(lap);
  }
  return laps;
}

std::vector<double> newest_course(const Stream& stream, std::span<const wire::TimerName> timers,
                                  std::size_t most) {
  constexpr double kExact = 10;  // a stretch is so many steps of the stamps long
  std::vector<double> course;
  const Iterations& all = stream.iterations;
  const double least = kExact * static_cast<double>(step_of(stream).count());
  const Iterations::value_type* before = nullptr;
  for (std::size_t place = all.size() - std::min(all.size(), 4 * most); place < all.size();
       ++place) {
    const auto& entry = all[place];
    if (!entry.second.completed) continue;
    if (!entry.second.end) {
      if (const double ms = timed_ms(entry.second, timers); ms > 0) course.push_back(ms);
      continue;
    }
    if (before != nullptr) {
      const double ms = lap_ms(before->second, entry.second);
      if (ms >= 0 && ms < least) continue;
      const auto steps = static_cast<double>(entry.first.value() - before->first.value());
      if (ms > 0 && steps > 0) course.push_back(ms / steps);
    }
    before = &entry;
  }
  course.erase(course.begin(),
               course.end() - static_cast<std::ptrdiff_t>(std::min(course.size(), most)));
  return course;
}

}  // namespace l4::job
