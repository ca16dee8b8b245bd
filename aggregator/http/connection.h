// One client of the server: its requests, one after the other, and their answers.
// Flow: Server accepts -> Connection reads, asks the handler by Hub, writes -> closed, by either
// side, a limit or the server. All on the server's thread. A connection stands in Hub::connections
// until it is closed, and lives as long as one of its operations is under way. Private to this
// room.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "aggregator/http/hub.h"

namespace boost::asio {
class io_context;
}

namespace l4::http {

class Connection {
 public:
  /// The connection with the smallest need is closed first when another one needs room.
  using Need = std::pair<bool, std::chrono::steady_clock::time_point>;

  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void start() = 0;
  virtual void deliver(std::uint64_t request, Response response) = 0;
  virtual void news() = 0;  ///< the connection's stream of events, if there is one, has news
  virtual bool may_be_evicted() const = 0;
  virtual Need need() const = 0;
  virtual void close() = 0;

 protected:
  Connection() = default;
};

/// Takes the descriptor over. Speaks TLS if the hub has a context for it.
std::shared_ptr<Connection> make_connection(Hub& hub, boost::asio::io_context& context,
                                            int descriptor, bool is_v6, std::uint64_t id);

}  // namespace l4::http
