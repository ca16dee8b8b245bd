// The cost of durability: the journal compared with a plain write and fdatasync of the same bytes,
// in turns on the same disk (counter `ratio`: 1 is free), and of saving and loading a large job.
#include <benchmark/benchmark.h>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "aggregator/job/saved_job.h"
#include "aggregator/store/group_commit.h"
#include "tests/temp_folder.h"

namespace {

using namespace l4;
using namespace l4::store;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// range(0) batches of range(1) bytes become durable together.
void journal_beside_plain(benchmark::State& state) {
  const test::TempFolder folder;
  const auto batches = static_cast<std::size_t>(state.range(0));
  const Bytes batch(static_cast<std::size_t>(state.range(1)), std::byte{7});
  JournalOptions options;
  options.ring_bytes = 256 << 20;
  Journal journal = *Journal::open(system_files(), folder.path(), options);
  auto plain = *system_files().create(folder.path() / "plain");
  RecordGroup group;
  double journal_s = 0, plain_s = 0;
  std::uint64_t seq = 0;
  for (auto _ : state) {
    auto begin = Clock::now();
    group.clear();
    for (std::size_t i = 0; i < batches; ++i) group.add({Seq{++seq}, {}, "job-1", "node-1", batch});
    if (!journal.commit(group)) return state.SkipWithError("the journal refuses");
    const double one = since(begin);
    begin = Clock::now();
    for (std::size_t i = 0; i < batches; ++i)
      if (!plain->append(batch)) return state.SkipWithError("the disk refuses");
    if (!plain->sync()) return state.SkipWithError("the disk refuses");
    plain_s += since(begin);
    journal_s += one;
    state.SetIterationTime(one);
    journal.retain(Seq{seq}, {});
  }
  state.counters["ratio"] = journal_s / plain_s;
  state.SetBytesProcessed(static_cast<std::int64_t>(batches * batch.size()) * state.iterations());
}
BENCHMARK(journal_beside_plain)
    ->Args({1, 4096})
    ->Args({20, 50'000})
    ->Args({400, 4096})
    ->UseManualTime();

/// The cost of a batch of 10 kB for the receive thread.
void append(benchmark::State& state) {
  const test::TempFolder folder;
  GroupCommitOptions options;
  options.waiting_bytes_max = std::size_t{1} << 30U;
  JournalOptions ring;
  ring.ring_bytes = 256 << 20;
  ring.bytes_max = std::uint64_t{64} << 30U;
  GroupCommit commit(*Journal::open(system_files(), folder.path(), ring), options, {},
                     [] { return TimeMs{}; });
  const Bytes batch(10'000, std::byte{7});
  std::uint64_t appended = 0;
  for (auto _ : state) {
    if (!commit.append("job-1", "node-1", batch)) return state.SkipWithError("refused");
    if (++appended % 1000 != 0) continue;
    state.PauseTiming();
    static_cast<void>(commit.flush());
    commit.set_floor(commit.durable());
    state.ResumeTiming();
  }
}
BENCHMARK(append)->Iterations(20'000);

/// range(0) nodes of 8 ranks with range(1) iterations of three timers and 60 templates each.
std::unique_ptr<job::JobState> large_job(job::TemplateTable& templates, std::int64_t nodes,
                                         std::int64_t iterations) {
  auto state = std::make_unique<job::JobState>("large", 0, templates);
  for (std::int64_t node = 0; node < nodes; ++node) {
    wire::Batch batch;
    batch.agent = "node-" + std::to_string(node);
    for (std::uint16_t timer = 0; timer < 3; ++timer)
      batch.timers.push_back({timer, "timer-" + std::to_string(timer), {}});
    for (std::uint32_t t = 0; t < 60; ++t)
      batch.templates.push_back({LocalTemplateId{t},
                                 1,
                                 "word" + std::to_string(t) + " says something of <*> and <*>",
                                 Level::info,
                                 0,
                                 {Skeleton{t + 1}},
                                 {}});
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      wire::SourceDefinition source;
      source.id = SourceId{rank};
      source.path = "job/rank" + std::to_string(rank) + ".log";
      source.node = batch.agent;
      source.kind = wire::SourceKind::rank;
      source.rank = Rank{static_cast<std::int32_t>(node * 8 + rank)};
      batch.sources.push_back(source);
      for (std::int64_t k = 1; k <= iterations; ++k) {
        wire::Segment segment;
        segment.source = source.id;
        segment.stage = Stage::training;
        segment.iteration = Iteration{k};
        segment.boundary = wire::Boundary::completed;
        segment.begin = TimeMs{Millis{1'700'000'000'000 + k * 1000 - 990 + rank}};
        segment.end = TimeMs{Millis{1'700'000'000'000 + k * 1000 + (node * k) % 17}};
        const auto line = static_cast<std::uint64_t>(k) * 3;
        segment.lines = {line, line + 2};
        for (std::uint32_t e = 0; e < (k == 1 ? 60U : 3U); ++e) {
          segment.events.push_back({LocalTemplateId{e}, 1, line + e, segment.begin});
          segment.order.push_back({LocalTemplateId{e}, 1});
        }
        for (std::uint16_t timer = 0; timer < 3; ++timer)
          segment.timers.push_back({timer, 1, 100.25 + timer, 100.25 + timer});
        batch.segments.push_back(std::move(segment));
      }
    }
    static_cast<void>(state->apply(batch));
  }
  return state;
}

void save_large_job(benchmark::State& state) {
  job::TemplateTable templates;
  const auto job = large_job(templates, state.range(0), state.range(1));
  static_cast<void>(templates.all());
  std::size_t size = 0;
  for (auto _ : state) {
    ByteWriter out;
    job::save_job(*job, out);
    size = out.size();
  }
  state.counters["MB"] = static_cast<double>(size) / 1e6;
}
BENCHMARK(save_large_job)->Args({2000, 60})->Args({2000, 600})->Unit(benchmark::kMillisecond);

void load_large_job(benchmark::State& state) {
  job::TemplateTable templates;
  const auto job = large_job(templates, state.range(0), state.range(1));
  ByteWriter out;
  job::save_job(*job, out);
  for (auto _ : state) {
    job::TemplateTable table;
    job::JobState loaded("large", 0, table);
    if (!job::load_job(out.bytes(), loaded)) return state.SkipWithError("refused");
  }
}
BENCHMARK(load_large_job)->Args({2000, 60})->Args({2000, 600})->Unit(benchmark::kMillisecond);

}  // namespace
