// Cost of the scoring code: Isolation Forest by size, evidence scoring, DTW per cell, one
// iteration.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "aggregator/detect/spatial/evidence.h"
#include "aggregator/detect/spatial/isolation_forest.h"
#include "aggregator/detect/spatial/spatial.h"
#include "aggregator/detect/temporal/dtw.h"
#include "aggregator/detect/temporal/temporal.h"

namespace {

using namespace l4::detect;

Eigen::MatrixXd poisson_counts(Eigen::Index nodes, Eigen::Index events) {
  std::mt19937_64 random(1);
  std::poisson_distribution<int> draw(12);
  return Eigen::MatrixXd::NullaryExpr(nodes, events,
                                      [&] { return static_cast<double>(draw(random)); });
}

void forest_on_counts(benchmark::State& state) {
  const Eigen::MatrixXd counts = poisson_counts(state.range(0), state.range(1));
  const spatial::ForestOptions options;
  for (auto _ : state) {
    const auto forest = spatial::IsolationForest::grow(counts, {}, options);
    benchmark::DoNotOptimize(forest.scores(counts));
  }
}
BENCHMARK(forest_on_counts)->Args({128, 200})->Args({1024, 300})->Unit(benchmark::kMillisecond);

/// Evidence rows: one row of zeros with most of the copies, the others sparse and distinct.
void forest_on_distinct_rows(benchmark::State& state) {
  std::mt19937_64 random(1);
  const Eigen::Index rows = state.range(0);
  const Eigen::Index columns = state.range(1);
  Eigen::MatrixXd evidence = Eigen::MatrixXd::Zero(rows, columns);
  for (Eigen::Index row = 1; row < rows; ++row) {
    for (int i = 0; i < 3; ++i) {
      const auto column = static_cast<Eigen::Index>(random() % static_cast<std::uint64_t>(columns));
      evidence(row, column) = 1 + static_cast<double>(random() % 100) / 50;
    }
  }
  std::vector<std::uint32_t> copies(static_cast<std::size_t>(rows), 1);
  copies[0] = 1'000;
  spatial::ForestOptions options;
  options.subsample = spatial::kAllRows;
  options.column_weights.assign(static_cast<std::size_t>(columns), 1);
  for (auto _ : state) {
    const auto forest = spatial::IsolationForest::grow(evidence, copies, options);
    benchmark::DoNotOptimize(forest.scores(evidence));
  }
}
BENCHMARK(forest_on_distinct_rows)
    ->Args({30, 100})
    ->Args({1000, 300})
    ->Unit(benchmark::kMillisecond);

void compare_nodes(benchmark::State& state) {
  spatial::SpatialInput input;
  input.counts = poisson_counts(state.range(0), state.range(1));
  input.history_windows = 10;
  input.history = input.counts * 10;
  input.history_max = Eigen::VectorXd::Constant(state.range(1), 40);
  input.history.col(0).setZero();
  input.history_max[0] = 0;
  input.counts.col(0).setZero();
  input.counts(7, 0) = 1;
  for (auto _ : state) benchmark::DoNotOptimize(spatial::compare_nodes(input));
}
BENCHMARK(compare_nodes)
    ->Args({128, 200})
    ->Args({1024, 300})
    ->Args({10'000, 500})
    ->Unit(benchmark::kMillisecond);

temporal::Sequence random_symbols(std::size_t length, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  temporal::Sequence symbols(length);
  for (auto& symbol : symbols) symbol = static_cast<temporal::Symbol>(random() % 40);
  return symbols;
}

void set_cells(benchmark::State& state) {
  const auto cells = static_cast<double>(state.iterations() * state.range(0) * state.range(0));
  state.counters["per_cell"] =
      benchmark::Counter(cells, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void dtw_symbols(benchmark::State& state) {
  const auto a = random_symbols(static_cast<std::size_t>(state.range(0)), 1);
  const auto b = random_symbols(static_cast<std::size_t>(state.range(0)), 2);
  for (auto _ : state) benchmark::DoNotOptimize(temporal::dtw_symbols(a, b));
  set_cells(state);
}
BENCHMARK(dtw_symbols)->Arg(32)->Arg(256)->Arg(1024);

void directional_distance(benchmark::State& state) {
  const auto a = random_symbols(static_cast<std::size_t>(state.range(0)), 1);
  const auto b = random_symbols(static_cast<std::size_t>(state.range(0)), 2);
  const std::vector<double> extra(a.size(), 3.0), missing(b.size(), 5.0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(temporal::directional_distance({a, extra}, {b, missing}));
  }
  set_cells(state);
}
BENCHMARK(directional_distance)->Arg(32)->Arg(256);

/// One iteration of a job after 100 others; one rank in sixteen prints a stray line somewhere.
void observe_iteration(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  std::mt19937_64 random(1);
  temporal::TemporalScorer scorer;
  std::int64_t iteration = 0;
  std::vector<temporal::Sequence> sequences(ranks);
  const auto step = [&] {
    std::vector<temporal::Observation> round;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      temporal::Sequence& events = sequences[rank];
      events.clear();
      for (temporal::Symbol line = 0; line < 24; ++line) events.push_back(line);
      const auto place = static_cast<std::ptrdiff_t>(random() % events.size());
      if (random() % 16 == 0) events.insert(events.begin() + place, 90 + random() % 9);
      round.push_back({rank, events, 2.0});
    }
    benchmark::DoNotOptimize(scorer.observe(++iteration, round));
  };
  for (int i = 0; i < 100; ++i) step();
  for (auto _ : state) step();
}
BENCHMARK(observe_iteration)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
