// A job made by hand: the lines of its ranks, as the batches that agents would have sent.
//
// One agent per node, one source per rank, one segment per call. Rank r stands on node-(r / ranks
// per node). Times are milliseconds from `kBegin`. For tests of everything above wire::Batch.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/job/job_state.h"
#include "aggregator/job/view.h"

namespace l4::job::test {

inline const TimeMs kBegin = from_civil(2024, 3, 5, 10, 0, 0, 0);
inline TimeMs after(std::int64_t ms) {
  return kBegin + Millis{ms};
}

struct Say {
  std::string text;
  Level level = Level::info;
  std::uint8_t marks = 0;
};

class MadeJob {
 public:
  explicit MadeJob(int nodes, int ranks_per_node = 1);

  /// Timers 0, 1, 2: the rank's own work, waiting, both.
  static constexpr const char* kTimers[] = {"forward", "allreduce", "backward"};

  /// A further timer of all agents that a rule pack names, and one that none does.
  void name_timer(std::uint16_t timer, const std::string& name);
  void learn_timer(std::uint16_t timer, const std::string& name);

  int ranks() const { return static_cast<int>(places_.size()); }
  wire::SourceDefinition& source_of(int rank);
  /// A further source of a node: a launcher's, or a second file of a rank.
  wire::SourceDefinition& add_source(int node);

  /// What a node's network cards did.
  wire::NicNews& nics_of(int node) { return agents_.at(static_cast<std::size_t>(node)).batch.nics; }

  /// What the numbers that a node's ranks print were.
  std::vector<wire::FigureWindow>& figures_of(int node) {
    return agents_.at(static_cast<std::size_t>(node)).batch.figures;
  }

  /// One line of a rank in a segment of its own.
  wire::Segment& say(int rank, const Say& say, std::optional<std::int64_t> ms = std::nullopt);
  wire::Segment& say_on(int node, SourceId source, const Say& say,
                        std::optional<std::int64_t> ms = std::nullopt);
  /// A rank completes iteration k.
  wire::Segment& iterate(int rank, std::int64_t k, std::optional<std::int64_t> ms,
                         double forward_ms = 0);
  /// Every rank completes iterations first..last, `pace` apart; k ends at k * pace.
  void iterate_all(std::int64_t first, std::int64_t last, std::int64_t pace = 1000);

  /// One batch per agent, in the order of the nodes.
  std::vector<wire::Batch> batches() const;
  /// The state after all batches; the job keeps it until the next call.
  const JobState& state();
  JobView view(std::int32_t attempt = 0, bool trust_mtimes = false);

 private:
  struct Agent {
    wire::Batch batch;
    std::map<std::string, LocalTemplateId> known;
    std::map<std::uint32_t, std::uint64_t> lines;  // by source
  };
  struct Place {
    std::size_t agent = 0;
    SourceId source;
  };
  static LocalTemplateId define(Agent& agent, const Say& say);

  std::vector<Agent> agents_;
  std::map<int, Place> places_;
  std::unique_ptr<TemplateTable> templates_;
  std::unique_ptr<JobState> state_;
};

/// Place of the event whose text holds `part`; the number of events if there is none.
std::uint32_t event_of(const JobView& view, const std::string& part);

}  // namespace l4::job::test
