#include "aggregator/page/page.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "aggregator/page/assets.h"

namespace l4::page {
namespace {

using http::Request;
using http::Response;

Request of_method(const std::string& method) {
  Request request;
  request.method = method;
  return request;
}

Response ask(const std::string& path, std::vector<std::string> segments,
             Request request = of_method("GET")) {
  request.path = path;
  request.segments = std::move(segments);
  Response got{0, "", ""};
  with_page([](const Request&, const http::Reply& reply) {
    reply({200, "text/plain", "of the interface"});
  })(request, [&](Response response) { got = std::move(response); });
  return got;
}

std::string header(const Response& response, const std::string& name) {
  const auto found =
      std::ranges::find(response.headers, name, [](const auto& one) { return one.first; });
  return found == response.headers.end() ? "" : found->second;
}

std::string unpacked(std::string_view packed) {
  std::string text(4 << 20, '\0');
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST_CASE("page: its addresses get one document, which finds its root from each") {
  struct Row {
    const char* path;
    std::vector<std::string> segments;
    const char* script;
  };
  for (const Row& row : std::vector<Row>{{"/", {""}, "\"./assets/"},
                                         {"/incidents", {"incidents"}, "\"./assets/"},
                                         {"/alerts", {"alerts"}, "\"./assets/"},
                                         {"/pool", {"pool"}, "\"./assets/"},
                                         {"/jobs/a/b", {"jobs", "a/b"}, "\"../assets/"},
                                         {"/incidents/x", {"incidents", "x"}, "\"../assets/"}}) {
    CAPTURE(row.path);
    const Response got = ask(row.path, row.segments);
    CHECK(got.status == 200);
    CHECK(got.content_type == "text/html; charset=utf-8");
    CHECK(got.body.find(row.script) != std::string::npos);
    CHECK(got.body.find('@') == std::string::npos);
    const std::string policy = header(got, "Content-Security-Policy");
    CHECK(policy.find("default-src 'none'") != std::string::npos);
    CHECK(policy.find("unsafe") == std::string::npos);
    Request again = of_method("GET");
    again.if_none_match = got.etag;
    const Response known = ask(row.path, row.segments, again);
    CHECK(known.status == 304);
    CHECK(known.body.empty());
  }
}

TEST_CASE("page: what it does not have is left to the interface") {
  for (const std::vector<std::string>& segments : std::vector<std::vector<std::string>>{
           {"api", "v1", "jobs"}, {"metrics"}, {"jobs", "a", "b"}, {"nothing"}, {"", "x"}, {}}) {
    CHECK(ask("/", segments).body == "of the interface");
  }
  CHECK(ask("/", {""}, of_method("POST")).body == "of the interface");
}

TEST_CASE("page: assets are packed for who can unpack them, and kept for good") {
  REQUIRE(assets().size() == 4);
  for (const Asset& asset : assets()) {
    CAPTURE(asset.name);
    const std::string name(asset.name);
    Request packing = of_method("GET");
    packing.accept_encoding = "gzip, deflate, br";
    const Response packed = ask("/assets/" + name, {"assets", name}, packing);
    const Response plain = ask("/assets/" + name, {"assets", name});
    CHECK(header(packed, "Content-Encoding") == "gzip");
    CHECK(header(plain, "Content-Encoding").empty());
    CHECK(unpacked(packed.body) == plain.body);
    CHECK(packed.etag != plain.etag);
    CHECK(header(plain, "Cache-Control").find("immutable") != std::string::npos);
    CHECK(std::string(document()).find("@root@assets/" + name) != std::string::npos);
  }
  CHECK(ask("/assets/gone.js", {"assets", "gone.js"}).status == 404);
}

TEST_CASE("page: scripts and styles of a first load take at most 105 kB on the way") {
  const std::string text(document());
  std::size_t bytes = 0, later = 0;
  for (const Asset& asset : assets()) {
    // The second script stands in a <meta>: it is loaded when a view needs it.
    const bool first = text.contains("=\"@root@assets/" + std::string(asset.name) + "\"") &&
                       !text.contains("content=\"@root@assets/" + std::string(asset.name) + "\"");
    (first ? bytes : later) += asset.gzip.size();
  }
  CHECK(bytes > 10'000);
  CHECK(bytes <= 105'000);
  CHECK(later > 1'000);
  CHECK(later < 60'000);
}

TEST_CASE("page: the document has no script and no style of its own, and names no other host") {
  const std::string text(document());
  CHECK(text.find("<style") == std::string::npos);
  CHECK(text.find("style=") == std::string::npos);
  CHECK(text.find("://") == std::string::npos);
  for (std::size_t at = text.find("<script"); at != std::string::npos;
       at = text.find("<script", at + 1))
    CHECK(text.compare(at, 12, "<script src=") == 0);
}

}  // namespace
}  // namespace l4::page
