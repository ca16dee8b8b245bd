// Flow records over UDP: 500,000 records a second, encoded beforehand, into the collector's thread.
//
// A sender's thread sends IPFIX messages of 30 records on loopback at an even pace for kSeconds; 64
// rings of 8 servers with 8 cards each step meanwhile, and the collector learns and follows them.
// `received` and `dropped` (by the kernel) say whether anything was lost, `busy` how much of one
// core the collector took, `socket_buffer` what the kernel held for it: raise net.core.rmem_max for
// more.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/collect/collector.h"
#include "common/base/descriptor.h"

namespace l4::collect {
namespace {

constexpr unsigned kServers = 512, kRails = 8, kRing = 8, kBuckets = 4, kPerMessage = 30;
constexpr unsigned kSeconds = 8, kRate = 500'000;
constexpr std::uint16_t kTemplate = 300;

void put(std::string& to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) to.push_back(static_cast<char>(value >> (8 * i)));
}

/// Length and, of the message, its number are known once the sets are.
std::string message(std::uint32_t sequence, std::string sets) {
  std::string text;
  put(text, 10, 2);
  put(text, sets.size() + 16, 2);
  put(text, static_cast<std::uint64_t>(std::time(nullptr)), 4);
  put(text, sequence, 4);
  put(text, 1, 4);
  return text + sets;
}

std::string template_set() {
  constexpr std::pair<unsigned, unsigned> kFields[] = {{152, 8}, {153, 8}, {8, 4}, {12, 4}, {7, 2},
                                                       {11, 2},  {4, 1},   {1, 8}, {2, 8}};
  std::string body;
  put(body, kTemplate, 2);
  put(body, std::size(kFields), 2);
  for (const auto& [id, length] : kFields) {
    put(body, id, 2);
    put(body, length, 2);
  }
  std::string set;
  put(set, 2, 2);
  put(set, body.size() + 4, 2);
  return set + body;
}

std::uint32_t card(unsigned server, unsigned rail) {
  return (10u << 24) | (rail << 16) | (server / 250) << 8 | (server % 250 + 1);
}

void add_record(std::string& set, std::uint64_t start_ms, unsigned server, unsigned rail) {
  put(set, start_ms, 8);
  put(set, start_ms + 10, 8);
  put(set, card(server, rail), 4);
  put(set, card(server / kRing * kRing + (server + 1) % kRing, rail), 4);
  put(set, 50'000 + rail, 2);
  put(set, flows::kRocePort, 2);
  put(set, 17, 1);
  put(set, 50'000'000, 8);
  put(set, 12'000, 8);
}

/// Bursts of all edges, so many a step that the pace is kRate records a second.
std::vector<std::string> made_messages(std::uint64_t from_ms) {
  std::vector<std::string> all{message(0, template_set())};
  const std::uint64_t burst = kServers * kRails;
  const std::uint64_t bursts = std::uint64_t{kSeconds} * kRate / burst;
  std::uint32_t sequence = 0;
  std::string records;
  unsigned held = 0;
  const auto flush = [&] {
    std::string set;
    put(set, kTemplate, 2);
    put(set, records.size() + 4, 2);
    all.push_back(message(sequence, set + records));
    sequence += held;
    records.clear();
    held = 0;
  };
  for (std::uint64_t i = 0; i < bursts; ++i) {
    // A pause after each fourth burst is the end of a step.
    const std::uint64_t at = from_ms + i * 1'000 * burst / kRate - (i % kBuckets);
    for (unsigned server = 0; server < kServers; ++server)
      for (unsigned rail = 0; rail < kRails; ++rail) {
        add_record(records, at, server, rail);
        if (++held == kPerMessage) flush();
      }
  }
  if (held > 0) flush();
  return all;
}

void send_evenly(std::uint16_t port, const std::vector<std::string>& messages) {
  const Descriptor out(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto began = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    static_cast<void>(::sendto(out.number(), messages[i].data(), messages[i].size(), 0,
                               reinterpret_cast<const sockaddr*>(&to), sizeof to));
    const auto due = began + std::chrono::microseconds{i * kPerMessage * 1'000'000 / kRate};
    if (due - std::chrono::steady_clock::now() > std::chrono::milliseconds{1})
      std::this_thread::sleep_until(due);
  }
}

void collect_records(benchmark::State& state) {
  const auto wall = [] { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); };
  for (auto _ : state) {
    CollectOptions options;
    options.listen = "127.0.0.1:0";
    options.learn_every = Millis{2'000};
    options.buffer_bytes = static_cast<std::size_t>(state.range(0)) << 20;
    auto collector =
        FlowCollector::open(options, {wall, [](const std::string&) {}, [](const std::string&) {}});
    if (!collector) return state.SkipWithError(collector.error().text().c_str());
    const auto messages =
        made_messages(static_cast<std::uint64_t>(wall().time_since_epoch().count()));
    std::jthread own([&](const std::stop_token& stop) { (*collector)->run(stop); });
    const auto began = std::chrono::steady_clock::now();
    send_evenly((*collector)->port(), messages);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::this_thread::sleep_for(std::chrono::seconds{2});
    const CollectCounts counts = (*collector)->counts();
    own.request_stop();
    (*collector)->wake();
    own.join();
    const double sent = static_cast<double>((messages.size() - 1) * kPerMessage);
    state.counters["sent_per_s"] = sent / took.count();
    state.counters["received"] = static_cast<double>(counts.flows.records) / sent;
    state.counters["dropped"] = static_cast<double>(counts.dropped);
    state.counters["busy"] = std::chrono::duration<double>(counts.busy).count() / took.count();
    state.counters["socket_buffer"] = static_cast<double>(counts.buffer_bytes);
    state.counters["jobs"] = static_cast<double>(counts.flows.jobs);
  }
}
BENCHMARK(collect_records)->Arg(16)->Arg(64)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace l4::collect
