#include "aggregator/http/sessions.h"

#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <string>

#include "aggregator/http/tokens.h"
#include "tests/temp_folder.h"

namespace l4::http {
namespace {

using namespace std::chrono_literals;

TEST_CASE("sessions: one stands for its token until it ends or is 12 hours old") {
  Sessions sessions;
  const auto now = Sessions::Clock::time_point{} + 1h;
  const std::string first = sessions.begin("a", now);
  const std::string second = sessions.begin("b", now + 1h);
  CHECK(first.size() == 64);
  CHECK(first != second);
  CHECK(sessions.token_of(first, now + 11h) == "a");
  CHECK(sessions.token_of(first, now + 12h).empty());
  CHECK(sessions.token_of(second, now + 12h) == "b");
  CHECK(sessions.token_of("", now).empty());
  CHECK(sessions.token_of("nobody's", now).empty());
  sessions.end(second);
  CHECK(sessions.token_of(second, now).empty());
}

TEST_CASE("sessions: the oldest one makes room") {
  Sessions sessions;
  const auto now = Sessions::Clock::time_point{} + 1h;
  const std::string oldest = sessions.begin("a", now);
  const std::string next = sessions.begin("b", now + 1s);
  for (std::size_t i = 0; i + 1 < Sessions::kSessionsMax; ++i) sessions.begin("c", now + 2s);
  CHECK(sessions.token_of(oldest, now + 3s).empty());
  CHECK(sessions.token_of(next, now + 3s) == "b");
}

TEST_CASE("sessions: the cookie is found among others, and by its whole name") {
  CHECK(session_in("l4_session=abc", "head-node") == "abc");
  CHECK(session_in("a=1; l4_session=abc; b=2", "head-node") == "abc");
  CHECK(session_in("my_l4_session=abc; l4_sessions=d", "head-node").empty());
  CHECK(session_in("l4_session=", "head-node").empty());
  CHECK(session_in("", "head-node").empty());
}

TEST_CASE("sessions: those of two ports of one host are told apart") {
  const std::string both = "l4_session_7440=a; l4_session_7441=b; l4_session=c";
  CHECK(session_in(both, "127.0.0.1:7440") == "a");
  CHECK(session_in(both, "[::1]:7441") == "b");
  CHECK(session_in(both, "127.0.0.1:7442").empty());
  CHECK(session_in(both, "127.0.0.1") == "c");
  CHECK(cookie_of("a", "head-node:7440", "").starts_with("l4_session_7440=a; "));
}

TEST_CASE("sessions: beyond this machine the cookie travels over TLS alone") {
  for (const char* origin : {"http://localhost:7440", "http://127.0.0.1:7440", "http://[::1]:7440",
                             "http://localhost"}) {
    CAPTURE(origin);
    const std::string cookie = cookie_of("abc", "head-node", origin);
    CHECK(cookie.find("l4_session=abc; HttpOnly; SameSite=Strict; Max-Age=43200") == 0);
    CHECK(cookie.find("Secure") == std::string::npos);
  }
  for (const char* origin : {"https://head-node", "http://head-node:7440", "", "null",
                             "http://localhost.evil.org", "http://127.evil.org"}) {
    CAPTURE(origin);
    CHECK(cookie_of("abc", "head-node", origin).find("; Secure") != std::string::npos);
  }
  CHECK(cookie_of("", "", "").find("Max-Age=0") != std::string::npos);
}

/// A site with two tokens, asked as browsers do.
class Site {
 public:
  Site() {
    std::ofstream(file_) << "operate ops " + sha256_of("secret") + "\nread ro " +
                                sha256_of("other") + "\n";
    const auto need_of = [](const Request& request) {
      return Need{
          request.method == "GET" || request.path == kSessionPath ? Access::read : Access::change,
          false};
    };
    const Handler name_who = [](const Request& request, const Reply& reply) {
      reply({200, "text/plain", request.who + (request.may_change ? " may" : " may not")});
    };
    auto made = guarded(file_, name_who, need_of, {}, std::make_shared<Counters>());
    REQUIRE(made);
    handler_ = std::move(*made);
  }

  Response ask(const std::string& method, const std::string& path, const std::string& bearer,
               const std::string& session, const std::string& origin = "http://127.0.0.1:1") {
    Request request;
    request.method = method;
    request.path = path;
    if (!bearer.empty()) request.authorization = "Bearer " + bearer;
    if (!session.empty()) request.cookie = "l4_session_1=" + session;
    request.origin = origin;
    request.host = "127.0.0.1:1";
    Response got{0, "", ""};
    handler_(request, [&](Response response) { got = std::move(response); });
    return got;
  }

  std::string sign_in(const std::string& token) {
    const Response got = ask("POST", std::string(kSessionPath), token, "");
    REQUIRE(got.headers.size() == 1);
    CHECK(got.headers[0].first == "Set-Cookie");
    const std::string& cookie = got.headers[0].second;
    return std::string(session_in(cookie.substr(0, cookie.find(';')), "127.0.0.1:1"));
  }

 private:
  test::TempFolder folder_;
  std::filesystem::path file_ = folder_.path() / "tokens";
  Handler handler_;
};

TEST_CASE("sessions: signed in, the cookie has the rights of the token; signed out, none") {
  Site site;
  const std::string operating = site.sign_in("secret");
  const std::string reading = site.sign_in("other");
  CHECK(site.ask("GET", "/x", "", operating).body == "ops may");
  CHECK(site.ask("POST", "/x", "", operating).status == 200);
  CHECK(site.ask("GET", "/x", "", reading).body == "ro may not");
  CHECK(site.ask("POST", "/x", "", reading).status == 403);
  CHECK(site.ask("GET", "/x", "", "made up").status == 401);
  CHECK(site.ask("DELETE", std::string(kSessionPath), "", operating).status == 200);
  CHECK(site.ask("GET", "/x", "", operating).status == 401);
  CHECK(site.ask("GET", "/x", "", reading).status == 200);
  CHECK(site.ask("POST", std::string(kSessionPath), "wrong", "").headers.empty());
}

TEST_CASE("sessions: a page of another site changes nothing by the cookie") {
  Site site;
  const std::string session = site.sign_in("secret");
  for (const char* origin : {"http://evil.org", "null", "", "http://127.0.0.1:2"}) {
    CAPTURE(origin);
    CHECK(site.ask("POST", "/x", "", session, origin).status == 403);
    CHECK(site.ask("DELETE", std::string(kSessionPath), "", session, origin).status == 403);
    CHECK(site.ask("POST", "/x", "secret", "", origin).status == 200);
  }
  CHECK(site.ask("POST", "/x", "", session).status == 200);
}

}  // namespace
}  // namespace l4::http
