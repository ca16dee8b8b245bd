// Passes on what the network shows of jobs: to the jobs whose logs are read, and as alerts of those
// that no agent knows.
//
// Flow: the thread of the flow collector calls look() about each second -> each shard tells its
// jobs, and answers which ones it knows -> of the others this makes incidents, notices and alerts.
// A finding that ends counts as open for some steps more, so that one that comes and goes is one
// incident. One owner, the collector's thread; answers of shards come by their threads. Bounds:
// kJobsMax jobs of the collector.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/detect/network/network.h"
#include "aggregator/scoring/network_job.h"
#include "aggregator/scoring/services.h"
#include "aggregator/scoring/shard.h"
#include "common/base/mutex.h"

namespace l4::live {

class NetworkDesk {
 public:
  /// The shards outlive the desk's calls.
  NetworkDesk(std::vector<scoring::Shard*> shards, scoring::IncidentBook::Options incidents,
              scoring::Services services);

  void look(std::vector<detect::network::Network> networks);
  /// Before the first look: ends what was open when the aggregator ended, since jobs are learned
  /// and named anew.
  void close_left();

 private:
  struct Known {
    std::unique_ptr<scoring::NetworkJob> job;
    std::uint64_t first_round = 0;
    std::map<detect::network::Trouble, TimeMs> open;  ///< when it was last open
  };
  /// Which jobs the shards know, as of which round; shared with calls that are under way.
  struct Answers {
    Mutex mutex;
    std::vector<std::uint64_t> rounds L4_GUARDED_BY(mutex);
    std::vector<std::set<std::string>> known L4_GUARDED_BY(mutex);
  };

  void ask_shards(const scoring::NetworkList& networks);
  static void hold_open(detect::network::Network& network, Known& known, TimeMs now);

  std::vector<scoring::Shard*> shards_;
  scoring::IncidentBook::Options incidents_;
  scoring::Services services_;
  std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  std::map<std::string, Known> jobs_;
  std::uint64_t round_ = 0;
};

}  // namespace l4::live
