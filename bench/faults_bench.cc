// Loads the fault library and matches texts, with 1,500 entries of three patterns each.
// The library is generated (tests/aggregator/faults/made_library.h), or the folder that
// L4_BENCH_FAULTS names. `nothing` matches templates that show no fault, `fault` lines that do,
// each text once and with a library that was just loaded, as in a diagnosis. `of_re2_set` is the
// time as a share of that of one RE2::Set of the same patterns with 1 GiB of memory; `set_failed`
// counts the texts for which that memory was too small for an answer.
#include <benchmark/benchmark.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "aggregator/faults/library.h"
#include "aggregator/faults/pattern.h"
#include "tests/aggregator/faults/made_library.h"

namespace l4::faults {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kEntries = 1500;

struct Subject {
  Subject()
      : made(kEntries),
        folder(std::getenv("L4_BENCH_FAULTS") != nullptr ? std::getenv("L4_BENCH_FAULTS")
                                                         : made.folder().string()),
        nothing(made.harmless(2000)) {
    auto loaded = Library::load(folder);
    if (!loaded) std::abort();
    library = std::move(*loaded);
    for (const Fault& fault : library.faults()) fault_lines.push_back(fault.matches.front());
  }

  MadeLibrary made;
  std::filesystem::path folder;
  std::vector<std::string> nothing, fault_lines;
  Library library;
};

Subject& subject() {
  static Subject made;
  return made;
}

struct SetTime {
  double seconds = 0;
  std::size_t failed = 0;
};
SetTime ask_set(const std::vector<std::string>& texts) {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(std::int64_t{1} << 30);
  re2::RE2::Set set(options, re2::RE2::UNANCHORED);
  for (const Fault& fault : subject().library.faults())
    for (const auto& pattern : fault.patterns) set.Add(expand_pattern(pattern), nullptr);
  set.Compile();
  SetTime time;
  const auto begin = Clock::now();
  for (const std::string& text : texts) {
    std::vector<int> found;
    re2::RE2::Set::ErrorInfo error{};
    set.Match(text, &found, &error);
    time.failed += error.kind == re2::RE2::Set::kOutOfMemory ? 1 : 0;
  }
  time.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return time;
}

void ask(benchmark::State& state, const std::vector<std::string>& texts) {
  std::chrono::duration<double> took{};
  std::size_t shown = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto library = Library::load(subject().folder);
    const auto begin = Clock::now();
    for (const std::string& text : texts) shown += library->match(text).size();
    const std::chrono::duration<double> round = Clock::now() - begin;
    state.SetIterationTime(round.count());
    took += round;
  }
  const double asked = static_cast<double>(state.iterations()) * static_cast<double>(texts.size());
  const SetTime set = ask_set(texts);
  state.counters["us_each"] = 1e6 * took.count() / asked;
  state.counters["shown"] = static_cast<double>(shown) / asked;
  state.counters["of_re2_set"] =
      took.count() / static_cast<double>(state.iterations()) / set.seconds;
  state.counters["set_failed"] = static_cast<double>(set.failed);
}

void match_nothing(benchmark::State& state) {
  ask(state, subject().nothing);
}
BENCHMARK(match_nothing)->Name("faults/nothing")->Unit(benchmark::kMillisecond)->UseManualTime();

void match_fault(benchmark::State& state) {
  ask(state, subject().fault_lines);
}
BENCHMARK(match_fault)->Name("faults/fault")->Unit(benchmark::kMillisecond)->UseManualTime();

void load(benchmark::State& state) {
  std::size_t patterns = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto library = Library::load(subject().folder);
    benchmark::DoNotOptimize(library->faults().data());
  }
  for (const Fault& fault : subject().library.faults()) patterns += fault.patterns.size();
  state.counters["entries"] = static_cast<double>(subject().library.faults().size());
  state.counters["patterns"] = static_cast<double>(patterns);
}
BENCHMARK(load)->Name("faults/load")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace l4::faults
