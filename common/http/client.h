// Sends a request to an HTTP server and waits for the answer until a deadline. Place in the flow:
// commands of `l4` ask the aggregator; the aggregator posts to webhooks. Blocking, on the thread of
// the caller; thread-safe, no state: one connection a request. Over https:// the server must prove
// its host by a certificate of a trusted authority. Bounds: one deadline over name look-up,
// connecting, sending and receiving; 64 KiB of header; `body_max` of body. A redirect is not
// followed; its answer is returned.
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
  /// In addition to the standard ones.
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::filesystem::path ca = {};  ///< PEM file of authorities; empty: those of the system
};

struct ClientResponse {
  unsigned status = 0;
  std::string content_type;
  std::string body;
};

/// An answer with any status is a result. An Error means that there is no answer; `where` is
/// host:port, an invalid URL, or the file of authorities.
Result<ClientResponse> get(std::string_view url, const ClientOptions& options = {});
Result<ClientResponse> post(std::string_view url, std::string_view content_type,
                            std::string_view body, const ClientOptions& options = {});
/// GET of an endless answer: `on_data` gets its pieces until it returns false, the server ends the
/// answer, or nothing has arrived for `timeout`. The result of an answer 200 has an empty body; any
/// other answer is returned whole, as by `get`. `body_max` does not apply.
Result<ClientResponse> follow(std::string_view url, const ClientOptions& options,
                              const std::function<bool(std::string_view)>& on_data);
/// DELETE.
Result<ClientResponse> erase(std::string_view url, const ClientOptions& options = {});

/// Whether the error means that the server's certificate is not trusted.
bool is_about_trust(const Error& error);

}  // namespace l4::http
