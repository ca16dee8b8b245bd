#include "aggregator/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "aggregator/page/assets.h"
#include "common/base/hash.h"

namespace l4::page {
namespace {

using http::Request;
using http::Response;

/// First segments of addresses that the script shows something at; without a second one it is a
/// list. What stands for the empty one is the fleet.
constexpr std::array<std::string_view, 7> kViews{"",       "jobs",   "incidents", "agents",
                                                 "alerts", "faults", "pool"};
/// Scripts, styles and pictures come from this server alone and stand in files, so a name or a line
/// of a log that reaches the document by mistake still runs nothing.
constexpr auto kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";
constexpr std::string_view kRoot = "@root@";

bool is_view(const Request& request) {
  const auto& segments = request.segments;
  return !segments.empty() && segments.size() <= 2 &&
         std::ranges::find(kViews, segments[0]) != kViews.end() &&
         (segments.size() == 1 || !segments[0].empty());
}

/// The way from this address up to the page's root: the page works below any prefix that a proxy
/// takes off, since all its addresses are relative to this.
std::string document_for(const Request& request) {
  std::string text(document());
  const std::string up = request.segments.size() > 1 ? "../" : "./";
  for (std::size_t at = text.find(kRoot); at != std::string::npos; at = text.find(kRoot, at))
    text.replace(at, kRoot.size(), up);
  return text;
}

Response view(const Request& request) {
  Response response{200, "text/html; charset=utf-8", document_for(request)};
  response.etag =
      fmt::format("\"{:016x}\"", hashing::of_bytes(response.body.data(), response.body.size()));
  response.headers = {{"Content-Security-Policy", kPolicy},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"}};
  return response;
}

Response asset(const Request& request, const Asset& found) {
  const bool packed = request.accept_encoding.find("gzip") != std::string::npos;
  Response response{200, std::string(found.type), std::string(packed ? found.gzip : found.plain)};
  response.etag = fmt::format("\"{}{}\"", found.name, packed ? "-gzip" : "");
  response.headers = {{"Cache-Control", "public, max-age=31536000, immutable"},
                      {"Vary", "Accept-Encoding"}};
  if (packed) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

std::optional<Response> answer_to(const Request& request) {
  if (request.method != "GET") return {};
  if (is_view(request)) return view(request);
  if (request.segments.size() != 2 || request.segments[0] != "assets") return {};
  const auto found = std::ranges::find(assets(), request.segments[1], &Asset::name);
  if (found == assets().end())
    return http::error_response(404, "not_found", "this page has no such part; load it again");
  return asset(request, *found);
}

}  // namespace

http::Handler with_page(http::Handler inner) {
  return [inner = std::move(inner)](const Request& request, const http::Reply& reply) {
    auto answer = answer_to(request);
    if (!answer) return inner(request, reply);
    leave_out_known(*answer, request.if_none_match);
    reply(std::move(*answer));
  };
}

}  // namespace l4::page
