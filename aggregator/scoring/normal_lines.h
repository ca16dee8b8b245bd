// Lines of healthy jobs, which the pattern of a fault must not match.
// Flow: FaultBook -> each shard, on its thread, for each of its jobs, and the pool of healthy runs
// -> here -> judge(). Normal lines are all templates of a job that never failed, all events of a
// run in the pool, and those events of the failed job that have level information and are in no
// report. Each template of a job is checked once, and so is a text that several runs share. Bounds:
// `templates_max` for each shard and for the pool, beyond which the answer says that it is not
// complete; kLinesMax lines and kNearMax near misses are kept. No state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/faults/library.h"
#include "aggregator/pool/pool_book.h"
#include "aggregator/scoring/live_job.h"

namespace l4::scoring {

/// A line as it stands somewhere: in a job, or in the fault library.
struct SeenLine {
  std::string where, text;
};

/// The answer of one shard or of the pool; the answers are added up.
struct NormalLines {
  static constexpr std::size_t kLinesMax = 20, kNearMax = 2;

  std::uint64_t jobs = 0, runs = 0, templates = 0, matching = 0;
  bool complete = true;                              ///< no bound was reached
  std::vector<SeenLine> lines;                       ///< the first lines that match
  std::vector<std::pair<double, std::string>> near;  ///< lines that do not match, most alike first

  void add(NormalLines other);
};

/// The question; shared by shards, which do not change it.
struct NormalQuestion {
  std::shared_ptr<const faults::Library> fault;  ///< the proposed fault alone
  std::string job;                               ///< the failed job
  std::vector<TemplateId> told;                  ///< events of the failed job's report
  std::vector<std::string> words;                ///< words of the line that shows it, sorted
  std::uint64_t templates_max = 200'000;
};

void scan(const LiveJob& job, bool is_suspect, const NormalQuestion& question, NormalLines& found);
/// Runs of the pool.
NormalLines scan(const std::vector<pool::PoolBook::Row>& runs, const NormalQuestion& question);

}  // namespace l4::scoring
