#include "aggregator/detect/spatial/spatial.h"
#include "aggregator/detect/spatial/evidence.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "aggregator/detect/spatial/paper.h"

using namespace l4::detect::spatial;
using Eigen::Index;

namespace {

constexpr double kNow = 1'000'000;

/// A job of equal nodes, except that node 0 and the last node also print events of their own.
class SimulatedJob {
 public:
  SimulatedJob(Index nodes, Index events, int windows, std::uint64_t seed, bool bursty = false)
      : nodes_(nodes), events_(events), bursty_(bursty), random_(seed) {
    rates_ = Eigen::MatrixXd::Zero(nodes, events);
    for (Index event = 0; event < events; ++event) {
      const double rate = std::exp(std::uniform_real_distribution<>(-3, 5)(random_));
      rates_.col(event).setConstant(rate);
    }
    for (Index event = 0; event < 5; ++event) {
      rates_.col(event).setZero();
      rates_(event % 2 == 0 ? 0 : nodes - 1, event) = 30;
    }
    input.history_windows = windows;
    input.history = Eigen::MatrixXd::Zero(nodes, events);
    input.history_max = Eigen::VectorXd::Zero(events);
    input.history_squares = Eigen::VectorXd::Zero(events);
    for (int window = 0; window < windows; ++window) add_window(draw());
    input.counts = draw();
    input.last_line_ms.assign(static_cast<std::size_t>(nodes), kNow);
    for (double& last : input.last_line_ms)
      last += std::uniform_real_distribution<>(0, 900)(random_);
    input.first_ms = Eigen::MatrixXd::Constant(nodes, events, kNow);
  }

  /// An event that never occurred before, printed `count` times at `at_ms`.
  void print_new(Index node, Index event, double count, double at_ms = kNow) {
    input.counts(node, event) = count;
    input.first_ms(node, event) = at_ms;
  }
  /// A column without any past; returns its index.
  Index unused_event() {
    const Index event = events_ - 1 - used_++;
    input.counts.col(event).setZero();
    input.history.col(event).setZero();
    input.history_max[event] = 0;
    input.history_squares[event] = 0;
    return event;
  }

  SpatialInput input;

 private:
  Eigen::MatrixXd draw() {
    Eigen::MatrixXd counts(nodes_, events_);
    for (Index event = 0; event < events_; ++event) {
      for (Index node = 0; node < nodes_; ++node) {
        double rate = rates_(node, event);
        if (bursty_ && event % 3 == 0) rate *= std::gamma_distribution<>(2, 0.5)(random_);
        counts(node, event) = rate > 0 ? std::poisson_distribution<int>(rate)(random_) : 0;
      }
    }
    return counts;
  }
  void add_window(const Eigen::MatrixXd& counts) {
    input.history += counts;
    input.history_max = input.history_max.cwiseMax(counts.colwise().maxCoeff().transpose());
    input.history_squares += counts.colwise().squaredNorm().transpose();
  }

  Index nodes_, events_;
  Index used_ = 0;
  bool bursty_;
  std::mt19937_64 random_;
  Eigen::MatrixXd rates_;
};

enum class Fault { rare_line, two_errors, silence, flood, missing, cascade, retries };

/// The fault's effect on the job's window.
void inject(SimulatedJob& job, Fault fault, Index node, std::mt19937_64& random) {
  SpatialInput& input = job.input;
  const auto silent_since = [&](double ms) {
    input.last_line_ms[static_cast<std::size_t>(node)] = kNow - ms;
    input.counts.row(node) = (input.counts.row(node) * 0.5).array().round().matrix();
  };
  switch (fault) {
    case Fault::rare_line:
      job.print_new(node, job.unused_event(), 1);
      break;
    case Fault::two_errors:
      for (int i = 0; i < 2; ++i) job.print_new(node, job.unused_event(), 4);
      break;
    case Fault::silence:
      silent_since(90'000);
      break;
    case Fault::flood: {
      Index event = 0;
      input.history.row(node).maxCoeff(&event);
      input.counts(node, event) = input.counts(node, event) * 4 + 60;
      break;
    }
    case Fault::missing: {
      Index event = 0;
      input.history.row(node).maxCoeff(&event);
      input.counts(node, event) = 0;
      break;
    }
    case Fault::cascade: {  // the node first, then its peers complain within seconds
      const Index error = job.unused_event();
      const Index complaint = job.unused_event();
      job.print_new(node, error, 2, kNow - 20'000);
      for (Index other = 0; other < input.nodes(); ++other) {
        const double delay = std::uniform_real_distribution<>(500, 9'000)(random);
        if (other != node && random() % 3 == 0) job.print_new(other, complaint, 1, kNow + delay);
      }
      break;
    }
    case Fault::retries: {
      const Index event = job.unused_event();
      input.history(3, event) = 2;
      input.history_max[event] = 1;
      input.counts(node, event) = 12;
      break;
    }
  }
}

}  // namespace

TEST_CASE("one rare error line on one of a hundred nodes puts that node first") {
  SimulatedJob job(100, 60, 12, 7);
  const Index event = job.unused_event();
  job.print_new(42, event, 1);
  const SpatialResult result = compare_nodes(job.input);
  REQUIRE(result.nodes.size() == 100);
  const NodeScore& top = result.nodes[0];
  CHECK(top.node == 42);
  CHECK(top.order == 1);
  REQUIRE(top.contributions.size() == 1);
  CHECK(top.contributions[0].event == event);
  CHECK(top.contributions[0].kind == EvidenceKind::fresh);
  CHECK(top.contributions[0].term == doctest::Approx(2 * std::log(100.0)));
  CHECK(result.ripe);
  CHECK_FALSE(result.alarm);  // a lone new line is information
}

TEST_CASE("two new errors on one node are an alarm") {
  SimulatedJob job(100, 60, 12, 7);
  job.print_new(42, job.unused_event(), 3);
  job.print_new(42, job.unused_event(), 3);
  const SpatialResult result = compare_nodes(job.input);
  CHECK(result.alarm);
  CHECK(result.nodes[0].node == 42);
  CHECK(result.nodes[0].alarm);
  CHECK_FALSE(result.nodes[1].alarm);
}

TEST_CASE("30 of 100 nodes with the same error rank above all others") {
  SimulatedJob job(100, 60, 12, 11);
  const Index event = job.unused_event();
  for (Index i = 0; i < 30; ++i) job.print_new(i * 3, event, 2, kNow + static_cast<double>(i) * 40);
  const SpatialResult result = compare_nodes(job.input);
  for (std::size_t i = 0; i < 30; ++i) CHECK(result.nodes[i].node % 3 == 0);
  CHECK(result.nodes[0].node == 0);
  CHECK(result.nodes[29].score > result.nodes[30].score);
}

TEST_CASE("healthy jobs raise nothing, roles included") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SimulatedJob job(64, 60, 12, seed, seed % 2 == 1);
    const SpatialResult result = compare_nodes(job.input);
    CHECK_FALSE(result.alarm);
    CHECK(result.nodes[0].explanation < 2 * std::log(64.0));
  }
}

TEST_CASE("128 nodes, several kinds of fault: the right node is first nearly always") {
  std::mt19937_64 random(99);
  int right = 0, all = 0;
  for (int kind = 0; kind <= static_cast<int>(Fault::retries); ++kind) {
    int hits = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SimulatedJob job(128, 80, 12, seed * 31 + static_cast<std::uint64_t>(kind), true);
      job.input.counts = (job.input.counts * 0.6).array().round().matrix();  // all are slower
      const Index known = job.unused_event();
      job.input.in_pool.assign(80, 0);
      job.input.in_pool[static_cast<std::size_t>(known)] = 1;
      for (int i = 0; i < 3; ++i) job.print_new(static_cast<Index>(random() % 128), known, 2);
      const Index node = static_cast<Index>(random() % 128);
      inject(job, static_cast<Fault>(kind), node, random);
      hits += compare_nodes(job.input).nodes[0].node == node ? 1 : 0;
      ++all;
    }
    INFO("fault kind " << kind << ": " << hits << " of 8");
    CHECK(hits >= 6);
    right += hits;
  }
  MESSAGE("top-1 in " << right << " of " << all);
  CHECK(right * 10 >= all * 9);
}

TEST_CASE("the result is a function of input and seed") {
  SimulatedJob job(40, 30, 10, 3);
  job.print_new(5, job.unused_event(), 1);
  const SpatialResult a = compare_nodes(job.input);
  const SpatialResult b = compare_nodes(job.input);
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    CHECK(a.nodes[i].node == b.nodes[i].node);
    CHECK(a.nodes[i].score == b.nodes[i].score);
  }
}

TEST_CASE("small and empty inputs give finite scores and no alarm") {
  for (Index nodes : {0, 1, 2, 3}) {
    for (Index events : {0, 2}) {
      SpatialInput input;
      input.counts = Eigen::MatrixXd::Constant(nodes, events, 4);
      if (nodes > 0 && events > 0) input.counts(0, 0) = 900;
      input.fresh.assign(static_cast<std::size_t>(events), 1);
      const SpatialResult result = compare_nodes(input);
      REQUIRE(result.nodes.size() == static_cast<std::size_t>(nodes));
      CHECK_FALSE(result.alarm);
      for (const NodeScore& node : result.nodes) {
        CHECK(std::isfinite(node.score));
        CHECK(std::isfinite(node.explanation));
        CHECK(std::isfinite(node.order_bonus));
      }
    }
  }
}

TEST_CASE("equal rows are equal") {
  SpatialInput input;
  input.counts = Eigen::MatrixXd::Constant(20, 4, 7);
  for (const NodeScore& node : compare_nodes(input).nodes) CHECK(node.score == 0);
}

TEST_CASE("paper mode: raw counts, three sigma") {
  Eigen::MatrixXd counts(50, 3);
  for (Index i = 0; i < 50; ++i) counts.row(i) << 40 + i % 3, 12 + i % 2, 0;
  counts.row(20) << 900, 400, 6;
  const auto nodes = compare_nodes_paper(counts, 1);
  REQUIRE(nodes.size() == 50);
  CHECK(nodes[0].node == 20);
  CHECK(nodes[0].suspicious);
  CHECK(nodes[0].events == std::vector<Index>{0, 1, 2});
  CHECK(std::ranges::count_if(nodes, &PaperNode::suspicious) == 1);
  CHECK(compare_nodes_paper(Eigen::MatrixXd(0, 3), 1).empty());
  for (const auto& node : compare_nodes_paper(Eigen::MatrixXd::Ones(6, 2), 1)) {
    CHECK_FALSE(node.suspicious);
  }
}
