#include "aggregator/detect/spatial/evidence.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace l4::detect::spatial;
using Eigen::Index;

namespace {

/// `nodes` equal nodes that print every event `rate` times a window, for `windows` windows.
SpatialInput steady(Index nodes, Index events, double rate, double windows) {
  SpatialInput input;
  input.counts = Eigen::MatrixXd::Constant(nodes, events, rate);
  input.history_windows = windows;
  input.history = Eigen::MatrixXd::Constant(nodes, events, rate * windows);
  input.history_max = Eigen::VectorXd::Constant(events, rate);
  input.fresh.assign(static_cast<std::size_t>(events), 0);
  return input;
}

}  // namespace

TEST_CASE("a steady job has no evidence") {
  const Evidence evidence = gather_evidence(steady(8, 3, 40, 10));
  CHECK(evidence.z.cols() == 4);
  CHECK(evidence.z.isZero());
  CHECK(evidence.expected.isApprox(Eigen::MatrixXd::Constant(8, 3, 40)));
  CHECK(evidence.share.isZero());
}

TEST_CASE("count cells follow the residual formula") {
  SpatialInput input = steady(8, 1, 40, 10);
  input.counts(3, 0) = 120;
  input.counts(4, 0) = 2;
  input.counts(5, 0) = 45;
  const Evidence evidence = gather_evidence(input);
  const double root = std::sqrt(40.375);
  const double z = 2 * root * (std::sqrt(120.375) - root) / std::sqrt(40.5);
  const double limit = std::max(5.0, std::sqrt(2 * std::log(100.0 * 8)));
  CHECK(evidence.z(3, 0) == doctest::Approx(1 + std::log(z / limit)));
  CHECK(evidence.kind_at(3, 0) == EvidenceKind::count);
  CHECK(evidence.z(4, 0) < -1);
  CHECK(evidence.z(5, 0) == 0);
  CHECK(evidence.share[0] == doctest::Approx(2.0 / 8));
}

TEST_CASE("roles come out by themselves: a node is compared with its own past") {
  SpatialInput input = steady(16, 1, 10, 20);
  input.counts(0, 0) = 200;
  input.history(0, 0) = 200 * 20;
  input.history_max[0] = 200;
  CHECK(gather_evidence(input).z.isZero());
  input.counts(7, 0) = 200;  // the same count on a node of another role
  const Evidence evidence = gather_evidence(input);
  CHECK(evidence.z(7, 0) > 1);
  CHECK(evidence.z(0, 0) == 0);
}

TEST_CASE("what changes on all nodes is no evidence against any") {
  SpatialInput input = steady(16, 1, 40, 20);
  input.counts.setConstant(400);
  CHECK(gather_evidence(input).z.isZero());
}

TEST_CASE("bursty events need more: the dispersion comes from the squared counts") {
  SpatialInput input = steady(8, 1, 40, 10);
  input.counts(2, 0) = 110;
  CHECK(gather_evidence(input).z(2, 0) > 0);
  // Each node printed 20 or 60 per window: mean 40, variance 444 with 9 degrees of freedom.
  input.history_squares = Eigen::VectorXd::Constant(1, 8 * (5 * 400.0 + 5 * 3600.0));
  CHECK(gather_evidence(input).z(2, 0) == 0);
}

TEST_CASE("rare events are judged by the largest count in history") {
  SpatialInput input = steady(8, 1, 0, 10);
  input.history(1, 0) = 4;
  input.history_max[0] = 4;
  input.counts(2, 0) = 8;
  CHECK(gather_evidence(input).z.isZero());
  input.counts(2, 0) = 9;
  const Evidence evidence = gather_evidence(input);
  CHECK(evidence.z(2, 0) == doctest::Approx(1 + std::log(9.0 / 4)));
  CHECK(evidence.kind_at(2, 0) == EvidenceKind::excess);
}

TEST_CASE("new, known and absent events") {
  SpatialInput input = steady(10, 3, 0, 10);
  input.in_pool = {0, 1, 0};
  input.counts(4, 0) = 9;
  input.counts(5, 1) = 9;
  for (Index node = 0; node < 9; ++node) input.counts(node, 2) = 3;
  const Evidence evidence = gather_evidence(input);
  CHECK(evidence.z(4, 0) == doctest::Approx(2 + std::log(9.0) / 2));
  CHECK(evidence.kind_at(4, 0) == EvidenceKind::fresh);
  CHECK(evidence.z(5, 1) == 1);
  CHECK(evidence.kind_at(5, 1) == EvidenceKind::known);
  CHECK(evidence.z.col(2).head(9).isZero());
  CHECK(evidence.z(9, 2) == -2);
  CHECK(evidence.kind_at(9, 2) == EvidenceKind::absent);
}

TEST_CASE("a node whose last line is old is stale, unknown times are not") {
  SpatialInput input = steady(5, 1, 10, 10);
  input.last_line_ms = {100'000, 101'000, std::numeric_limits<double>::quiet_NaN(), 60'000, 97'000};
  const Evidence evidence = gather_evidence(input);
  const double behind = 98'500 - 60'000;
  CHECK(evidence.usual_last_ms == 98'500);
  CHECK(evidence.z(3, 1) == doctest::Approx(1 + std::log(behind / 5'000)));
  CHECK(evidence.kind_at(3, 1) == EvidenceKind::stale);
  CHECK(evidence.z.cwiseAbs().sum() == evidence.z(3, 1));
}

TEST_CASE("without history the peers are the expectation") {
  SpatialInput input;
  input.counts = Eigen::MatrixXd::Constant(9, 1, 50);
  input.fresh = {0};
  CHECK(gather_evidence(input).z.isZero());
  input.counts(6, 0) = 500;
  const Evidence evidence = gather_evidence(input);
  CHECK(evidence.z(6, 0) > 1);
  CHECK(evidence.expected(6, 0) == 50);
}

TEST_CASE("the median ignores what is not finite") {
  CHECK(std::isnan(median({})));
  CHECK(median({3}) == 3);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median({std::numeric_limits<double>::infinity(), 7, 5, 6}) == 6);
}
