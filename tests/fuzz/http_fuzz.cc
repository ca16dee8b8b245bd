// Arbitrary bytes on a connection to the HTTP server: it answers in HTTP or closes the connection,
// the handler gets decoded text within its bounds, and the next client is served as usual.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "aggregator/http/server.h"
#include "aggregator/serve/utf8.h"
#include "tests/common/http/raw_socket.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using namespace std::chrono_literals;
using l4::fuzz::require;
using l4::http::Request;

constexpr std::size_t kBodyMax = 4096;

void check_text(const std::string& text) {
  require(l4::serve::harmless(text) == text, "what a handler sees is UTF-8 without control codes");
}

void handle(const Request& request, const l4::http::Reply& reply) {
  require(request.method == "GET" || request.method == "POST" || request.method == "DELETE",
          "a method that is known");
  require(request.path.starts_with('/'), "a path from the root");
  check_text(request.path);
  for (const std::string& segment : request.segments) {
    check_text(segment);
    require(segment != "." && segment != "..", "a path stays in its tree");
  }
  for (const auto& [key, value] : request.query) {
    check_text(key);
    check_text(value);
  }
  require(request.body.size() <= kBodyMax, "a body within its bound");
  reply(l4::http::error_response(request.body.empty() ? 404 : 400, "asked",
                                 request.path + " " + request.body));
}

l4::http::Server& server() {
  static const auto made = [] {
    l4::http::ServerOptions options;
    options.port = 0;
    options.header_bytes_max = 2048;
    options.body_bytes_max = kBodyMax;
    options.read = options.idle = options.write = l4::Millis{200};
    auto started = l4::http::Server::start(options, handle);
    require(started.has_value(), "the server starts");
    return std::move(*started);
  }();
  return *made;
}

/// A thousand connections a second may use up the ports of the machine for a while.
std::unique_ptr<l4::test::RawClient> connect() {
  constexpr int kTries = 100;
  for (int i = 1;; ++i) {
    auto client = std::make_unique<l4::test::RawClient>(server().port());
    if (client->connected() || i == kTries) return client;
    std::this_thread::sleep_for(100ms);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  const auto connection = connect();
  l4::test::RawClient& client = *connection;
  require(client.connected(), "the next client is let in");
  // Sends two parts, to split a request anywhere, and a valid request after them if the input says
  // so.
  const std::size_t middle = input.text.size() * (input.steer % 8) / 8;
  client.send(input.text.substr(0, middle));
  client.send(input.text.substr(middle));
  if (input.steer % 2 == 1)
    client.send("\r\n\r\nGET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  client.end();
  const std::string answer = client.receive(1 << 20, 5s);
  require(client.is_closed_within(5s), "a connection ends");
  require(answer.empty() || answer.starts_with("HTTP/1."), "an answer is HTTP");
  return 0;
}
