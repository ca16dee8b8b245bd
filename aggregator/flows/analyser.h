// Jobs, parallelism, steps and faults out of flow records, as they come.
//
// Place in the flow: decode/ -> add(record) -> results(). Records come in the order of their
// export. Learning needs a window: rows are kept until there are enough or `learn_now` is called,
// then the jobs in them are followed record by record, from the first kept row on. One owner, one
// thread. No clock: "now" is the latest end of a record. Bounds: those of StreamTable, kJobsMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "aggregator/flows/followed_job.h"
#include "aggregator/flows/job_flows.h"
#include "aggregator/flows/learn.h"
#include "aggregator/flows/losses.h"
#include "aggregator/flows/streams.h"
#include "aggregator/flows/topology.h"

namespace l4::flows {

struct AnalyserSettings {
  ExporterSettings exporter;
  /// Rows of 32 bytes that learning may use; when so many are there, jobs are learned.
  std::size_t rows_max = 8'000'000;
  KeptOfJob kept{};
  /// Nothing is learned unless it is asked for, not even when the rows are there.
  bool learns_when_asked = false;
};

class Analyser {
 public:
  static constexpr std::size_t kJobsMax = 4096;

  /// `topology` must outlive the analyser.
  Analyser(const Topology& topology, const AnalyserSettings& settings);
  ~Analyser();
  Analyser(const Analyser&) = delete;
  Analyser& operator=(const Analyser&) = delete;

  void add(const FlowRecord& record);
  /// What the exporter says of itself, where nobody else does.
  void announce(const ExporterSettings& told);
  /// One packet in so many is seen: as told, else as the packet counts show.
  std::uint32_t sampling() const;
  /// Looks for jobs among streams that no job has.
  void learn_now();
  /// Of records that go on: judges at `now` who is silent, and drops what was silent for `forget`.
  void watch(TimeNs now, TimeNs forget);
  /// Learns, also jobs anew that have no step clock or whose cards have got further streams.
  void learn_further();
  /// The same a part of the network at a time, so that records can be taken in between: what there
  /// is to learn is listed here.
  void begin_learning();
  /// Learns parts of about `rows_max` rows, at least one. False: nothing of the list is left.
  bool learn_some(std::size_t rows_max);
  /// So many rows came of no job that the oldest are about to be lost.
  bool is_full() const { return since_learned_ >= settings_.rows_max; }
  /// The latest end of a record.
  TimeNs now() const { return now_; }
  /// Null where a job was dropped.
  const std::vector<std::unique_ptr<FollowedJob>>& jobs() const { return jobs_; }
  AnalyserCounts counts() const;
  /// No more records will come, or as if none did: what is open is judged by the clock of the rows.
  FlowReport finish();

 private:
  void add_other(const FlowRecord& record);
  void add_storage(const FlowRecord& record);
  std::uint32_t add_job(JobPlan plan, const ExporterSettings& exporter);
  std::string name_for(const JobPlan& plan);
  void replay(const std::set<std::uint32_t>& made);
  void release(std::uint32_t index);
  std::set<std::uint32_t> outgrown() const;
  ExporterSettings told_and_seen() const;
  void learn_of(const StreamList& streams);
  std::vector<TimeNs> others() const;
  void watch_packets(std::uint64_t packets);

  const Topology* topology_;
  AnalyserSettings settings_;
  StreamTable table_;
  Losses losses_;
  std::vector<std::unique_ptr<FollowedJob>> jobs_;
  std::map<std::uint32_t, std::uint64_t> named_;  ///< card -> number of the last job that had it
  std::uint64_t names_ = 0;
  std::deque<StreamList> to_learn_;        ///< parts of the network
  std::set<std::uint32_t> outgrown_;       ///< jobs that are learned anew with their part
  std::deque<FlowRecord> writes_;          ///< to storage, before jobs are known
  std::uint64_t common_packets_ = 0;       ///< greatest common divisor of the first packet counts
  std::set<std::uint64_t> packet_counts_;  ///< some that were seen
  std::uint64_t records_ = 0, since_learned_ = 0;
  TimeNs first_ = 0, now_ = 0;
};

}  // namespace l4::flows
