// Hints about the link that only this host can give: the aggregator's name that cannot be
// resolved, and a clock that differs from the aggregator's by more than a minute.
//
// Flow: Agent::step -> poll -> the agent's log, each once until it is over. The name is looked up
// by glibc (getaddrinfo_a), which never makes the caller wait, while no connection comes about:
// after five seconds, then each minute. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/daemon/own_log.h"
#include "common/base/time.h"

namespace l4::daemon {

class LinkHints {
 public:
  /// `endpoint`: tcp://HOST:PORT. `log` outlives this.
  LinkHints(std::string endpoint, OwnLog& log, Millis now);
  ~LinkHints();
  LinkHints(const LinkHints&) = delete;
  LinkHints& operator=(const LinkHints&) = delete;

  /// `offset`: to be added to this host's clock to get the aggregator's; empty: not known yet.
  void poll(bool connected, std::optional<Millis> offset, Millis now);

 private:
  struct Lookup;

  void poll_name(bool connected, Millis now);
  void poll_clock(Millis offset, Millis now);

  std::string endpoint_;
  OwnLog& log_;
  Millis lookup_at_;
  std::unique_ptr<Lookup> lookup_;
  bool clock_differs_ = false;
};

}  // namespace l4::daemon
