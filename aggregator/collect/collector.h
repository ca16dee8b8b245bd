// Flow records over UDP, live: received, decoded, and the jobs in them followed.
//
// Flow: exporters (IPFIX, NetFlow v9) -> Datagrams -> ExportDecoder -> Analyser -> answers of
// `GET .../flows`, /metrics. One thread, `l4-flows`, owns all of it and shares nothing with the
// threads of logs: how much comes in here does not delay a batch. Nothing is kept on disk; after a
// restart jobs are learned from what comes next. `step` is for the owning thread or for a test;
// `call`, `counts` and `wake` are for any. Bounds: those of the rooms below, kCallsMax calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "aggregator/collect/collect.h"
#include "aggregator/collect/datagrams.h"
#include "aggregator/detect/network/network.h"
#include "aggregator/flows/analyser.h"
#include "aggregator/flows/decode/export_packets.h"
#include "aggregator/flows/topology.h"
#include "common/base/bounded_queue.h"
#include "common/base/mutex.h"

namespace l4::collect {

class FlowCollector {
 public:
  static constexpr std::size_t kCallsMax = 256;
  /// Of steps a page draws up to a thousand; lists of their ends are read by nobody here.
  static constexpr flows::KeptOfJob kKept{2, 1'000};

  struct Hooks {
    std::function<TimeMs()> now;  ///< by the wall clock
    std::function<void(const std::string&)> say, warn;
    std::function<Millis()> steady = {};  ///< for stepped(); empty: it stays 0
    /// About once a second, on the owning thread, once records have come.
    std::function<void(const FlowCollector&)> looked = {};
  };
  using Call = std::function<void(const FlowCollector&)>;

  /// Error: the address cannot be listened at, or the topology cannot be read.
  static Result<std::unique_ptr<FlowCollector>> open(const CollectOptions& options, Hooks hooks);

  /// Takes what is there, waiting at most `most`; once a second it looks after the jobs.
  void step(Millis most);
  void run(const std::stop_token& stop);
  /// Runs `call` on the owning thread soon; false: too much waits.
  bool call(Call call);
  void wake() { datagrams_->wake(); }
  CollectCounts counts() const;
  /// Steady time of the last step. Any thread.
  Millis stepped() const { return Millis{stepped_.load()}; }
  std::uint16_t port() const { return datagrams_->port(); }

  // The owning thread.

  std::vector<flows::JobFlows> jobs() const;
  const flows::Topology& topology() const { return topology_; }
  /// What the records show of each job, for alerts and diagnoses.
  std::vector<detect::network::Network> networks() const;

 private:
  FlowCollector(const CollectOptions& options, Hooks hooks, flows::Topology topology,
                std::unique_ptr<Datagrams> datagrams);
  void take(const flows::Address& from, std::string_view bytes);
  void add(const flows::FlowRecord& record);
  void look_after();
  void learn_some();
  void publish();

  CollectOptions options_;
  Hooks hooks_;
  flows::Topology topology_;
  std::unique_ptr<Datagrams> datagrams_;
  std::set<flows::Address> allowed_;
  flows::decode::Exporters exporters_;
  flows::decode::ExportDecoder decoder_;
  flows::Analyser analyser_;
  flows::decode::Sink sink_;
  BoundedQueue<Call> calls_;
  flows::Address last_from_;
  std::string last_name_;  ///< of last_from_
  TimeMs wall_{}, looked_{}, learned_{}, heard_{}, learned_some_{};
  bool is_learning_ = false;       ///< parts of the network are left to be learned
  std::uint64_t jobs_before_ = 0;  ///< before learning began
  flows::TimeNs latest_allowed_ = 0, learned_to_ = 0;
  std::size_t told_ = 0;  ///< complaints that were logged
  CollectCounts own_;
  std::chrono::nanoseconds busy_{0};
  std::atomic<std::int64_t> stepped_{0};
  mutable Mutex mutex_;
  CollectCounts published_ L4_GUARDED_BY(mutex_);
};

}  // namespace l4::collect
