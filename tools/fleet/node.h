// One simulated node: an agent's session that ships the lines of the script.
//
// Flow: JobPlan -> speech -> ship::Session -> LossyPort -> the port. The session is that of
// l4-agent: batches, positions, spool and back-off behave as there (without a spool on disk). A
// node that is lost drops everything without a word; when its job starts again it comes back as a
// new agent. One thread; no clock. Bounds: those of ship::Session.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/ship/session.h"
#include "tools/fleet/lossy_port.h"
#include "tools/fleet/speech.h"

namespace l4::fleet {

/// The sum of the counts of two sessions.
void add(ship::SessionStats& sum, const ship::SessionStats& part);

class Node final : public ship::Pipeline {
 public:
  using MakePort = std::function<std::unique_ptr<LossyPort>(std::uint64_t seed)>;

  /// Speaks `phase` after each second of the fleet, which begins at `begin`.
  Node(PlannedNode planned, wire::Instant begin, Millis phase, MakePort make_port,
       std::uint64_t seed);

  /// Ships the batches that are due, at most `batches`, and reads the messages that have come.
  /// Returns the time of the next call if no message comes before.
  Millis step(wire::Instant now, std::size_t batches = 4);
  /// Readable when something has come; -1 while the node is away. Changes with each life.
  int wait_fd() const { return port_ ? port_->wait_fd() : -1; }
  /// The first second that was not shipped yet.
  std::int64_t next_second() const { return shipped_.next; }
  std::uint64_t lives() const { return lives_; }
  void stop(const std::string& reason);

  const std::string& name() const { return planned_.name; }
  bool is_away() const { return session_ == nullptr; }
  bool is_connected() const { return session_ && session_->state() == ship::Session::State::open; }
  /// "waiting", "connecting", "greeting", "fetching", "open", "stopped" or "away".
  std::string_view state() const;
  /// The newest line that its agent would write to its log.
  const std::string& last_notice() const { return last_notice_; }
  /// True if the aggregator has counted all that was due up to the last step.
  bool is_level() const { return is_away() || (is_connected() && session_->queue().size() == 0); }
  /// The counts over all starts of the agent.
  ship::SessionStats stats() const;
  LossyPort::Counts link() const;
  std::size_t held() const { return session_ ? session_->queue().size() : 0; }

  void read_from(const std::vector<wire::Position>& committed) override;
  void committed(const std::vector<wire::Coverage>&) override {}
  void question(const wire::Ask&) override {}
  bool notify(ship::NoticeKind, std::string_view what) override {
    last_notice_ = what;
    return true;
  }

 private:
  void begin_life();
  void end_life();

  PlannedNode planned_;
  wire::Instant begin_;
  Millis phase_;
  MakePort make_port_;
  std::uint64_t seed_;
  std::uint64_t lives_ = 0;
  bool positions_known_ = false;
  Shipped shipped_;
  std::string last_notice_;
  std::unique_ptr<LossyPort> port_;
  std::unique_ptr<ship::Session> session_;
  ship::SessionStats past_;
  LossyPort::Counts past_link_;
};

}  // namespace l4::fleet
