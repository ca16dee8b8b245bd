// Alerts of an aggregator as they come.
//
// Flow: a thread follows the aggregator's stream of events -> take() on the owner's thread, which
// waits for descriptor(). While the stream cannot be had, the list of open incidents is asked for
// twice a second. End the aggregator before the feed: its thread ends at the latest with the next
// event or with the connection. Bounds: those of EventReader, 10,000 alerts that were not taken.
#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/base/descriptor.h"
#include "common/base/mutex.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"

namespace l4::commands::demo {

class Feed {
 public:
  explicit Feed(ask::Aggregator asked);

  /// Becomes readable when there is something to take.
  int descriptor() const { return arrived_.number(); }
  /// The changes of incidents since the last call, oldest first.
  std::vector<ask::ChangeRow> take();

 private:
  void run(const std::stop_token& stop);
  void follow(const std::stop_token& stop);
  void ask_for_open();
  void add(ask::ChangeRow change);

  ask::Aggregator asked_;
  Descriptor arrived_;
  std::set<std::string> known_;  ///< incidents that were told; of the thread
  Mutex mutex_;
  std::vector<ask::ChangeRow> changes_ L4_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace l4::commands::demo
