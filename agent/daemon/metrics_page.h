// The agent's figures over HTTP, for Prometheus: one page, served from the agent's own loop.
//
// Flow: Prometheus -> here -> text that the owner renders. No thread: the owner polls what
// `wait_for` names, and calls `serve`, which never waits. Each connection gets one answer and is
// closed. Bounds: 16 connections, the oldest makes room; 4 KiB a request; 5 s each. The text is
// rendered at most once a second, so that frequent requests cost the node little.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::daemon {

class MetricsPage {
 public:
  static constexpr std::size_t kConnectionsMax = 16, kRequestMax = 4096;
  static constexpr Millis kPatience{5'000}, kRenderEvery{1'000}, kDeafFor{1'000};

  /// Starts to listen. Error: the address does not exist or is taken.
  static Result<MetricsPage> listen(const std::string& address);
  ~MetricsPage();
  MetricsPage(MetricsPage&& other) noexcept;
  MetricsPage& operator=(MetricsPage&&) = delete;

  void wait_for(std::vector<pollfd>& waits) const;
  /// Accepts, reads and sends without waiting; called at least every second.
  void serve(Millis steady, const std::function<std::string()>& render);
  std::uint16_t port() const;
  std::size_t connections() const { return connections_.size(); }

 private:
  struct Connection {
    int socket = -1;
    Millis since{0};
    std::string request, answer;
    std::size_t sent = 0;
  };

  explicit MetricsPage(int socket) : socket_(socket) {}
  void accept(Millis steady);
  void read(Connection& connection, Millis steady, const std::function<std::string()>& render);
  std::string answer_to(std::string_view request, Millis steady,
                        const std::function<std::string()>& render);
  /// False once the connection is done.
  static bool send(Connection& connection);
  static void close(Connection& connection);

  int socket_ = -1;
  std::list<Connection> connections_;  // oldest first
  std::string text_;
  Millis rendered_at_{-1'000'000};
  std::optional<Millis> deaf_until_;  // no descriptor was left for a connection
};

}  // namespace l4::daemon
