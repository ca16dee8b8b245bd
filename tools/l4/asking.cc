#include "tools/l4/asking.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <utility>

#include "common/http/tls.h"
#include "common/http/url.h"
#include "tools/l4/client_file.h"
#include "tools/l4/live_json.h"

namespace l4::cli {
namespace {

constexpr auto kDefaultAddress = "http://127.0.0.1:7440";

/// Empty where it is not set.
std::string of_environment(const char* name) {
  const char* given = std::getenv(name);
  return given != nullptr ? given : "";
}

Answer<std::string> find_token(std::filesystem::path token_file,
                               const std::filesystem::path& known) {
  if (token_file.empty()) {
    if (std::string given = of_environment("L4_TOKEN"); !given.empty()) return given;
    if (known.empty()) return std::string();
    token_file = known;
  }
  std::ifstream file(token_file);
  std::string token;
  if (!file) return failed(token_file.string(), "cannot be read", kWrongUse);
  if (!(file >> token)) return failed(token_file.string(), "holds no token", kWrongUse);
  return token;
}

Answer<std::string> find_address(std::string address, const std::string& known) {
  if (address.empty()) {
    address = of_environment("L4_ADDRESS");
    if (const auto url = http::parse_url(address); !address.empty() && !url)
      return failed("L4_ADDRESS: " + url.error().where, url.error().reason, kWrongUse);
  }
  if (address.empty()) address = known.empty() ? kDefaultAddress : known;
  address = address.substr(0, address.find_first_of("?#"));
  address.erase(address.find_last_not_of('/') + 1);
  return address;
}

Answer<std::filesystem::path> find_authorities(std::filesystem::path ca,
                                               const std::filesystem::path& known) {
  const char* said = "--ca: ";
  if (ca.empty()) {
    said = "L4_CA: ";
    ca = of_environment("L4_CA");
  }
  if (ca.empty()) {
    said = "ca: ";
    ca = known;
  }
  if (ca.empty()) return ca;
  const auto read = http::client_tls(ca);
  if (read) return ca;
  return failed(said + read.error().where, read.error().reason, kWrongUse);
}

}  // namespace

std::unexpected<Failure> failed(std::string where, std::string reason, int exit) {
  return std::unexpected(Failure{{std::move(where), std::move(reason)}, exit});
}

Answer<Aggregator> find_aggregator(const std::string& address,
                                   const std::filesystem::path& token_file,
                                   const std::filesystem::path& ca) {
  const auto file = read_client_file(find_client_file());
  if (!file) return failed(file.error().where, file.error().reason, kWrongUse);
  auto found = find_address(address, file->address);
  if (!found) return std::unexpected(found.error());
  // A token of the file goes only to the address that stands beside it.
  const bool elsewhere = !address.empty() || !of_environment("L4_ADDRESS").empty();
  const ClientFile known = elsewhere ? ClientFile{} : *file;
  auto token = find_token(token_file, known.token_file);
  if (!token) return std::unexpected(token.error());
  auto trusted = find_authorities(ca, known.ca);
  if (!trusted) return std::unexpected(trusted.error());
  return Aggregator{std::move(*found), std::move(*token), std::move(*trusted)};
}

Answer<http::ClientResponse> ask(const Aggregator& asked, Method method, const std::string& path,
                                 const std::string& body, Millis timeout) {
  http::ClientOptions how{.timeout = timeout, .ca = asked.ca};
  if (!asked.token.empty()) how.headers.emplace_back("Authorization", "Bearer " + asked.token);
  const std::string url = asked.address + path;
  auto response = method == Method::get    ? http::get(url, how)
                  : method == Method::post ? http::post(url, "application/json", body, how)
                                           : http::erase(url, how);
  if (!response)
    return failed(
        response.error().where,
        response.error().reason +
            (http::is_about_trust(response.error()) ? "" : " - is l4-aggregator running there?"));
  return std::move(*response);
}

Failure failure_of(const Aggregator& asked, const http::ClientResponse& response) {
  const std::string message = read_error(response.body);
  return {{asked.address,
           message.empty()
               ? fmt::format("answered with status {} - is this l4-aggregator?", response.status)
               : fmt::format("{} (status {})", message, response.status)}};
}

Answer<std::string> fetch(const Aggregator& asked, const std::string& path, Millis timeout,
                          unsigned* status) {
  auto response = ask(asked, Method::get, path, {}, timeout);
  if (!response) return std::unexpected(response.error());
  if (status != nullptr) *status = response->status;
  if (response->status == 200) return std::move(response->body);
  return std::unexpected(failure_of(asked, *response));
}

std::unexpected<Failure> misread(const Aggregator& asked, const Error& error) {
  return failed(asked.address,
                fmt::format("is not the answer that was expected: {}", error.text()));
}

}  // namespace l4::cli
