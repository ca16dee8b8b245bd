// Replies that several routes share.
//
// Flow: api.cc and its kin -> here -> http::Reply. Thread-safe, no state.
#pragma once

#include <string>
#include <string_view>

#include "aggregator/http/server.h"
#include "aggregator/serve/json_text.h"

namespace l4::api {

/// Replies with the text and a line feed at its end.
http::Response json(serve::JsonWriter& text, unsigned status = 200);
http::Response busy();
http::Response wrong(std::string_view message);                      ///< 400
http::Response nothing(std::string_view what, std::string_view id);  ///< 404
http::Response refused_by_database(std::string_view reason);         ///< 503

/// Whether the body is declared as JSON, as every body must be; if not, the reply is not_json().
bool is_json(const http::Request& request);
http::Response not_json();  ///< 415

}  // namespace l4::api
