#include "aggregator/http/hub.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <exception>

#include "aggregator/http/target.h"

namespace l4::http {

ServerCounts Counters::now() const {
  return {connections, requests, refused, timed_out, evicted, open, in_flight, streams};
}

void Gate::tell(std::uint64_t connection) {
  const std::lock_guard lock(mutex);
  if (ring) ring(connection);
}

Response Hub::busy(std::string_view what) {
  ++counters.refused;
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

Response header_too_large(const ServerOptions& options) {
  return error_response(431, "header_too_large",
                        fmt::format("a header may have {} bytes", options.header_bytes_max));
}

Response body_too_large(const ServerOptions& options) {
  return error_response(413, "body_too_large",
                        fmt::format("a body may have {} bytes", options.body_bytes_max));
}

}  // namespace l4::http
