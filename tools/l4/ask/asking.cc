#include "tools/l4/ask/asking.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "common/http/tls.h"
#include "common/http/url.h"
#include "tools/l4/ask/ask_options.h"
#include "tools/l4/ask/client_file.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/terminal/exit.h"

namespace l4::ask {
namespace {

constexpr auto kDefaultAddress = "http://127.0.0.1:7440";

Answer<std::string> token_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string token;
  if (!file) return failed(path.string(), "cannot be read", terminal::kWrongUse);
  if (!(file >> token)) return failed(path.string(), "holds no token", terminal::kWrongUse);
  return token;
}

Answer<std::string> find_token(const std::filesystem::path& said,
                               const std::filesystem::path& known) {
  if (!said.empty()) return token_in(said);
  if (std::string given = of_environment("L4_TOKEN"); !given.empty()) return given;
  return known.empty() ? std::string() : token_in(known);
}

Answer<std::string> find_address(std::string address, const std::string& known) {
  if (address.empty()) {
    address = of_environment("L4_ADDRESS");
    if (const auto url = http::parse_url(address); !address.empty() && !url)
      return failed("L4_ADDRESS: " + url.error().where, url.error().reason, terminal::kWrongUse);
  }
  if (address.empty()) address = known.empty() ? kDefaultAddress : known;
  address = address.substr(0, address.find_first_of("?#"));
  address.erase(address.find_last_not_of('/') + 1);
  return address;
}

/// `from`: the option, variable or key that names the file, for messages.
Answer<std::filesystem::path> believed(const char* from, const std::filesystem::path& ca) {
  const auto read = http::client_tls(ca);
  if (read) return ca;
  return failed(from + read.error().where, read.error().reason, terminal::kWrongUse);
}

Answer<std::filesystem::path> find_authorities(const std::filesystem::path& said,
                                               const std::filesystem::path& known) {
  if (!said.empty()) return believed("--ca: ", said);
  if (const auto given = of_environment("L4_CA"); !given.empty()) return believed("L4_CA: ", given);
  return known.empty() ? known : believed("ca: ", known);
}

}  // namespace

std::unexpected<Failure> failed(std::string where, std::string reason, int exit) {
  return std::unexpected(Failure{{std::move(where), std::move(reason)}, exit});
}

Answer<Aggregator> find_aggregator(const AskOptions& flags) {
  // A token of the file goes only to the address that stands beside it.
  const bool elsewhere = !flags.address.empty() || !of_environment("L4_ADDRESS").empty();
  const auto named = elsewhere ? Result<std::filesystem::path>() : find_client_file();
  const auto file = named ? read_client_file(*named) : std::unexpected(named.error());
  if (!file) return failed(file.error().where, file.error().reason, terminal::kWrongUse);
  const AskOptions& known = *file;
  auto found = find_address(flags.address, known.address);
  if (!found) return std::unexpected(found.error());
  auto token = find_token(flags.token_file, known.token_file);
  if (!token) return std::unexpected(token.error());
  auto trusted = find_authorities(flags.ca, known.ca);
  if (!trusted) return std::unexpected(trusted.error());
  return Aggregator{std::move(*found), std::move(*token), std::move(*trusted)};
}

Answer<void> check_files(const AskOptions& file) {
  if (!file.token_file.empty())
    if (const auto token = token_in(file.token_file); !token) return std::unexpected(token.error());
  if (!file.ca.empty())
    if (const auto trusted = believed("ca: ", file.ca); !trusted)
      return std::unexpected(trusted.error());
  return {};
}

http::ClientOptions how_to_ask(const Aggregator& asked, Millis timeout) {
  http::ClientOptions how{.timeout = timeout, .ca = asked.ca};
  if (!asked.token.empty()) how.headers.emplace_back("Authorization", "Bearer " + asked.token);
  return how;
}

Answer<http::ClientResponse> send(const Aggregator& asked, Method method, const std::string& path,
                                  const std::string& body, Millis timeout) {
  const http::ClientOptions how = how_to_ask(asked, timeout);
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
  AnsweredError answered = read_error(response.body);
  Failure failure{{asked.address, {}}};
  failure.error.reason =
      answered.message.empty()
          ? fmt::format("answered with status {} - is this l4-aggregator?", response.status)
          : fmt::format("{} (status {})", answered.message, response.status);
  failure.status = response.status;
  failure.code = std::move(answered.code);
  return failure;
}

Answer<std::string> fetch(const Aggregator& asked, const std::string& path, Millis timeout) {
  auto response = send(asked, Method::get, path, {}, timeout);
  if (!response) return std::unexpected(response.error());
  if (response->status == 200) return std::move(response->body);
  return std::unexpected(failure_of(asked, *response));
}

Answer<std::string> fetch_list(const Aggregator& asked, const std::string& path,
                               const std::string& key, Millis timeout, std::size_t most) {
  constexpr std::size_t kPagesMax = 1'000;
  std::vector<std::string> pages;
  std::string next;
  for (std::size_t rows = 0; pages.empty() || !next.empty(); rows += kPageRows) {
    if (pages.size() == kPagesMax) return failed(asked.address, "gives one page after the other");
    if (most != kAllRows && rows >= most) break;
    std::string query;
    if (most != kAllRows) query = fmt::format("count={}", std::min(kPageRows, most - rows));
    if (!next.empty()) {
      query += query.empty() ? "after=" : "&after=";
      query += http::percent_encoded(next);
    }
    const char* const mark = query.empty() ? "" : path.find('?') == path.npos ? "?" : "&";
    auto body = fetch(asked, fmt::format("{}{}{}", path, mark, query), timeout);
    if (!body) return std::unexpected(body.error());
    const auto behind = next_page(*body);
    if (!behind) return misread(asked, behind.error());
    next = *behind;
    pages.push_back(std::move(*body));
  }
  auto whole = joined_pages(pages, key);
  if (!whole) return misread(asked, whole.error());
  return std::move(*whole);
}

std::unexpected<Failure> misread(const Aggregator& asked, const Error& error) {
  return failed(asked.address,
                fmt::format("is not the answer that was expected: {}", error.text()));
}

}  // namespace l4::ask
