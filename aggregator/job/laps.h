// How long iterations of one stream took, by the times or timers that its lines print.
//
// Place in the flow: Stream::iterations -> laps; the job clock and the detectors of durations read
// them, so that all mean the same by a duration. A lap is the time from the completion of one
// printed iteration to that of the next. Where iteration lines print no time of their own, the
// iteration's timers stand for it, and where the times are whole seconds they tell the rest.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregator/job/stream.h"
#include "common/base/time.h"

namespace l4::job {

struct JobView;

/// The timer of the whole iteration, where one was printed; else the sum of the timers of its parts
/// that rule packs name. Learned ones may overlap.
double timed_ms(const IterationRecord& record, std::span<const wire::TimerName> timers);

/// Time between the completions of two iterations; 0 if one of them has no time.
double lap_ms(const IterationRecord& before, const IterationRecord& record);

/// How exact the times of a stream's iteration lines are.
struct Stamps {
  bool printed = false;  ///< the lines that complete iterations print a time
  Millis step{1};        ///< laps are known no better
  /// 0, or nearly all times are multiples of it, and the timers cover most of the time: then they
  /// tell how long a lap was, as far as the times do not contradict.
  Millis coarse{0};
  std::span<const wire::TimerName> timers;  ///< of the stream's agent; the view's
};

/// By JobView::streams; `printed` is false for streams without iterations.
std::vector<Stamps> stamps_of(const JobView& view);

struct Lap {
  Iteration iteration{0};   ///< the completed one
  std::int64_t steps = 1;   ///< numbers since the iteration completed before
  double ms = 0;            ///< of all `steps` together; > 0
  double lead_ms = -1;      ///< from the completion before to the first line; < 0: not known
  std::uint32_t place = 0;  ///< index into Stream::iterations
};

/// The laps of the newest `most` iterations, ascending.
std::vector<Lap> laps_of(const Stream& stream, const Stamps& stamps, std::size_t most);

/// What an iteration took lately, for a picture: ms by stretches of iterations that are long enough
/// for the stream's stamps to tell, at most `most`, oldest first. Looks at no more than 4 x `most`
/// iterations. Empty where lines print neither times nor timers.
std::vector<double> newest_course(const Stream& stream, std::span<const wire::TimerName> timers,
                                  std::size_t most);

}  // namespace l4::job
