// The agent of one node: reads its files, parses them with its own Drain tree, ships batches.
//
// Place in the flow: files -> agent/pipeline -> transport; afterwards it answers recall requests
// from the same files. Offline, one NodeAgent runs for each node that was found; a live agent
// (agent/daemon) feeds the same pipeline from the tailer. Used by one thread at a time; owns its
// pipeline and index. Input that it cannot read becomes a warning in a batch, never an abort.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/discover/discover.h"
#include "agent/pipeline/job_pipeline.h"
#include "agent/recall/recall.h"
#include "agent/segment/rule_pack.h"
#include "common/wire/transport.h"

namespace l4::agent {

using Options = pipeline::Options;

/// Facts about one file, for `l4 inspect`.
struct FileFacts {
  std::string name, node, time_format;
  std::uint64_t bytes = 0, lines = 0, lines_with_time = 0, lines_with_rank = 0;
  std::size_t rotated = 0;  ///< older files that were read before it
  std::vector<Rank> ranks;
  std::string iteration_marker;  ///< text of the marker's template; empty if none
  /// Lines that several writers have written, and the pieces of these lines beyond the first.
  std::uint64_t glued_lines = 0, further_pieces = 0;
  std::uint64_t joined_lines = 0;  ///< lines that were joined to JSON records
  std::uint64_t wide_lines = 0;    ///< lines of UTF-16 among other text
};

class NodeAgent {
 public:
  /// `packs` must outlive the agent. `name` must be unique among the agents of a job. `job_time`: a
  /// time that another node of the job prints.
  NodeAgent(std::string name, std::vector<discover::LogFile> files,
            const segment::RulePackSet& packs, Options options,
            std::optional<TimeMs> job_time = {});
  ~NodeAgent();
  NodeAgent(NodeAgent&&) noexcept;

  /// Reads every file to its end and ships what it holds. `bytes_done` counts file bytes read.
  void read_all(wire::Sender& sender, std::atomic<std::uint64_t>& bytes_done,
                const std::stop_token& stop);

  /// Releases everything that recall() and facts() do not need; nothing may be read afterwards.
  void freeze();

  /// The lines of the requested templates, in the order of sources and lines. Learns nothing.
  std::vector<recall::Hit> recall(const recall::Request& request) const;

  const std::string& name() const;
  std::vector<FileFacts> facts() const;
  /// Rule packs that knew a line of these files.
  std::vector<std::string> frameworks() const;

  struct State;  ///< private to node_agent.cc

 private:
  std::unique_ptr<State> state_;
};

}  // namespace l4::agent
