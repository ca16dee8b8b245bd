// The streaming pipeline over a folder: one in-process agent per node, one aggregator core.
//
// Place in the flow: discover -> agents on worker threads -> memory transport -> receive thread ->
// JobState. Live uses the same rooms; only the ends differ. The result does not depend on the
// number of threads: an agent is read by one worker from begin to end, and the job's state does not
// depend on the order in which agents report.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/discover/discover.h"
#include "agent/node_agent.h"
#include "aggregator/job/job_state.h"
#include "offline/progress.h"

namespace l4::offline {

/// Bounds over all agents of a job; an agent's part grows with the bytes it reads.
struct Shares {
  std::size_t templates_max = 120'000;
  std::size_t sequence_events_max = 32'000'000;  ///< an equal part for each agent
};

/// Options of an agent that reads `bytes` of the `all` bytes of a job.
agent::Options share_of(const agent::Options& options, const Shares& shares, std::uint64_t bytes,
                        std::uint64_t all);

struct Options {
  std::string layout;
  std::filesystem::path private_folder;  ///< see discover::Options
  agent::Options agent;
  Shares shares;
  unsigned threads = 1;
  std::uint32_t job_index = 0;  ///< different for each job that shares a TemplateTable
};

/// A job read to its end, with the agents that can still recall its lines.
struct Job {
  std::unique_ptr<job::JobState> state;
  std::vector<std::unique_ptr<agent::NodeAgent>> agents;
  bool mtimes_equal = false;
  std::vector<std::string> rejected;  ///< messages the aggregator could not take
};

/// Error only if nothing could be read at all.
Result<Job> read_job(const std::vector<std::filesystem::path>& paths,
                     const segment::RulePackSet& packs, job::TemplateTable& templates,
                     const Options& options, Progress& progress);

}  // namespace l4::offline
