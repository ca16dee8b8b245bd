// The numbers that decide in aggregator/diagnose/verdict.cc and findings/waiting.cc.
//
// Place in the flow: each is a row of [number.verdict] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Verdict {
  /// [ms] a gap this long before the failure is a wait, whatever the job's pace
  Millis wait_min{20'000};
  /// [ms] the same where the pace is not known: the job may have saved or evaluated meanwhile
  Millis wait_min_unpaced{120'000};
  /// [times] the largest gap of the job: no shorter one is a wait
  double wait_gaps = 3;
  /// [times] so much longer it must be where nothing says that it waited, and all failed at
  /// once
  double wait_times_at_once = 4;
  /// [percent] of the time that a line says it waited, that the silence must have lasted
  std::int64_t waited_percent = 80;
  /// [ms] a pause this long is a wait wherever it was
  Millis echo_wait{120'000};
  /// [ms] only after such a wait does a stop tell of a hang
  Millis stood_min{600'000};
  /// [ms] without progress behind a failure of few ranks: longer than any peer waits
  Millis unended_most{1'900'000};
  /// [ranks] ranks of which few failed
  std::size_t unended_of_min = 4;
  /// [parts] a line that ends processes is a cause on one of so many nodes
  std::size_t single_fatal = 2;
  /// [parts] another failure is a cause on one of so many nodes
  std::size_t single_failure = 4;
  /// [lines] of a stream among which its last words are
  std::uint64_t last_lines = 16;
  /// [ms] an iteration this long behind a failure passed it
  Millis passed_apart{1000};
  /// [times] an iteration's time since the last one, of a job on its pace
  double on_pace = 1.5;
  /// [ms] without progress, of a live job that stands still
  Millis still_min{3000};
  /// [lines] that are a bare number, of a program that works
  std::uint64_t figures_times = 50;
  /// [ms] of a training stage that had begun
  Millis training_lasting{60'000};
  /// [signs] of progress: one may belong to the begin of the first iteration
  std::size_t signs_min = 3;
  /// [lines] a log with fewer is a few lines
  std::uint64_t short_log_lines = 20;
  /// [nodes] that would be silent by chance: with more, silence tells nothing
  double silent_by_chance_max = 0.2;
  /// [nodes] of which some may be lost by their silence
  std::size_t lost_of_min = 3;
  /// [nodes] that are lost by their silence, at most
  std::size_t lost_max = 3;
  /// [events] new at the end, of a job that has stopped
  std::size_t closing_events_min = 2;
  /// [events] that close streams, where the words are those of a good end
  std::size_t closing_min = 3;
  /// [ms] behind events that healthy runs do not print
  Millis pause_min{3000};
  /// [times] an iteration's time, for the same
  double pause_gaps = 3;
};

inline const Verdict& verdict() {
  return in_force<Verdict>;
}

}  // namespace l4::numbers
