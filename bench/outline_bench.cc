// Speed of outlining lines against the speed of finding line ends in the same bytes.
//
// Lines: a file named by L4_BENCH_FILE, otherwise generated ones. Reports bytes per second and, as
// `of_memchr`, its share of the speed of the memchr loop measured beside it.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "common/base/outline.h"

namespace l4 {
namespace {

std::string made_lines() {
  std::mt19937 random(7);
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += "iteration " + std::to_string(random() % 250'000) +
            "/  250000 | elapsed time (ms): " + std::to_string(random() % 9'000) + "." +
            std::to_string(random() % 10) +
            " | learning rate: 3.000E-05 | lm loss: " + std::to_string(random() % 9'999) +
            " | grad norm: 0." + std::to_string(random() % 999) + " | skipped iterations:   0 |\n";
    text += "loading shard " + std::to_string(random() % 999) + " of the corpus\n";
  }
  return text;
}

const std::string& text() {
  static const std::string kept = [] {
    if (const char* name = std::getenv("L4_BENCH_FILE"); name != nullptr) {
      std::ifstream file(name, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(file), {});
    }
    return made_lines();
  }();
  return kept;
}

template <class Take>
double seconds_of(Take take) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string_view all = text();
  for (std::size_t at = 0; at < all.size();) {
    const void* hit = std::memchr(all.data() + at, '\n', all.size() - at);
    const std::size_t end =
        hit == nullptr ? all.size()
                       : static_cast<std::size_t>(static_cast<const char*>(hit) - all.data());
    take(all.substr(at, end - at));
    at = end + 1;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void outline(benchmark::State& state) {
  double with = 0, without = 0;
  for (auto _ : state) {
    with += seconds_of([](std::string_view line) { benchmark::DoNotOptimize(outline_of(line)); });
    without += seconds_of([](std::string_view line) { benchmark::DoNotOptimize(line); });
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text().size()));
  state.counters["of_memchr"] = without / with;
}
BENCHMARK(outline)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace l4
