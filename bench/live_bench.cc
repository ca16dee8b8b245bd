// The cost of a running job by its size: a batch of one node, a check for triggers, a whole
// diagnosis.
//
// The cost of a batch depends on its own size, not on the number of ranks of its job; the cost of a
// diagnosis depends on the job, and diagnoses are rare (live_job.cc, docs/adr/0011).
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>

#include "aggregator/scores/matrix.h"
#include "aggregator/scoring/live_job.h"

namespace {

using namespace l4;

constexpr std::int64_t kRanks = 8, kIterations = 300;
constexpr TimeMs kBegin{Millis{1'700'000'000'000}};

wire::Batch definitions(std::int64_t node) {
  wire::Batch batch;
  batch.agent = "node-" + std::to_string(node);
  for (std::uint32_t t = 0; t < 60; ++t)
    batch.templates.push_back({LocalTemplateId{t},
                               1,
                               "word" + std::to_string(t) + " says something of <*> and <*>",
                               Level::info,
                               0,
                               {Skeleton{t + 1}},
                               {}});
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    wire::SourceDefinition source;
    source.id = SourceId{rank};
    source.path = "job/rank" + std::to_string(rank) + ".log";
    source.node = batch.agent;
    source.kind = wire::SourceKind::rank;
    source.rank = Rank{static_cast<std::int32_t>(node * kRanks + rank)};
    batch.sources.push_back(source);
  }
  return batch;
}

/// One iteration of all ranks of a node.
void add_iteration(wire::Batch& batch, std::int64_t node, std::int64_t k) {
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    wire::Segment segment;
    segment.source = SourceId{rank};
    segment.stage = Stage::training;
    segment.iteration = Iteration{k};
    segment.boundary = wire::Boundary::completed;
    segment.begin = kBegin + Millis{k * 1000 - 990 + rank};
    segment.end = kBegin + Millis{k * 1000 + (node * k) % 17};
    segment.arrival_begin = segment.begin;
    segment.arrival_end = segment.end;
    const auto line = static_cast<std::uint64_t>(k) * 3;
    segment.lines = {line, line + 2};
    for (std::uint32_t e = 0; e < (k == 1 ? 60U : 3U); ++e) {
      segment.events.push_back({LocalTemplateId{e}, 1, line + e, segment.begin});
      segment.order.push_back({LocalTemplateId{e}, 1});
    }
    batch.segments.push_back(std::move(segment));
  }
}

struct Job {
  explicit Job(std::int64_t nodes) : job("large", {}, kBegin) {
    for (std::int64_t node = 0; node < nodes; ++node) {
      wire::Batch batch = definitions(node);
      for (std::int64_t k = 1; k <= kIterations; ++k) add_iteration(batch, node, k);
      job.apply(std::move(batch), store::Seq{++seq}, now());
    }
  }
  TimeMs now() const { return kBegin + Millis{iteration * 1000}; }

  scoring::LiveJob job;
  std::uint64_t seq = 0;
  std::int64_t iteration = kIterations;
};

Job& job_of(std::int64_t nodes) {
  static std::map<std::int64_t, std::unique_ptr<Job>> jobs;
  auto& job = jobs[nodes];
  if (!job) job = std::make_unique<Job>(nodes);
  return *job;
}

void batch_of_a_job(benchmark::State& state) {
  Job& made = job_of(state.range(0));
  std::int64_t node = 0;
  for (auto _ : state) {
    state.PauseTiming();
    if (node == 0) ++made.iteration;
    wire::Batch batch;
    batch.agent = "node-" + std::to_string(node);
    add_iteration(batch, node, made.iteration);
    node = (node + 1) % state.range(0);
    state.ResumeTiming();
    made.job.apply(std::move(batch), store::Seq{++made.seq}, made.now());
    benchmark::DoNotOptimize(made.job.poll(made.now(), made.now()));
  }
}
BENCHMARK(batch_of_a_job)->Arg(10)->Arg(100)->Arg(2000)->Iterations(20'000);

void diagnosis_of_a_job(benchmark::State& state) {
  Job& made = job_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(made.job.diagnose(made.now(), made.now(), nullptr));
}
BENCHMARK(diagnosis_of_a_job)->Arg(10)->Arg(100)->Arg(2000)->Unit(benchmark::kMillisecond);

/// A matrix of nodes, ranks or phases, as GET .../scores computes it.
void scores_of_a_job(benchmark::State& state) {
  Job& made = job_of(state.range(0));
  scores::Query query;
  query.what = static_cast<scores::What>(state.range(1));
  query.width = static_cast<std::size_t>(state.range(2));
  for (auto _ : state) benchmark::DoNotOptimize(scores::score_matrix(made.job.state(), query));
}
BENCHMARK(scores_of_a_job)
    ->Args({2000, 0, 120})
    ->Args({2000, 0, 1000})
    ->Args({2000, 1, 120})
    ->Args({2000, 2, 120})
    ->Unit(benchmark::kMillisecond);

}  // namespace
