#include "aggregator/http/hub.h"

#include <fmt/format.h>

#include <exception>

namespace l4::http {

ServerCounts Counters::now() const {
  return {connections, requests, refused, timed_out, evicted, open, in_flight};
}

void Hub::ask(std::uint64_t connection, std::uint64_t number, const Request& request) const {
  const auto ticket = std::make_shared<Ticket>(gate, connection, number);
  try {
    handler(request, [ticket](Response response) { ticket->send(std::move(response)); });
  } catch (const std::exception& fault) {
    ticket->send(error_response(500, "failed", fault.what()));
  }
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
