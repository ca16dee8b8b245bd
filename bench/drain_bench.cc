// Speed of the template miner against the speed of finding line ends in the same bytes.
//
// Lines: a file named by L4_BENCH_FILE, otherwise 32 MB of generated lines in the style of training
// and system logs, from a fixed seed. `learn` runs over lines whose skeletons are known (the memo
// has them), `learn_cold` with an empty miner. Every run reports bytes per second and, as
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
#include <vector>

#include "common/drain/template_miner.h"

namespace l4::drain {
namespace {

constexpr std::size_t kMadeBytes = 32'000'000;

class Lines {
 public:
  explicit Lines(std::uint32_t seed) : random_(seed) {
    while (text_.size() < kMadeBytes) {
      add();
      text_ += '\n';
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::string number(std::uint32_t below) { return std::to_string(random_() % below); }
  std::string hex() {
    std::string made;
    while (made.size() < 12) made += "0123456789abcdef"[random_() % 16];
    return made;
  }
  std::string address() { return "10." + number(255) + "." + number(255) + "." + number(255); }

  void add() {
    const std::string rank = number(512);
    switch (random_() % 8) {
      case 0:
      case 1:
        text_ += " iteration " + number(250'000) +
                 "/  250000 | consumed samples: " + number(90'000'000) +
                 " | elapsed time per iteration (ms): " + number(9'000) + "." + number(10) +
                 " | learning rate: " + number(9) + "." + number(999'999) +
                 "E-05 | global batch size:  1024 | lm loss: " + number(9) + "." + number(999'999) +
                 "E+00 | loss scale: 1.0 | grad norm: 0." + number(999) +
                 " | number of skipped iterations:   0 | number of nan iterations:   0 |";
        return;
      case 2:
        text_ += "node" + number(64) + ":" + number(99'999) + ":" + number(99'999) + " [" +
                 number(8) + "] NCCL INFO Channel " + number(32) + "/0 : " + rank + "[" +
                 number(8) + "] -> " + number(512) + "[" + number(8) + "] [send] via NET/IB/" +
                 number(8) + "/GDRDMA";
        return;
      case 3:
        text_ += "megatron.core.num_microbatches_calculator - INFO - [rank" + rank +
                 "] setting number of microbatches to constant " + number(64);
        return;
      case 4:
        text_ += "BLOCK* NameSystem.addStoredBlock: blockMap updated: " + address() +
                 ":50010 is added to blk_-" + number(2'000'000'000) + " size " + number(67'108'864);
        return;
      case 5:
        text_ +=
            "Rank " + rank + " Watchdog caught collective operation timeout: " +
            "WorkNCCL(SeqNum=" + number(99'999) + ", OpType=ALLREDUCE, NumelIn=" + number(1 << 30) +
            ", Timeout(ms)=600000) ran for " + number(600'999) + " milliseconds before timing out.";
        return;
      case 6:
        text_ += "[instance: " + hex() + "] saved checkpoint from iteration " + number(250'000) +
                 " to /ckpt/run-" + number(40) + "/iter_" + number(9'999'999) + " took " +
                 number(120) + ".5s";
        return;
      default:
        text_ += "comm 0x" + hex() + " rank " + rank + " nranks 512 cudaDev " + number(8) +
                 " busId " + number(99) + "000 commId 0x" + hex() + " - Init COMPLETE";
    }
  }

  std::mt19937 random_;
  std::string text_;
};

const std::string& text() {
  static const std::string bytes = [] {
    if (const char* file = std::getenv("L4_BENCH_FILE"); file != nullptr) {
      std::ifstream in(file, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    }
    return Lines(7).take();
  }();
  return bytes;
}

template <class Use>
void each_line(std::string_view bytes, Use use) {
  while (!bytes.empty()) {
    const void* end = std::memchr(bytes.data(), '\n', bytes.size());
    const std::size_t size =
        end == nullptr ? bytes.size()
                       : static_cast<std::size_t>(static_cast<const char*>(end) - bytes.data());
    use(bytes.substr(0, size));
    bytes.remove_prefix(std::min(bytes.size(), size + 1));
  }
}

double memchr_bytes_per_second() {
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    std::size_t lines = 0;
    const auto begin = std::chrono::steady_clock::now();
    each_line(text(), [&](std::string_view) { benchmark::DoNotOptimize(++lines); });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::max(best, static_cast<double>(text().size()) / took.count());
  }
  return best;
}

void report(benchmark::State& state, double seconds) {
  const double bytes = static_cast<double>(state.iterations()) * static_cast<double>(text().size());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["of_memchr"] = bytes / seconds / memchr_bytes_per_second();
}

template <class Run>
void timed(benchmark::State& state, Run run) {
  std::chrono::duration<double> took{};
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto begin = std::chrono::steady_clock::now();
    run();
    took += std::chrono::steady_clock::now() - begin;
  }
  report(state, took.count());
}

void learn_known(benchmark::State& state) {
  TemplateMiner miner;
  each_line(text(), [&](std::string_view line) { miner.learn(line); });
  timed(state, [&] {
    each_line(text(), [&](std::string_view line) { benchmark::DoNotOptimize(miner.learn(line)); });
  });
  state.counters["templates"] = static_cast<double>(miner.size());
}
BENCHMARK(learn_known)->Name("drain/learn")->Unit(benchmark::kMillisecond);

void learn_cold(benchmark::State& state) {
  timed(state, [&] {
    TemplateMiner miner;
    each_line(text(), [&](std::string_view line) { benchmark::DoNotOptimize(miner.learn(line)); });
  });
}
BENCHMARK(learn_cold)->Name("drain/learn_cold")->Unit(benchmark::kMillisecond);

void mask_only(benchmark::State& state) {
  timed(state, [&] {
    each_line(text(), [&](std::string_view line) { benchmark::DoNotOptimize(skeleton_of(line)); });
  });
}
BENCHMARK(mask_only)->Name("drain/skeleton_of")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace l4::drain
