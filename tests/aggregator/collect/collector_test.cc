#include "aggregator/collect/collector.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "common/sockets/listen_address.h"

namespace l4::collect {
namespace {

void send_to(std::uint16_t port, const std::string& bytes) {
  const Descriptor out(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  static_cast<void>(::sendto(out.number(), bytes.data(), bytes.size(), 0,
                             reinterpret_cast<const sockaddr*>(&to), sizeof to));
}

}  // namespace

TEST_CASE("the collector counts what it cannot read, refuses strangers, and answers questions") {
  for (const bool is_listed : {true, false}) {
    CollectOptions options;
    options.listen = "127.0.0.1:0";
    options.exporters = {is_listed ? "127.0.0.1" : "127.0.0.9"};
    auto collector =
        FlowCollector::open(options, {[] { return TimeMs{Millis{1'800'000'000'000}}; },
                                      [](const std::string&) {}, [](const std::string&) {}});
    REQUIRE(collector);
    send_to((*collector)->port(), "noise");
    bool answered = false;
    CHECK((*collector)->call([&](const FlowCollector& own) { answered = own.jobs().empty(); }));
    (*collector)->step(Millis{1'000});
    const CollectCounts counts = (*collector)->counts();
    CHECK(counts.datagrams == 1);
    CHECK(counts.strangers == (is_listed ? 0 : 1));
    CHECK(counts.bad == (is_listed ? 1 : 0));
    CHECK(answered);
  }
}

TEST_CASE("the collector's own thread answers others while datagrams come") {
  CollectOptions options;
  options.listen = "127.0.0.1:0";
  options.exporters = {"127.0.0.1"};
  auto collector =
      FlowCollector::open(options, {[] { return TimeMs{Millis{1'800'000'000'000}}; },
                                    [](const std::string&) {}, [](const std::string&) {}});
  REQUIRE(collector);
  std::atomic<int> answered = 0;
  {
    std::jthread own([&](const std::stop_token& stop) { (*collector)->run(stop); });
    std::jthread sender([&] {
      for (int i = 0; i < 200; ++i) send_to((*collector)->port(), "noise");
    });
    for (int i = 0; i < 50; ++i) {
      CHECK((*collector)->call([&](const FlowCollector& its) { answered += its.jobs().empty(); }));
      static_cast<void>((*collector)->counts());
    }
    for (int i = 0; i < 2'000 && (answered < 50 || (*collector)->counts().bad == 0); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    own.request_stop();
    (*collector)->wake();
  }
  CHECK(answered == 50);
  CHECK((*collector)->counts().bad > 0);
}

TEST_CASE("an address that cannot be listened at is an error that names the setting") {
  CHECK_FALSE(sockets::is_listen_address("4739"));
  CHECK(sockets::is_listen_address("[::1]:4739"));
  CollectOptions options;
  options.listen = "192.0.2.1:4739";
  const auto refused = FlowCollector::open(options, {[] { return TimeMs{}; }, {}, {}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find("[flows] listen") != std::string::npos);
}

}  // namespace l4::collect
