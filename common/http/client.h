// Asking an HTTP server, and waiting for the answer no longer than agreed.
//
// Place in the flow: commands of `l4` ask the aggregator; the aggregator tells webhooks. Blocking,
// on the thread of the caller; thread-safe, no state: one connection a request. Over https:// the
// server must prove its host by a certificate of an authority that is believed. Bounds: one
// deadline over name look-up, connecting, sending and receiving; 64 KiB of header; `body_max` of
// body. A redirect is not followed: its answer is what comes back.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::http {

struct ClientOptions {
  Millis timeout{5000};
  std::size_t body_max = 64 << 20;
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< beyond those that each has
  std::filesystem::path ca = {};  ///< PEM file of authorities; empty: those of the system
};

struct ClientResponse {
  unsigned status = 0;
  std::string content_type;
  std::string body;
};

/// Any status is an answer; an Error is none: `where` is host:port, the URL if it is none, or the
/// file of authorities.
Result<ClientResponse> get(std::string_view url, const ClientOptions& options = {});
Result<ClientResponse> post(std::string_view url, std::string_view content_type,
                            std::string_view body, const ClientOptions& options = {});
/// GET of an answer without an end: `on_data` gets its pieces until it gives false, the server ends
/// it, or nothing has come for as long as `timeout`. An answer that is no 200 comes back whole, as
/// from `get`; of a 200 the body is empty. `body_max` does not hold.
Result<ClientResponse> follow(std::string_view url, const ClientOptions& options,
                              const std::function<bool(std::string_view)>& on_data);
/// DELETE.
Result<ClientResponse> erase(std::string_view url, const ClientOptions& options = {});

/// A server answered, and its certificate was not trusted.
bool is_about_trust(const Error& error);

}  // namespace l4::http
