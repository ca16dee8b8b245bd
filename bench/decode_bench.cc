// Throughput of the decoder on one thread, beside a loop that only finds line ends.
//
// Inputs: lines with a Python stamp, glog lines behind torch's prefix, Megatron lines without any
// stamp. 32 MB each, generated, so that figures compare across machines.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "agent/decode/decoder.h"

namespace {

constexpr std::size_t kBytes = 32u << 20;

std::string two_digits(std::size_t value) {
  return {static_cast<char>('0' + value / 10 % 10), static_cast<char>('0' + value % 10)};
}

std::string clock_text(std::size_t i) {
  return two_digits(i / 3600 % 24) + ":" + two_digits(i / 60 % 60) + ":" + two_digits(i % 60);
}

std::string stamped(std::size_t i) {
  return "2026-11-20 " + clock_text(i) + ",917 - trainer.loop - INFO - iteration " +
         std::to_string(i) + " loss 2.2354 grad norm 0.581 tokens per second 18342.7\n";
}

std::string glog(std::size_t i) {
  return "[rank3]:[W1120 " + clock_text(i) +
         ".600372791 ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0(default_pg) Rank 3] using GPU " +
         std::to_string(i % 8) + " to perform barrier as devices are currently unknown\n";
}

std::string megatron(std::size_t i) {
  return " iteration " + std::to_string(i) +
         "/  115311 | consumed samples:     47768496 | elapsed time per iteration (s): 105.43 | "
         "learning rate: 5.2E-05 | global batch size:  2048 | lm loss: 2.2354E+00 |\n";
}

std::string make(std::string (*line)(std::size_t)) {
  std::string text;
  text.reserve(kBytes + 512);
  for (std::size_t i = 0; text.size() < kBytes; ++i) text += line(i);
  return text;
}

void newline_loop(benchmark::State& state) {
  const std::string text = make(stamped);
  for (auto _ : state) {
    std::size_t lines = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (const void* hit = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
      ++lines;
      at = static_cast<const char*>(hit) + 1;
    }
    benchmark::DoNotOptimize(lines);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(newline_loop)->Unit(benchmark::kMillisecond);

void decode(benchmark::State& state, std::string (*line)(std::size_t)) {
  const std::string text = make(line);
  l4::decode::Options options;
  options.year_hint = l4::parse_time("2026-11-21T00:00:00Z");
  for (auto _ : state) {
    std::size_t bytes = 0;
    l4::decode::Decoder decoder{
        options, [&](const l4::decode::Record& record) { bytes += record.text.size(); }};
    for (std::size_t at = 0; at < text.size(); at += 1 << 20)
      decoder.feed(std::string_view{text}.substr(at, 1 << 20));
    decoder.finish();
    benchmark::DoNotOptimize(bytes);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK_CAPTURE(decode, python_stamp, stamped)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, torch_glog, glog)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, megatron_no_stamp, megatron)->Unit(benchmark::kMillisecond);

}  // namespace
