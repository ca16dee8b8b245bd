// Everything known of one job: its agents, sources, counts, iterations, what was read.
//
// Place in the flow: aggregator/receive applies batches here; aggregator/job/view.h reads it.
// Batches of different agents may come in any order: the state is the same. One thread (a job
// belongs to one scoring thread). Memory is bounded by streams x templates that their
// agents remember, and by kRunsKept runs of a file, not by input.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "aggregator/cards/nic_table.h"
#include "aggregator/job/process_table.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/unify.h"
#include "aggregator/vectors/node_vectors.h"
#include "aggregator/vectors/tally.h"
#include "common/base/error.h"
#include "common/wire/batch.h"

namespace l4::job {

/// One agent's slice of the state: its streams by SourceId, and the names and ids that are local to
/// the agent.
struct AgentSlice {
  std::string name;
  std::uint32_t node_index = 0;  ///< key in the TemplateTable
  std::map<std::uint32_t, Stream> streams;
  /// Sources by path and run.
  std::map<std::string, std::map<std::uint32_t, std::vector<std::uint32_t>>> runs;
  std::uint32_t sources_end = 0;                ///< every id below was defined at some time
  std::map<std::uint32_t, std::uint8_t> marks;  // by local template
  SequencePool sequences;
  std::vector<vectors::NodeVectors> vectors;          ///< by Stream::vectors
  std::vector<wire::TimerName> timers;                // by id
  std::map<std::uint64_t, std::size_t> files;         ///< index into coverage(), by FileId::key
  ProcessTable processes;                             ///< live only
  cards::NicTable nics;                               ///< live only
  std::map<std::string, wire::FileReading> readings;  ///< by path, at most kReadingsMax
};

/// How many of the newest runs of a file are kept.
inline constexpr std::uint32_t kRunsKept = 32;

/// Files of an agent of which is kept how well they were understood.
inline constexpr std::size_t kReadingsMax = 4096;

/// Bounds of one agent's slice of a job. Beyond them the oldest is dropped first.
struct Limits {
  /// Iterations of all sources of the job together: each source keeps its share, and at least
  /// kIterationsLeast.
  std::size_t iterations = SIZE_MAX;
  /// A softer bound: beyond it, each source may still keep `iterations_enough`, up to the bound
  /// above.
  std::size_t iterations_soft = SIZE_MAX;
  std::size_t iterations_enough = Stream::kIterationsMax;
  std::size_t sequence_events = 4'000'000;  ///< events in all its sequences together
  std::size_t processes = 4'096;
};

class JobState {
 public:
  /// `templates` is shared by all jobs that are compared with each other; it must outlive them.
  /// `job_index` keeps agents of the same name in different jobs apart in that table.
  JobState(std::string id, std::uint32_t job_index, TemplateTable& templates, Limits limits = {})
      : id_(std::move(id)), job_index_(job_index), templates_(templates), limits_(limits) {}

  /// Error if the batch refers to a source that was never defined; the part applied before stays,
  /// and the caller counts the rest as lost.
  Result<void> apply(const wire::Batch& batch);

  /// Adds warnings from the search for input, which comes before any agent.
  void note(std::vector<wire::Warning> warnings);

  const std::string& id() const { return id_; }
  const std::map<std::string, AgentSlice>& agents() const { return agents_; }
  /// Byte ranges that were read. A file with a key has one entry, which is as long as all bytes
  /// that were read of the file and ends where reading ended.
  const std::vector<wire::Coverage>& coverage() const { return coverage_; }
  const std::vector<wire::Warning>& warnings() const { return warnings_; }
  /// Templates that the agents dropped, and lines that they grouped by half of their words in a
  /// flood.
  std::uint64_t forgotten() const { return forgotten_; }
  std::uint64_t lines_by_half() const { return lines_by_half_; }
  TemplateTable& templates() const { return templates_; }
  const TuplePool& tuples() const { return tuples_; }

  /// Everything but the limits and the templates; the templates are saved beside it (saved_job.h).
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  AgentSlice& agent_of(const std::string& name);
  void define(AgentSlice& agent, const wire::SourceDefinition& source);
  void drop(AgentSlice& agent, const std::vector<std::uint32_t>& sources);
  static std::uint32_t vectors_of(AgentSlice& agent, const wire::SourceDefinition& source);
  Result<void> apply_segments(AgentSlice& agent, const wire::Batch& batch);
  void count(AgentSlice& agent, const Stream& stream, const wire::Segment& segment);
  void add_counts(AgentSlice& agent);
  std::size_t iterations_kept() const;
  std::size_t windows_kept() const;
  void apply_nics(AgentSlice& agent, const wire::Batch& batch);
  void apply_figures(AgentSlice& agent, const wire::Batch& batch) const;
  void cover(AgentSlice& agent, const wire::Coverage& coverage);
  void forget(AgentSlice& agent, const std::vector<LocalTemplateId>& ids);

  std::string id_;
  std::uint32_t job_index_;
  TemplateTable& templates_;
  Limits limits_;
  std::map<std::string, AgentSlice> agents_;
  TuplePool tuples_;
  std::vector<wire::Coverage> coverage_;
  std::vector<wire::Warning> warnings_;
  std::uint64_t forgotten_ = 0, lines_by_half_ = 0;
  std::size_t sources_ = 0, nics_ = 0;
  vectors::Tally counted_;  // of the batch that is applied
};

}  // namespace l4::job
