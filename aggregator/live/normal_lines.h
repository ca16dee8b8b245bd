// What jobs print that are well: lines that the pattern of a fault must not match.
//
// Flow: FaultBook -> each shard, on its thread -> here, for each of its jobs -> judge(). Normal is
// every template of a job that never failed, and of the job that did what it printed as information
// and no report speaks of. Looks at each template once; bounds: kTemplatesMax a shard, kLinesMax
// lines and kNearMax near misses are kept. No state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/faults/library.h"
#include "aggregator/live/live_job.h"

namespace l4::live {

/// A line as it stands somewhere: in a job, or in the fault library.
struct SeenLine {
  std::string where, text;
};

/// Parts of several shards are added up.
struct NormalLines {
  static constexpr std::uint64_t kTemplatesMax = 200'000;
  static constexpr std::size_t kLinesMax = 20, kNearMax = 2;

  std::uint64_t jobs = 0, templates = 0, matching = 0;
  std::vector<SeenLine> lines;                       ///< that match, the first
  std::vector<std::pair<double, std::string>> near;  ///< that do not, most alike first

  void add(NormalLines other);
};

/// What is asked; shared by shards, not changed by them.
struct NormalQuestion {
  std::shared_ptr<const faults::Library> fault;  ///< it alone
  std::string job;                               ///< that failed
  std::vector<TemplateId> told;                  ///< events of its report
  std::vector<std::string> words;                ///< of the line that told of it, sorted
};

void look(const LiveJob& job, bool is_suspect, const NormalQuestion& question, NormalLines& found);

}  // namespace l4::live
