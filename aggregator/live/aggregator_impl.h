// The parts of the live aggregator. Private to this room: aggregator.cc puts them together and
// takes them apart, questions.cc asks them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aggregator/live/aggregator.h"
#include "aggregator/live/intake.h"
#include "aggregator/live/past_desk.h"

namespace l4::live {

struct Aggregator::Impl {
  Impl(Options given, Surroundings around)
      : options(std::move(given)),
        outside(std::move(around)),
        board(options.server.incarnation, options.events) {
    if (!outside.warn) outside.warn = outside.say;
  }

  Shard& shard_of(const std::string& job) {
    return *shards[std::hash<std::string>{}(job) % shards.size()];
  }
  Services services();
  Result<void> send(const alert::Alert& alert, const store::Incident* incident);
  std::unique_ptr<FaultBook> make_fault_book();
  store::StoreEvents events();
  std::size_t restored();
  Health health() const;
  void keep_watch();
  void watch(const std::stop_token& stop);
  void tell_lines(const LinesQuery& query, const std::expected<LinesResult, LinesProblem>& result);

  Options options;
  Surroundings outside;
  EventBoard board;
  std::unique_ptr<store::Store> store;  // outlives all that uses it
  std::unique_ptr<alert::Alerter> alerter;
  std::shared_ptr<Totals> totals = std::make_shared<Totals>();
  std::unique_ptr<FaultBook> faults;  // outlives the shards, which answer it
  std::unique_ptr<PoolBook> pool;
  std::unique_ptr<PastDesk> past;  // asked by the shards
  std::vector<std::unique_ptr<Shard>> shards;
  std::unique_ptr<StoreLedger> ledger;
  std::unique_ptr<Intake> intake;
  std::atomic<Intake*> hears{nullptr};  // what the store's threads may ring
  std::atomic<bool> accepting{true};
  std::mutex lines_mutex;
  LinesCounts lines;         // under it
  HealthWatch health_watch;  // of the thread that watches, or of step_all
  Millis watched{0};
  std::vector<std::jthread> threads;
  std::jthread watcher;
  bool stopped = false;
};

}  // namespace l4::live
