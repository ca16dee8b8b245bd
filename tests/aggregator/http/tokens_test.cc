#include "aggregator/http/tokens.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace l4::http {
namespace {

constexpr auto kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

Response ask(const Handler& handler, const Request& request) {
  Response answer{0, "", ""};
  handler(request, [&](Response response) { answer = std::move(response); });
  return answer;
}

Request asks(const char* method, const char* path, std::string authorization) {
  Request request;
  request.method = method;
  request.path = path;
  request.authorization = std::move(authorization);
  return request;
}

TEST_CASE("tokens: SHA-256 is that of everybody") {
  CHECK(sha256_of("") == kEmptyHash);
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("tokens: a row that is none is named by file and line") {
  const test::TempFolder folder;
  const auto file = folder.path() / "tokens";
  const std::string hash = kEmptyHash;
  write(file, "# who\n\nread a " + hash + "\noperate b " + hash + "\n");
  const auto rows = read_tokens(file);
  REQUIRE(rows);
  REQUIRE(rows->size() == 2);
  CHECK((*rows)[0].role == Role::read);
  CHECK((*rows)[1].role == Role::operate);
  CHECK((*rows)[1].name == "b");
  for (const std::string& bad : std::vector<std::string>{
           "read", "read a", "write a " + hash, "read a " + hash + " jobs more",
           "read a " + hash + " a,,b", "read a " + hash + " team-[ab", "read a " + hash.substr(1),
           "read a " + std::string(64, 'F')}) {
    CAPTURE(bad);
    write(file, "# who\n" + bad + "\n");
    const auto refused = read_tokens(file);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().where == file.string() + ":2");
  }
  CHECK_FALSE(read_tokens(folder.path() / "none"));
}

Need need_of(const Request& request) {
  if (request.path == "/healthz" || request.path == "/readyz") return {Access::open, false};
  return {request.method == "GET" ? Access::read : Access::change, request.path == "/site"};
}

TEST_CASE("tokens: the greater role of two rows with one token counts") {
  const test::TempFolder folder;
  const auto file = folder.path() / "tokens";
  const std::string hash = sha256_of("secret");
  write(file, "operate a " + hash + "\nread b " + hash + "\nread c " + sha256_of("other") + "\n");
  const Handler all = [](const Request&, const Reply& reply) { reply({200, "text/plain", "x"}); };
  const auto counters = std::make_shared<Counters>();
  const auto handler = guarded(file, all, need_of, {}, counters);
  REQUIRE(handler);
  CHECK(ask(*handler, asks("POST", "/x", "Bearer secret")).status == 200);
  CHECK(ask(*handler, asks("POST", "/x", "bEARER   other")).status == 403);
  CHECK(ask(*handler, asks("GET", "/x", "Bearer other")).status == 200);
  for (const char* header : {"", "Bearer", "Bearer ", "Basic secret", "secret", "Bearer secre",
                             "Bearer secret ", "Bearer other2"}) {
    CAPTURE(header);
    CHECK(ask(*handler, asks("GET", "/x", header)).status == 401);
  }
  CHECK(ask(*handler, asks("GET", "/healthz", "")).status == 200);
  CHECK(ask(*handler, asks("GET", "/healthz/x", "")).status == 401);
  const auto refused = counters->now().refused_for;
  CHECK(refused.at(static_cast<std::size_t>(Refusal::not_allowed)) == 1);
  CHECK(refused.at(static_cast<std::size_t>(Refusal::no_token)) == 6);
  CHECK(refused.at(static_cast<std::size_t>(Refusal::unknown_token)) == 3);
}

TEST_CASE("tokens: one that is limited to jobs says so, and does not reach the whole site") {
  const test::TempFolder folder;
  const auto file = folder.path() / "tokens";
  write(file, "operate a " + sha256_of("some") + " team-a-*,x\nread b " + sha256_of("all") + "\n");
  const Handler jobs = [](const Request& request, const Reply& reply) {
    reply({200, "text/plain", request.jobs.text()});
  };
  const auto counters = std::make_shared<Counters>();
  const auto handler = guarded(file, jobs, need_of, {}, counters);
  REQUIRE(handler);
  CHECK(ask(*handler, asks("GET", "/x", "Bearer some")).body == "team-a-*,x");
  CHECK(ask(*handler, asks("POST", "/x", "Bearer some")).status == 200);
  CHECK(ask(*handler, asks("GET", "/x", "Bearer all")).body.empty());
  CHECK(ask(*handler, asks("GET", "/site", "Bearer all")).status == 200);
  const Response refused = ask(*handler, asks("GET", "/site", "Bearer some"));
  CHECK(refused.status == 403);
  CHECK(refused.body.contains("limited to the jobs team-a-*,x"));
  CHECK(counters->now().refused_for.at(static_cast<std::size_t>(Refusal::not_allowed)) == 1);
}

TEST_CASE("tokens: the rows of one token have the same jobs") {
  const test::TempFolder folder;
  const auto file = folder.path() / "tokens";
  const std::string hash = kEmptyHash;
  write(file, "read a " + hash + " x\noperate b " + hash + " x\n");
  CHECK(read_tokens(file));
  write(file, "read a " + hash + " x\noperate b " + hash + "\n");
  const auto refused = read_tokens(file);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().where == file.string() + ":2");
}

TEST_CASE("ETag: 304 to who has it, for answers of 200 to GET alone") {
  int status = 200;
  const Handler handler = tagged([&](const Request& request, const Reply& reply) {
    reply({static_cast<unsigned>(status), "text/plain", request.path});
  });
  const Response first = ask(handler, asks("GET", "/a", ""));
  CHECK(first.status == 200);
  CHECK(first.body == "/a");
  REQUIRE(first.etag.size() == 18);
  Request again = asks("GET", "/a", "");
  for (const std::string& header :
       {first.etag, "\"x\", " + first.etag, "W/" + first.etag, std::string("*")}) {
    again.if_none_match = header;
    const Response known = ask(handler, again);
    CHECK(known.status == 304);
    CHECK(known.body.empty());
    CHECK(known.etag == first.etag);
  }
  again.path = "/b";
  again.if_none_match = first.etag;
  CHECK(ask(handler, again).status == 200);
  again.path = "/a";
  again.method = "POST";
  CHECK(ask(handler, again).etag.empty());
  again.method = "GET";
  status = 503;
  const Response busy = ask(handler, again);
  CHECK(busy.status == 503);
  CHECK(busy.etag.empty());
}

/// Answers with the name of the token.
void name_who(const Request& request, const Reply& reply) {
  reply({200, "text/plain", request.who});
}

TEST_CASE("tokens: the handler gets the name of the token, and not what a client says") {
  const test::TempFolder folder;
  const auto file = folder.path() / "tokens";
  write(file, "operate ops " + sha256_of("secret") + "\nread ro " + sha256_of("other") + "\n");
  const auto handler = guarded(file, name_who, need_of, {}, std::make_shared<Counters>());
  REQUIRE(handler);
  Request request = asks("DELETE", "/x", "Bearer secret");
  request.who = "somebody";
  CHECK(ask(*handler, request).body == "ops");
  CHECK(ask(*handler, asks("GET", "/x", "Bearer other")).body == "ro");
  CHECK(ask(*handler, asks("DELETE", "/x", "Bearer other")).status == 403);
  CHECK(ask(*handler, asks("DELETE", "/healthz", "")).body.empty());
}

TEST_CASE("tokens: without any, who is on this machine may change things") {
  const Handler handler = unguarded(name_who, need_of, {}, std::make_shared<Counters>());
  struct Row {
    const char *method, *peer;
    unsigned status;
  };
  for (const Row& row : std::vector<Row>{{"POST", "127.0.0.1:4711", 200},
                                         {"DELETE", "[::1]:4711", 200},
                                         {"POST", "[::ffff:127.0.0.1]:4711", 200},
                                         {"GET", "10.0.0.1:4711", 200},
                                         {"POST", "10.127.0.1:4711", 403},
                                         {"POST", "[::1:2]:4711", 403},
                                         {"DELETE", "[2001:db8::1]:4711", 403},
                                         {"POST", "", 403}}) {
    CAPTURE(row.peer);
    Request request = asks(row.method, "/x", "");
    request.peer = row.peer;
    const Response response = ask(handler, request);
    CHECK(response.status == row.status);
    if (row.status == 200) CHECK(response.body == "local");
  }
}

TEST_CASE("tokens: without any, pages of other sites change nothing, and names lead nowhere") {
  const auto counters = std::make_shared<Counters>();
  const Handler handler = unguarded(name_who, need_of, {"head-node"}, counters);
  struct Row {
    const char *method, *host, *origin;
    unsigned status;
  };
  for (const Row& row : std::vector<Row>{{"GET", "127.0.0.1:7440", "", 200},
                                         {"GET", "", "", 200},
                                         {"GET", "evil.example", "", 421},
                                         {"POST", "evil.example", "http://evil.example", 421},
                                         {"POST", "head-node:7440", "http://head-node:7440", 200},
                                         {"POST", "127.0.0.1:7440", "http://evil.example", 403},
                                         {"DELETE", "127.0.0.1:7440", "null", 403},
                                         {"GET", "127.0.0.1:7440", "http://evil.example", 200}}) {
    CAPTURE(row.host);
    CAPTURE(row.origin);
    Request request = asks(row.method, "/x", "");
    request.peer = "127.0.0.1:4711";
    request.host = row.host;
    request.origin = row.origin;
    CHECK(ask(handler, request).status == row.status);
  }
  Request probe = asks("GET", "/healthz", "");
  probe.host = "some-service";
  CHECK(ask(handler, probe).status == 200);
  const ServerCounts counts = counters->now();
  CHECK(counts.refused_for.at(static_cast<std::size_t>(Refusal::wrong_host)) == 2);
  CHECK(counts.refused_for.at(static_cast<std::size_t>(Refusal::cross_site)) == 2);
  CHECK(counts.refused() == 4);
}

}  // namespace
}  // namespace l4::http
