// Tells where a new run begins in a file that holds several one after another.
//
// Place in the flow: JobPipeline asks it for every record, before the segmenter takes it.
// Two things begin a run: an iteration number that falls far behind the one before, and a banner (a
// line that a rule pack calls so) said again after the run it began had gone on and had come to
// something: an iteration, an end, an error. Numbers that fall because an epoch begins are no
// concern here: EpochCounter has added them up.
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

 private:
  bool falls(std::size_t speaker, const TemplateTraits& traits, const IterationMark& mark);
  bool repeats(std::size_t speaker, const LiteralRule* banner);

  /// Who counts the run's iterations: the first that marked one.
  struct Leader {
    std::size_t speaker = 0;
    const IterationMarker* marker = nullptr;  ///< null if it was learned
    std::int64_t first = 0, last = 0;
    std::int64_t stride = 1;
  };
  std::optional<Leader> leader_;
  std::map<std::pair<std::size_t, const LiteralRule*>, std::uint64_t> banners_;  // record said in
  std::uint64_t records_ = 0;
  bool came_to_something_ = false;
};

}  // namespace l4::segment
