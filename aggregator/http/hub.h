// State shared by a server and its connections, and the gate through which replies come back.
//
// Flow: Connection -> Handler with a Ticket -> Gate -> Connection. A Gate and Tickets belong to any
// thread and may outlive the server; all else belongs to the server's thread; counters are read on
// any thread. Private to this room.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "aggregator/http/server.h"
#include "common/base/mutex.h"

namespace l4::http {

/// Carries replies from any thread to the server's thread; empty once the server is gone.
struct Gate {
  Mutex mutex;
  std::function<void(std::uint64_t connection, std::uint64_t request, Response)> deliver
      L4_GUARDED_BY(mutex);
  std::function<void(std::uint64_t connection)> ring L4_GUARDED_BY(mutex);

  void notify(std::uint64_t connection);  ///< the connection's stream of events has news
};

/// The state of a Reply: the right to answer one request, once.
class Ticket {
 public:
  Ticket(std::shared_ptr<Gate> gate, std::uint64_t connection, std::uint64_t request)
      : gate_(std::move(gate)), connection_(connection), request_(request) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { send(error_response(500, "no_answer", "the request was given up")); }

  void send(Response response) {
    if (used_.exchange(true)) return;
    const MutexLock lock(gate_->mutex);
    if (gate_->deliver) gate_->deliver(connection_, request_, std::move(response));
  }

 private:
  std::shared_ptr<Gate> gate_;
  std::uint64_t connection_, request_;
  std::atomic<bool> used_ = false;
};

class Connection;

/// State shared by the connections of a server; used on its thread unless noted.
struct Hub {
  explicit Hub(ServerOptions given);

  /// Counts the refusal and gives its answer, 503.
  Response busy(Refusal why, std::string_view what) const;
  /// Hands a request to the handler, with a Reply for it.
  void ask(std::uint64_t connection, std::uint64_t number, const Request& request) const;

  ServerOptions options;
  Handler handler;
  TlsContext tls;      // for new connections; null: they speak plain HTTP
  Counters& counters;  // from the options
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::size_t response_bytes = 0;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections;
};

/// True if the peer of a connected socket has closed its sending side, even if bytes are unread.
bool has_left(int descriptor);

/// The headers of a response, except those about its length and the connection.
std::vector<std::pair<std::string, std::string>> headers_of(const Response& response);
/// The answer to a request that cannot be passed on.
struct Refused {
  Refusal why;
  Response response;
};
Refused bad_request(std::string_view sentence);
Refused unknown_method();
Refused tls_only();
Refused header_too_large(const ServerOptions& options);
Refused body_too_large(const ServerOptions& options);

}  // namespace l4::http
