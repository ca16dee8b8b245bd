#include "aggregator/job/laps.h"

#include <algorithm>
#include <utility>

#include "aggregator/job/view.h"
#include "common/wire/segment.h"

namespace l4::job {
namespace {

/// The largest usual unit in which all times of completed iterations are whole.
Millis step_of(const Stream& stream) {
  constexpr std::size_t kTimesMin = 8;
  Millis step{60'000};
  std::size_t times = 0;
  for (const auto& [iteration, record] : stream.iterations) {
    if (!record.completed || !record.end) continue;
    ++times;
    const auto since = record.end->time_since_epoch();
    while (step > Millis{1} && since % step != Millis{0})
      step = step > Millis{1000} ? Millis{1000} : Millis{1};
    if (step == Millis{1}) return step;
  }
  return times < kTimesMin ? Millis{1} : step;
}

}  // namespace

double timed_ms(const IterationRecord& record) {
  double sum = 0;
  for (const wire::TimerTotal& timer : record.timers) sum += timer.sum_ms;
  return sum;
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
      if (occurrence.stats.first_time_exact) stamps[occurrence.stream].printed = true;
  }
  for (std::size_t i = 0; i < stamps.size(); ++i)
    if (stamps[i].printed) stamps[i].step = step_of(*view.streams[i].state);
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
      lap.ms = timed_ms(record);
    } else if (last != nullptr) {
      lap.steps = iteration.value() - last->first.value();
      lap.ms = lap_ms(last->second, record);
      if (record.begin && last->second.end)
        lap.lead_ms = static_cast<double>((*record.begin - *last->second.end).count());
    }
    if (lap.ms > 0) laps.push_back(lap);
  }
  return laps;
}

}  // namespace l4::job
