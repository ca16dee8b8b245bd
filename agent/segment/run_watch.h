// Tells where a new run begins in a file that holds several one after another.
//
// Place in the flow: JobPipeline asks it for every record, before the segmenter takes it.
// Two things begin a run: an iteration number that falls far behind the one before, and a banner (a
// line that a rule pack calls so) said again after the run it began had gone on and had come to
// something: an iteration, an end, an error. Numbers that fall because an epoch begins are no
// concern here: EpochCounter has added them up. Numbers that jump to and fro do not count the
// iterations of anything, and begin no runs (restless()).
// One per file, one thread; a few numbers and one entry per banner and speaker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "agent/segment/segmenter.h"

namespace l4::segment {

class RunWatch {
 public:
  /// True if this record is the first of a new run. `mark` is what Segmenter::mark_of said of it;
  /// ask that of the new run's segmenter again.
  bool begins(std::size_t speaker, const TemplateTraits& traits, Level level,
              const std::optional<IterationMark>& mark);
  /// One in four of the last numbers, or more, was far smaller than the one before it although
  /// nothing had started in between: no mark says how far the run is.
  bool restless() const { return jumps_.restless; }

 private:
  void note_jump(std::size_t speaker, const IterationMarker* marker, std::int64_t number);

  bool falls(std::size_t speaker, const TemplateTraits& traits, const IterationMark& mark);
  bool repeats(std::size_t speaker, const LiteralRule* banner);

  /// Who counts the run's iterations: the first that marked one.
  struct Leader {
    std::size_t speaker = 0;
    const IterationMarker* marker = nullptr;  ///< null if it was learned
    std::int64_t first = 0, last = 0;
    std::int64_t stride = 1;
  };
  /// How the numbers of one marker jump, also from run to run.
  struct Jumps {
    std::size_t speaker = 0;
    const IterationMarker* marker = nullptr;
    std::optional<std::int64_t> last;
    int numbers = 0, back = 0;  ///< of the block
    bool started = false;       ///< something started since the last number: it may fall
    bool restless = false;
  };
  std::optional<Leader> leader_;
  Jumps jumps_;
  std::map<std::pair<std::size_t, const LiteralRule*>, std::uint64_t> banners_;  // record said in
  std::uint64_t records_ = 0;
  bool came_to_something_ = false;
};

}  // namespace l4::segment
