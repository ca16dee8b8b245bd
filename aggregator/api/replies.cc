#include "aggregator/api/replies.h"

#include <fmt/format.h>

namespace l4::api {

http::Response json(serve::JsonWriter& text, unsigned status) {
  return {status, "application/json", text.release() + '\n'};
}

http::Response busy() {
  return http::error_response(503, "busy", "too much waits for an answer; try again");
}

http::Response wrong(std::string_view message) {
  return http::error_response(400, "bad_request", message);
}

http::Response nothing(std::string_view what, std::string_view id) {
  return http::error_response(404, "not_found", fmt::format("there is no {} {}", what, id));
}

http::Response refused_by_database(std::string_view reason) {
  return http::error_response(503, "database", reason);
}

bool is_json(const http::Request& request) {
  return request.content_type.starts_with("application/json");
}

http::Response not_json() {
  return http::error_response(415, "media_type", "Content-Type must be application/json");
}

}  // namespace l4::api
