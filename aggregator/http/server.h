// The aggregator's HTTP server: reads requests, hands them to one handler, sends its replies.
// Place in the flow: people, `l4 jobs`, Prometheus -> Server -> the aggregator's handler (see
// routes.h) -> Reply. One thread of its own does all reading and writing; the handler runs on it
// and must not block: it may keep the Reply and call it later, from any thread. Everything is
// bounded (ServerOptions): a client that never reads, sends byte by byte or only connects costs a
// descriptor for a while and delays no other client. If all connections are in use, the one that
// has waited longest without a complete request is closed, else the one that has been reading its
// answer for longest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/http/counters.h"
#include "aggregator/http/job_limit.h"
#include "common/base/error.h"
#include "common/base/time.h"
#include "common/http/tls.h"

namespace l4::http {

class EventStream;

struct Request {
  /// GET, POST or DELETE; HEAD comes as GET, and the server leaves the body out
  std::string method;
  std::string path;  ///< decoded: valid UTF-8, no control characters, no . or .. segments
  /// The path's segments, decoded one by one: one may hold a slash (%2F).
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> query;  ///< decoded, in order
  std::string body;
  std::string peer;  ///< address:port
  /// Headers; empty if they were not sent.
  std::string authorization = {}, if_none_match = {}, content_type = {};
  std::string last_event_id = {};  ///< header of a client that resumes a stream of events
  std::string host = {}, origin = {};
  std::string who = {};  ///< name of the token, or `local`; from tokens.h, not from the client
  /// True once no answer is needed: the client has left (noticed within a second), or was answered
  /// 504.
  std::stop_token left = {};
  std::string accept_encoding = {}, cookie = {};  ///< headers; empty if they were not sent
  bool may_change = false;                        ///< from tokens.h: `who` may also change things
  JobLimit jobs = {};                             ///< from tokens.h: the jobs that `who` may see
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string etag = {};  ///< header; empty: none
  /// With 200: events that are sent instead of a body, until either side ends the stream.
  std::shared_ptr<EventStream> stream = {};
  /// Further headers; one of the server's own by the same name is replaced.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// Makes a response with an etag a 304 without a body where the client has it: `known` is its
/// If-None-Match.
void leave_out_known(Response& response, std::string_view known);

/// {"error": {"code", "message"}}; `code` is a word, `message` a sentence that may hold any text.
Response error_response(unsigned status, std::string_view code, std::string_view message);

/// Sends the answer once, from any thread; further calls do nothing. Without a call, 500 is sent
/// when the last copy is destroyed, and 504 after ServerOptions::answer. May outlive the Server.
using Reply = std::function<void(Response)>;
/// Called on the server's thread. An exception is answered with 500.
using Handler = std::function<void(const Request&, Reply)>;

struct ServerOptions {
  std::string address = "127.0.0.1";  ///< an IP address; if not loopback, all who reach it can read
  std::uint16_t port = 7440;          ///< 0: any free one
  TlsFiles tls = {};                  ///< https if given; then plain HTTP is refused
  std::size_t header_bytes_max = 8 << 10;
  std::size_t body_bytes_max = 1 << 20;
  std::size_t connections_max = 256;
  std::size_t in_flight_max = 192;  ///< requests at the handler; beyond: 503
  std::size_t response_bytes_max = 256u
                                   << 20;  ///< bytes of responses that wait to be sent; beyond: 503
  Millis read{10'000};                     ///< a request, or opening TLS, from its first byte
  Millis idle{30'000};                     ///< time limit between requests
  Millis write{30'000};                    ///< a response
  Millis answer{60'000};                   ///< limit of the time until the handler answers
  std::size_t streams_max = 64;  ///< streams of events, part of the connections; beyond: 503
  Millis heartbeat{15'000};      ///< time between two comments on a stream without events
  std::shared_ptr<Counters> counters = {};  ///< null: the server counts in its own
};

class Server {
 public:
  /// Listens once it returns. Error: the address is invalid or in use, and `where` names it; or
  /// the error of server_tls.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  /// Closes all connections and waits for the thread; must not be called by the handler.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// New connections present this certificate; after an Error they present the former one. Any
  /// thread; only for a server that speaks TLS.
  Result<void> reload(const TlsFiles& files);

  std::uint16_t port() const;
  ServerCounts counts() const;  ///< any thread

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::http
