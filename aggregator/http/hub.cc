#include "aggregator/http/hub.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <exception>

#include "aggregator/http/target.h"

namespace l4::http {

namespace {

ServerOptions counting(ServerOptions options) {
  if (!options.counters) options.counters = std::make_shared<Counters>();
  options.counters->connections_max = options.connections_max;
  options.counters->in_flight_max = options.in_flight_max;
  return options;
}

}  // namespace

Hub::Hub(ServerOptions given) : options(counting(std::move(given))), counters(*options.counters) {}

void Gate::notify(std::uint64_t connection) {
  const MutexLock lock(mutex);
  if (ring) ring(connection);
}

Response Hub::busy(Refusal why, std::string_view what) const {
  counters.refuse(why);
  return error_response(503, "busy", what);
}

void Hub::ask(std::uint64_t connection, std::uint64_t number, const Request& request) const {
  const auto ticket = std::make_shared<Ticket>(gate, connection, number);
  try {
    handler(request, [ticket](Response response) { ticket->send(std::move(response)); });
  } catch (const std::exception& fault) {
    ticket->send(error_response(500, "failed", fault.what()));
  }
}

bool has_left(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
         info.tcpi_state != TCP_ESTABLISHED;
}

std::vector<std::pair<std::string, std::string>> headers_of(const Response& response) {
  std::vector<std::pair<std::string, std::string>> headers{
      {"Server", "l4-aggregator"},
      {"Content-Type", response.content_type},
      {"Cache-Control", response.etag.empty() ? "no-store" : "no-cache"},
      {"X-Content-Type-Options", "nosniff"}};
  if (!response.etag.empty()) headers.emplace_back("ETag", response.etag);
  if (response.status == 401) headers.emplace_back("WWW-Authenticate", "Bearer");
  if (response.status == 405) headers.emplace_back("Allow", kMethods);
  if (response.status == 503) headers.emplace_back("Retry-After", "1");
  return headers;
}

Refused bad_request(std::string_view sentence) {
  return {Refusal::bad_request, error_response(400, "bad_request", sentence)};
}

Refused unknown_method() {
  return {Refusal::method, error_response(405, "method_not_allowed", kKnownMethods)};
}

Refused tls_only() {
  return {Refusal::tls,
          error_response(400, "tls_only", "this port speaks TLS: ask it with https://")};
}

Refused header_too_large(const ServerOptions& options) {
  return {Refusal::header_too_large,
          error_response(431, "header_too_large",
                         fmt::format("a header may have {} bytes", options.header_bytes_max))};
}

Refused body_too_large(const ServerOptions& options) {
  return {Refusal::body_too_large,
          error_response(413, "body_too_large",
                         fmt::format("a body may have {} bytes", options.body_bytes_max))};
}

}  // namespace l4::http
