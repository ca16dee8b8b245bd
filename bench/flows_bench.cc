// What a flow record costs: 64 rings over 512 servers, from the analyser's look-up to the steps.
//
// `follow` is the cost once jobs are known, `learn` with learning and the replay of its rows.
// `of_look_up` is the time as a ratio to one look-up of the record's connection in a
// std::unordered_map, measured in the same run.
#include <benchmark/benchmark.h>

#include <ctime>
#include <unordered_map>
#include <vector>

#include "aggregator/flows/analyser.h"

namespace l4::flows {
namespace {

/// Seconds of processor time: other programs may run.
double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

constexpr unsigned kServers = 512, kRails = 8, kSteps = 16, kBuckets = 4;

Address card(unsigned server, unsigned rail) {
  return Address::of_ipv4((10u << 24) | (rail << 16) | server);
}

std::vector<FlowRecord> made_records() {
  std::vector<FlowRecord> all;
  for (unsigned step = 0; step < kSteps; ++step)
    for (unsigned bucket = 0; bucket < kBuckets; ++bucket)
      for (unsigned server = 0; server < kServers; ++server)
        for (unsigned rail = 0; rail < kRails; ++rail) {
          FlowRecord record;
          record.start = 1'760'000'000 * kSecond + step * 2 * kSecond + bucket * 20 * kMillisecond +
                         server % 7;
          record.end = record.start + 10 * kMillisecond + (server * 31 + rail * 7) % 20'000;
          record.src = card(server, rail);
          record.dst = card(server / 8 * 8 + (server + 1) % 8, rail);
          record.src_port = static_cast<std::uint16_t>(50'000 + rail);
          record.dst_port = kRocePort;
          record.protocol = 17;
          record.bytes = 50'000'000;
          record.packets = 12'000;
          all.push_back(record);
        }
  return all;
}

double seconds_of_look_ups(const std::vector<FlowRecord>& records) {
  std::unordered_map<std::uint64_t, std::uint64_t> table;
  const auto key = [](const FlowRecord& record) {
    return hashing::fold(record.src.hash(), record.dst.hash() ^ record.src_port);
  };
  for (const FlowRecord& record : records) table[key(record)] += record.bytes;
  const double begin = now();
  for (const FlowRecord& record : records) benchmark::DoNotOptimize(table[key(record)]);
  return now() - begin;
}

void report(benchmark::State& state, const std::vector<FlowRecord>& records, double seconds) {
  const double rounds = static_cast<double>(state.iterations());
  const auto all = static_cast<double>(records.size());
  state.counters["ns_a_record"] = seconds / rounds / all * 1e9;
  state.counters["of_look_up"] = seconds / rounds / seconds_of_look_ups(records);
}

void flow_records(benchmark::State& state, bool is_followed) {
  const auto records = made_records();
  const Topology topology;
  double seconds = 0;
  for (auto _ : state) {
    Analyser analyser(topology, {{}, records.size() * 2});
    std::size_t i = 0;
    double begin = now();
    for (; is_followed && i < records.size() / 2; ++i) analyser.add(records[i]);
    if (is_followed) analyser.learn_now();
    if (is_followed) begin = now();
    for (; i < records.size(); ++i) analyser.add(records[i]);
    if (!is_followed) benchmark::DoNotOptimize(analyser.finish());
    seconds += (now() - begin) * (is_followed ? 2 : 1);
  }
  report(state, records, seconds);
}

BENCHMARK_CAPTURE(flow_records, follow, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow_records, learn, false)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace l4::flows
