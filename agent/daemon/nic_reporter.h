// The network cards of the node, told to the jobs that run on it.
//
// Flow: nic::NicWatch reads counters -> here, every two seconds: news -> the pipelines of the jobs
// whose logs grew lately or whose processes live -> their batches. A card belongs to no job: where
// several run, each gets a copy, at most kJobsMax of them. Which ranks of a job use a card is known
// by PCI, or better by lines of NCCL (agent/pipeline/nccl_cards.h): cards are defined again then.
// While the link is behind, seconds are dropped before anything of a log is left out. One thread.
// Does nothing if cards are not watched.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "agent/daemon/jobs.h"
#include "agent/daemon/moment.h"
#include "agent/daemon/settings.h"
#include "agent/nic/nic_watch.h"

namespace l4::daemon {

class NicReporter {
 public:
  static constexpr Millis kShipEvery{2'000}, kQuietMax{900'000};
  static constexpr std::size_t kJobsMax = 4;

  /// `node`: of the definitions. `stopwatch` measures reads.
  NicReporter(const Settings& settings, const std::string& node,
              nic::NicWatch::Stopwatch stopwatch);

  bool is_on() const { return watch_ != nullptr; }
  void poll(const Moment& now);
  Millis due_at() const { return watch_->due_at(); }

  /// Gives what is due to the jobs; `room`: the link keeps up. `living`: jobs with processes.
  void publish(Jobs& jobs, const std::set<std::string>& living, bool room, Millis steady);
  /// The aggregator knows no card any more.
  void define_again() { told_.clear(); }

  nic::NicWatch::Counts counts() const;
  std::uint64_t dropped() const { return dropped_; }

 private:
  void add_ranks(wire::NicDefinition& card, const pipeline::NcclCards& cards) const;

  std::unique_ptr<nic::NicWatch> watch_;
  std::string node_;
  std::map<std::string, std::uint64_t>
      told_;  // jobs to which the cards were defined; their NcclCards::version
  std::map<std::uint16_t, wire::NicDefinition> known_;
  Millis ship_at_{0};
  std::uint64_t dropped_ = 0;
};

}  // namespace l4::daemon
