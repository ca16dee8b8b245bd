// The parts of the live aggregator. Private to this room: aggregator.cc puts them together and
// takes them apart, questions.cc asks them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aggregator/collect/collector.h"
#include "aggregator/intake/intake.h"
#include "aggregator/live/aggregator.h"
#include "aggregator/live/network_desk.h"
#include "aggregator/past/past_desk.h"
#include "common/base/mutex.h"

namespace l4::live {

struct Aggregator::Impl {
  Impl(Options given, Surroundings around)
      : options(std::move(given)),
        outside(std::move(around)),
        board(options.server.incarnation, options.events) {
    if (!outside.warn) outside.warn = outside.say;
  }

  scoring::Shard& shard_of(const std::string& job) {
    return *shards[std::hash<std::string>{}(job) % shards.size()];
  }
  scoring::Services services();
  Result<void> send(const alert::Alert& alert, const store::Incident* incident);
  std::unique_ptr<confirm::FaultBook> make_fault_book();
  store::StoreEvents events();
  std::size_t restored();
  Result<void> open_collector();
  Health health() const;
  void keep_watch();
  void watch(const std::stop_token& stop);
  void audit_lines(const fetch::LinesQuery& query,
                   const std::expected<fetch::LinesResult, fetch::LinesProblem>& result);

  /// Without what the receiving thread knows.
  Status status() const;

  Options options;
  Surroundings outside;
  EventBoard board;
  std::unique_ptr<store::Store> store;  // outlives all that uses it
  std::unique_ptr<alert::Alerter> alerter;
  std::shared_ptr<scoring::Totals> totals = std::make_shared<scoring::Totals>();
  std::unique_ptr<confirm::FaultBook> faults;  // outlives the shards, which answer its questions
  std::unique_ptr<pool::PoolBook> pool;
  std::unique_ptr<past::PastDesk> past;  // the shards pass questions on to it
  std::vector<std::unique_ptr<scoring::Shard>> shards;
  std::unique_ptr<intake::StoreLedger> ledger;
  std::unique_ptr<intake::Intake> intake;
  std::atomic<intake::Intake*> hears{nullptr};  // woken by the store's threads
  std::atomic<bool> accepting{true};
  Mutex lines_mutex;
  fetch::LinesCounts lines L4_GUARDED_BY(lines_mutex);
  HealthWatch health_watch;  // used by the watching thread, or by step_all
  Millis watched{0};
  std::unique_ptr<NetworkDesk> networks;              ///< used by the collector's thread
  std::unique_ptr<collect::FlowCollector> collector;  ///< null: no flow records are received
  std::vector<std::jthread> threads;
  std::jthread watcher, flows;
  bool stopped = false;
  TimeMs started{};
};

}  // namespace l4::live
