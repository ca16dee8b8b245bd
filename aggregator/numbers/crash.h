// The numbers that decide in aggregator/detect/crash.
//
// Place in the flow: each is a row of [number.crash] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Crash {
  /// [lines] of an exception before the end of progress, beyond those behind it, that show
  /// that it changed nothing
  std::uint64_t harmless_times = 5;
  /// [ms] a line is after the end of progress if it is no more than this before it
  Millis margin_min{2000};
  /// [ms] a node whose progress ended longer before the job's is judged by the job's
  Millis node_apart_max{30'000};
  /// [lines] iterations completed so many lines behind a line without a time show that the
  /// file went on
  std::uint64_t went_on_lines_min = 50;
  /// [lines] the same, for each stream of the file
  std::uint64_t went_on_lines_of_speaker = 8;
  /// [lines] what was buffered is printed within so many lines behind the line of the end
  std::uint64_t buffered_lines_max = 256;
  /// [iterations] and is no more iterations than these
  std::int64_t buffered_iterations_max = 16;
  /// [lines] a good end counts only so far behind a failure: a launcher's last words may
  /// sound good, too
  std::uint64_t good_end_lines = 50;
  /// [lines] a line recurs if a stream printed it so often
  std::uint64_t recurs_times = 5;
  /// [lines] and went on for so many lines since
  std::uint64_t recurs_lines = 100;
  /// [parts] and it began within the first of so many parts of the stream, and spans one
  std::uint64_t recurs_part = 3;
  /// [lines] of an event printed so often or less, only the first line is known
  std::uint64_t first_line_times = 4;
  /// [lines] a stream worked on if it printed so many lines behind its last complaint
  std::uint64_t unhurt_lines = 100;
  /// [kinds] of so many kinds
  std::uint32_t unhurt_kinds = 8;
  /// [lines] a line without a time belongs to the end if a line of after the end follows
  /// within so many
  std::uint64_t gap_lines = 64;
  /// [parts] failures with which a log ends count, where progress has no time, if they span
  /// at most one of so many parts of its time
  std::int64_t burst_part = 4;
  /// [bytes] a last line that was cut short is compared from this length on
  std::size_t cut_length_min = 16;
  /// [times] a known warning is in excess on a stream that prints it so often as the median
  /// one
  std::uint64_t excess_times = 4;
  /// [nodes] events of few nodes are told from the usual work of all in jobs of so many
  std::size_t rare_nodes_min = 4;
  /// [ms] a quiet new line counts with the failure from so long before it on
  Millis quiet_before{3000};
  /// [lines] a failure prints its lines together: the tracebacks of a node's ranks are some
  /// hundred lines
  std::uint64_t together_lines = 500;
  /// [lines] different lines that sound like a failure and changed nothing make a stream free
  /// text
  double free_survived_min = 3;
  /// [lines] fewer expected ones excuse none at the end
  double free_expected_min = 0.1;
  /// [share] of the lines before the end, where no iteration shows it
  double free_end = 0.7;
  /// [words] of a line of prose
  std::size_t prose_words_min = 12;
  /// [words] of these, such as all English texts have
  std::size_t prose_little_min = 4;
  /// [percent] of the words are plain in a line of prose
  std::size_t prose_plain_percent = 75;
  /// [lines] of prose make a stream one that prints prose
  std::uint32_t prose_lines_min = 4;
  /// [ms] what was reported within this time may be the same failure
  Millis report_within{60'000};
  /// [ms] two clocks may differ by so much
  Millis clocks_apart{1000};
  /// [lines] stacks of many ranks stand between a cause and its summary
  std::uint64_t stack_lines = 200;
  /// [lines] of one message
  std::uint64_t block_lines = 12;
  /// [lines] of a stream that close it
  std::uint64_t closing_lines = 4;
  /// [lines] the end of a stream, where nothing is known of healthy runs
  std::uint64_t end_lines = 48;
  /// [parts] the end is no more than one of so many parts of the stream
  std::uint64_t end_part = 3;
  /// [events] that a program may print while it ends
  std::ptrdiff_t ending_events = 3;
  /// [lines] a stack behind the last usual line may be so long
  std::uint64_t closing_stack_lines = 64;
  /// [lines] a line printed more often on a stream is of the program's usual work
  std::uint64_t often_times = 8;
};

inline const Crash& crash() {
  return in_force<Crash>;
}

}  // namespace l4::numbers
