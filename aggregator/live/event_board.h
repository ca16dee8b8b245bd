// Changes of incidents and jobs, for clients that follow them as server-sent events. Flow: shards
// and alerts publish -> a ring of the newest events -> the open streams of clients
// (http::EventStream), each for one job, or for all that may be seen. Events are numbered; an id is
// the incarnation of this program and the number. A client that reconnects with an id gets the
// events since, with the event `lost` first if some of them are no longer kept. Any thread. Bounds:
// EventOptions; the stream of a client that reads too slowly is ended and counted, and no other
// client waits for it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/http/event_stream.h"
#include "aggregator/http/job_limit.h"
#include "common/base/mutex.h"

namespace l4::live {

struct EventOptions {
  std::size_t ring_max = 4'096, ring_bytes_max = 8 << 20;
  std::size_t waiting_bytes_max = 1 << 20;  ///< for one client, beside the events sent at its start
  std::size_t streams_max = 64;
};

/// What a client follows.
struct Following {
  std::string job = {};      ///< empty: all jobs, and the fleet
  http::JobLimit jobs = {};  ///< those that the client may see; with a limit nothing of the fleet

  bool concerns(const std::string& of) const {
    return (job.empty() || job == of) && jobs.includes(of);
  }
};

struct EventCounts {
  std::uint64_t published = 0;
  std::uint64_t streams = 0;  ///< open now
  std::uint64_t dropped = 0;  ///< streams ended because their clients read too slowly
};

class EventBoard {
 public:
  EventBoard(std::uint64_t incarnation, EventOptions options)
      : incarnation_(incarnation), options_(options) {}

  /// `data`: JSON on one line; `job` may be empty.
  void publish(std::string_view type, const std::string& job, std::string_view data);
  /// A stream of what is followed. `since`: the last id that the client saw, or
  /// empty. Null: too many streams are open, or the board has ended.
  std::shared_ptr<http::EventStream> open(Following following, std::string_view since);
  /// All streams end once their events are sent; no more are opened.
  void end();
  EventCounts counts() const;

 private:
  struct Event {
    std::string job, text;
  };
  struct Follower {
    Following following;
    std::weak_ptr<http::EventStream> stream;
  };
  std::string id_of(std::uint64_t number) const;
  std::string missed(const Following& following, std::string_view since) const L4_REQUIRES(mutex_);
  void forget_gone() L4_REQUIRES(mutex_);

  const std::uint64_t incarnation_;
  const EventOptions options_;
  mutable Mutex mutex_;
  std::deque<Event> ring_ L4_GUARDED_BY(mutex_);  ///< the newest has the number `last_`
  std::size_t ring_bytes_ L4_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_ L4_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ L4_GUARDED_BY(mutex_) = 0;
  std::vector<Follower> followers_ L4_GUARDED_BY(mutex_);
  bool ended_ L4_GUARDED_BY(mutex_) = false;
};

}  // namespace l4::live
