// Tells where a new run begins in a file that holds several runs one after another.
//
// Place in the flow: JobPipeline asks it for every record, before it adds the record to the
// segmenter. A run begins when an iteration number falls far behind the previous one, or when a
// banner (a line that a rule pack declares as such) is printed again after its run had an
// iteration, an end or an error. It also begins when the lines come again with which the file began
// (OpeningLines): at once if something shows that the run before is over (a traceback, an end,
// the word of a batch system, a long pause), else once the next number does not go on. If the
// number goes on, the lines are printed once an epoch, or by a run that was resumed. A program that
// refuses its arguments has only begun, so the iterations and losses before are those of another
// run. Numbers that fall because an epoch begins do not get here, because EpochCounter has
// added them up; those of another marker (another numbering) are not compared. Numbers that jump
// back and forth count no iterations and begin no runs (restless()). One per file, one thread; a
// few numbers and one entry per banner and speaker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/segment/opening_lines.h"
#include "agent/segment/segmenter.h"
#include "common/base/time.h"

namespace l4::segment {

/// What a shell prints of a program that a signal has ended ("Killed", "Aborted (core dumped)"),
/// and a batch system of a job that is over ("*** JOB 7 ON n1 CANCELLED AT <time> ***",
/// "TERM_RUNLIMIT: job killed ..", "=>> PBS: job killed: ..").
bool ends_run(std::string_view text);

class RunWatch {
 public:
  /// What the watch reads of a record.
  struct Line {
    std::size_t speaker = 0;
    LocalTemplateId id;
    Level level = Level::unknown;
    bool folded = false;         ///< several lines, such as a traceback
    bool refused = false;        ///< a program refuses its arguments
    std::optional<TimeMs> time;  ///< the printed time
  };

  /// True if this record is the first of a new run. `mark` is the result of Segmenter::mark_of; the
  /// caller then asks the new run's segmenter for the mark again.
  bool begins(const Line& line, const TemplateTraits& traits,
              const std::optional<IterationMark>& mark);
  /// True if at least one in four of the last numbers was far smaller than its predecessor although
  /// nothing had started in between: the marks then say nothing about progress.
  bool restless() const { return jumps_.restless; }

 private:
  void note_jump(std::size_t speaker, const IterationMark& mark);

  bool falls(std::size_t speaker, const IterationMark& mark);
  bool repeats(std::size_t speaker, const LiteralRule* banner);
  bool opens(const Line& line);
  bool opens_again(const Line& line);
  void note_time(const Line& line);
  void note_end(const Line& line, const TemplateTraits& traits);

  /// The speaker that counts the run's iterations: the first that marked one.
  struct Leader {
    std::size_t speaker = 0;
    const IterationMarker* marker = nullptr;  ///< null if it was learned
    std::uint16_t numbering = 0;
    std::int64_t first = 0, last = 0;
    std::int64_t stride = 1;
  };
  /// How the numbers of one marker jump, also from run to run.
  struct Jumps {
    std::size_t speaker = 0;
    const IterationMarker* marker = nullptr;
    std::uint16_t numbering = 0;
    std::optional<std::int64_t> last;
    int numbers = 0, back = 0;  ///< numbers of the current block, and those that fell far
    bool started = false;       ///< something started since the last number, so the next may fall
    bool restless = false;
  };
  /// What is known of the file whatever run is on.
  struct File {
    OpeningLines opening;
    bool opened = false;    ///< the opening is over
    bool sound = false;     ///< it is that of a run: the first number behind it is one of a begin
    bool judged = false;    ///< the distance of two numbers told so
    bool numbered = false;  ///< the file has had a number
    Millis pause{0};        ///< the longest so far
    std::optional<TimeMs> time;
  };
  std::optional<Leader> leader_;
  Jumps jumps_;
  File file_;
  std::map<std::pair<std::size_t, const LiteralRule*>, std::uint64_t>
      banners_;                            // last record of each banner
  std::uint64_t records_ = 0, first_ = 0;  ///< records of the file; before the run's first
  bool came_to_something_ = false;
  bool worked_ = false;          ///< the run printed an iteration, a loss or a rate
  bool ended_ = false;           ///< something showed an end, and no number grew since then
  bool paused_ = false;          ///< the lines that come again stand behind a long pause
  std::optional<TimeMs> begin_;  ///< the first printed time of the run
};

}  // namespace l4::segment
