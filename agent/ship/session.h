// The agent's end of the link to the aggregator: connects, sends HELLO, ships batches in order,
// keeps them until they are committed, and reconnects after a failure.
//
//   waiting -> connecting -> greeting -> fetching positions -> open -> (trouble) -> waiting
//
// A pure state machine over a ClientPort: it reads no clock and starts no thread; its owner calls
// `step` when the port has something, after an offer, and when the time that `step` returned is
// over. Bounds: the queue's, at most 8 batches under way. A batch is dropped only by `read_from`
// (see pipeline.h), after which its bytes are read again. docs/WIRE.md has the protocol.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/ship/backoff.h"
#include "agent/ship/pipeline.h"
#include "agent/ship/queue.h"
#include "agent/ship/shed.h"
#include "common/wire/clock_filter.h"
#include "common/wire/port.h"

namespace l4::ship {

struct SessionOptions {
  std::string agent, boot_id, software;
  std::uint64_t incarnation = 0;  ///< drawn at random at the start
  std::uint64_t features = 0;
  std::uint16_t version_min = wire::kVersionMin, version_max = wire::kVersionMax;
  QueueOptions queue;
  Millis backoff_first{500}, backoff_most{20'000};
  /// Timeouts of the handshake: doubled with every failed try, so that an aggregator can serve a
  /// thousand agents that connect at once.
  Millis connect_timeout{20'000}, connect_timeout_most{60'000};
  Millis hello_again{2'000}, greeting_timeout{20'000};
  Millis silence_max{15'000};  ///< so long without a message of the aggregator: connect again
  std::uint64_t seed = 0;
};

struct SessionStats {
  std::uint64_t connects = 0, welcomes = 0, resets = 0;  ///< resets: later calls of `read_from`
  std::uint64_t batches_offered = 0, batches_sent = 0, batches_sent_again = 0;
  std::uint64_t batches_committed = 0, batches_refused = 0, bytes_sent = 0;
  std::uint64_t messages_malformed = 0, messages_unknown = 0, messages_stale = 0;
  ShedCounts shed;      ///< what was shed under pressure
  ShedCounts oversize;  ///< what was shed so that a batch fits into a message
};

class Session {
 public:
  enum class State : std::uint8_t { waiting, connecting, greeting, fetching, open, stopped };

  Session(SessionOptions options, wire::ClientPort& port, Pipeline& pipeline);

  /// Receives what has arrived and sends what is due. Returns how long the owner may wait at most.
  Millis step(wire::Instant now);

  /// Whether there is room for a batch. False: read no further, the bytes stay in the files.
  bool has_room() const;
  /// Sheds from the batch what the pressure asks for, encodes it and queues it. `agent`,
  /// `incarnation` and `sequence` are filled in here. Call `step` soon.
  void offer(wire::Batch batch);
  /// How much is shed now: as the fill of the queue asks for, or as `press` does if that is more.
  wire::Shedding pressure() const { return std::max(shedding_at(queue_.fill()), pressed_); }
  /// Sheds at least this much from now on, for another reason than the queue.
  void press(wire::Shedding least) { pressed_ = least; }

  /// A file is gone and all of it is committed: the aggregator may forget its position.
  void release(std::uint64_t file_key);
  /// What the agent's sources miss; sent with each heartbeat from now on.
  void set_hints(std::vector<std::string> hints) { hints_ = std::move(hints); }
  /// Sends an answer if the link is open and has room; otherwise false.
  bool answer(wire::Answer answer);
  /// Sends BYE, and nothing after that. Bytes that are not committed are read by the next agent.
  void stop(const std::string& reason);

  State state() const { return state_; }
  const SessionStats& stats() const { return stats_; }
  const Queue& queue() const { return queue_; }
  std::optional<wire::ClockFilter::Estimate> clock() const { return clock_.estimate(); }
  /// Features of the last WELCOME.
  std::uint64_t features() const { return features_; }

 private:
  struct Ping {
    std::uint64_t number = 0, batches_sent = 0, rewinds = 0;
    wire::Instant sent;
    std::size_t released = 0;
  };

  void read_port();
  void news(const wire::LinkNews& news);
  void receive(const wire::Bytes& message);
  void on(const wire::Welcome& welcome);
  void on(wire::PositionPage page);
  void on(const wire::HeartbeatReply& reply);
  void on(const wire::Ack& ack);
  void on(const wire::Want& want);
  void on(const wire::Refuse& refuse);
  void refused_batch(const wire::Refuse& refuse);

  void keep_going();
  void connect();
  void give_up(const std::string& why, Millis at_least);
  void send_hello();
  void page_arrived(wire::PositionPage page);
  void opened();
  bool knows_positions() const;
  bool fits_held();
  void drop_committed();
  void ship();
  void beat();
  void acknowledged(std::uint64_t number);
  void rewind_to(std::uint64_t number);
  void start_over(const std::string& why);
  void report(const std::string& what, NoticeKind kind = NoticeKind::trouble);
  wire::Sent send(wire::Control message);
  Millis connect_timeout() const;
  Millis next_step() const;

  SessionOptions options_;
  wire::ClientPort& port_;
  Pipeline& pipeline_;
  Queue queue_;
  Backoff backoff_;
  wire::ClockFilter clock_;
  wire::Instant now_;
  State state_ = State::waiting;
  Millis since_{0};     ///< when the state was entered
  Millis retry_at_{0};  ///< end of the wait
  Millis hello_at_{0};  ///< when HELLO or MorePositions was sent last
  Millis heard_at_{0}, beat_at_{0}, disk_at_{0};
  std::uint64_t session_ = 0, sequence_ = 0, features_ = 0, last_sequence_ = 0;
  std::uint64_t sent_ = 0, acked_ = 0, sent_most_ = 0;  ///< numbers of batches in this session
  std::uint64_t rewinds_ = 0;  ///< number of rewinds: a reply to a ping from before a rewind is old
  std::uint64_t pings_made_ = 0;
  std::uint32_t window_ = 0;
  std::vector<std::string> hints_;
  Millis heartbeat_{3'000};
  bool started_ = false, port_full_ = false, start_over_ = false, strikes_ = false;
  std::deque<Ping> pings_;
  std::vector<wire::Position> positions_;             ///< being fetched
  std::map<std::uint64_t, std::uint64_t> committed_;  ///< offsets by file key, of this incarnation
  std::deque<std::uint64_t> released_;
  wire::Shedding pressed_ = wire::Shedding::nothing;
  std::string last_reported_;  ///< the last text that the log did not suppress
  SessionStats stats_;
};

}  // namespace l4::ship
