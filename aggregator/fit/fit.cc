#include "aggregator/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "aggregator/fit/calibration.h"

namespace l4::fit {
namespace {

using clues::GroundKind;
using clues::GroundRows;
using Claims = std::vector<const LabelledClaim*>;

constexpr double kWeightMost = 6, kStepMost = 1, kStepLeast = 1e-5;
constexpr std::size_t kSweeps = 200;

std::size_t index(GroundKind kind) {
  return static_cast<std::size_t>(kind);
}

bool counts(const clues::Ground& ground) {
  return std::isfinite(ground.value) && ground.value != 0;
}

bool is_bounded(const LabelledClaim& claim, const GroundRows& table) {
  return std::ranges::any_of(claim.grounds, [&](const clues::Ground& ground) {
    return counts(ground) && table[index(ground.kind)].most < clues::kConfidenceMost;
  });
}

double sigmoid(double odds) {
  return 1 / (1 + std::exp(-odds));
}

/// The claims that have one ground, and its value in each.
struct Column {
  GroundKind kind = GroundKind::node_base;
  std::vector<std::pair<std::size_t, double>> rows;
};

std::vector<Column> columns_of(const Claims& claims) {
  std::map<GroundKind, Column> columns;
  for (std::size_t i = 0; i < claims.size(); ++i)
    for (const clues::Ground& ground : claims[i]->grounds) {
      if (!counts(ground)) continue;
      Column& column = columns[ground.kind];
      column.kind = ground.kind;
      column.rows.emplace_back(i, ground.value);
    }
  std::vector<Column> list;
  for (auto& [kind, column] : columns) list.push_back(std::move(column));
  return list;
}

/// The sources, each with the part that it is dealt into.
std::map<std::string, std::size_t> dealt(const Claims& claims, const FitOptions& options) {
  std::map<std::string, std::size_t> part;
  for (const LabelledClaim* claim : claims) part[claim->source] = 0;
  std::vector<std::size_t*> places;
  for (auto& [source, place] : part) places.push_back(&place);
  std::mt19937_64 random(options.seed);
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random() % i]);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = i % options.folds;
  return part;
}

/// By fits that did not see the claim's source; in the order of the claims.
std::vector<Judged> held_out(const Claims& claims, const GroundRows& table,
                             const FitOptions& options) {
  const auto part = dealt(claims, options);
  std::vector<Judged> judged(claims.size());
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    Claims seen;
    for (const LabelledClaim* claim : claims)
      if (part.at(claim->source) != fold) seen.push_back(claim);
    const GroundRows rows = fitted_rows(seen, table, options.pull);
    for (std::size_t i = 0; i < claims.size(); ++i)
      if (part.at(claims[i]->source) == fold)
        judged[i] = {clues::confidence(claims[i]->grounds, rows), claims[i]->right};
  }
  return judged;
}

/// Standard error of the mean gain in log loss, over sources: claims of one are not independent.
double gain_scatter(const Claims& claims, const std::vector<Judged>& before,
                    const std::vector<Judged>& after) {
  std::map<std::string_view, double> gain;
  double mean = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const double one = log_loss(before[i]) - log_loss(after[i]);
    gain[claims[i]->source] += one;
    mean += one;
  }
  mean /= static_cast<double>(gain.size());
  double squares = 0;
  for (const auto& [source, one] : gain) squares += (one - mean) * (one - mean);
  const auto sources = static_cast<double>(gain.size());
  return std::sqrt(squares * sources / std::max(1.0, sources - 1)) /
         static_cast<double>(claims.size());
}

std::string too_few(const FitResult& result, const FitOptions& options) {
  const auto lack = [](std::size_t have, std::size_t least, const char* what) {
    return have < least ? fmt::format("{} {}, {} are needed", have, what, least) : std::string();
  };
  std::string why = lack(result.claims, options.claims_min, "claims");
  if (why.empty()) why = lack(result.claims - result.right, options.wrong_min, "wrong claims");
  if (why.empty()) why = lack(result.sources, options.sources_min, "faults and jobs");
  return why;
}

std::string not_better(const FitResult& result, double scatter) {
  const double gain = result.table.loss - result.held_out.loss;
  if (gain <= scatter)
    return fmt::format(
        "not better where it was not fitted: log loss {:.3f}, the table has {:.3f} (a difference "
        "of {:.3f} may be chance)",
        result.held_out.loss, result.table.loss, scatter);
  if (result.held_out.error > result.table.error)
    return fmt::format("not better where it was not fitted: error {:.3f}, the table has {:.3f}",
                       result.held_out.error, result.table.error);
  return {};
}

std::vector<FittedGround> grounds_of(const Claims& claims, const GroundRows& rows) {
  std::vector<FittedGround> grounds;
  for (const Column& column : columns_of(claims)) {
    FittedGround& ground = grounds.emplace_back();
    ground.kind = column.kind;
    ground.weight = rows[index(column.kind)].weight;
    ground.claims = column.rows.size();
    for (const auto& [row, value] : column.rows) ground.right += claims[row]->right ? 1U : 0U;
  }
  return grounds;
}

}  // namespace

/// Newton steps, a weight at a time, within its sign. The penalised likelihood has one maximum.
GroundRows fitted_rows(const Claims& claims, const GroundRows& table, double pull) {
  Claims free;
  for (const LabelledClaim* claim : claims)
    if (!is_bounded(*claim, table)) free.push_back(claim);
  const std::vector<Column> columns = columns_of(free);
  GroundRows rows = table;
  std::vector<double> odds(free.size());
  for (const Column& column : columns)
    for (const auto& [row, value] : column.rows)
      odds[row] += rows[index(column.kind)].weight * value;
  for (std::size_t sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0;
    for (const Column& column : columns) {
      clues::GroundRow& own = rows[index(column.kind)];
      double slope = pull * (own.weight - table[index(column.kind)].weight), bend = pull;
      for (const auto& [row, value] : column.rows) {
        const double share = sigmoid(odds[row]);
        slope += (share - (free[row]->right ? 1 : 0)) * value;
        bend += share * (1 - share) * value * value;
      }
      const double low = own.sign == clues::Sign::up ? 0 : -kWeightMost;
      const double high = own.sign == clues::Sign::down ? 0 : kWeightMost;
      const double fresh =
          std::clamp(own.weight + std::clamp(-slope / bend, -kStepMost, kStepMost), low, high);
      const double step = fresh - own.weight;
      own.weight = fresh;
      moved = std::max(moved, std::abs(step));
      for (const auto& [row, value] : column.rows) odds[row] += step * value;
    }
    if (moved < kStepLeast) break;
  }
  return rows;
}

FitResult fit_claims(clues::Claim of, const std::vector<LabelledClaim>& claims,
                     const GroundRows& table, const FitOptions& options) {
  Claims own;
  for (const LabelledClaim& claim : claims)
    if (claim.of == of) own.push_back(&claim);
  FitResult result;
  result.of = of;
  result.claims = own.size();
  std::map<std::string_view, std::size_t> sources;
  std::vector<Judged> before;
  for (const LabelledClaim* claim : own) {
    result.right += claim->right ? 1U : 0U;
    ++sources[claim->source];
    before.push_back({clues::confidence(claim->grounds, table), claim->right});
  }
  result.sources = sources.size();
  result.table = {calibration_error(before), log_loss(before)};
  result.kept = too_few(result, options);
  if (!result.kept.empty()) return result;
  const std::vector<Judged> after = held_out(own, table, options);
  result.held_out = {calibration_error(after), log_loss(after)};
  result.bound = calibration_bound(after, options.seed);
  result.kept = not_better(result, gain_scatter(own, before, after));
  if (result.kept.empty()) result.grounds = grounds_of(own, fitted_rows(own, table, options.pull));
  return result;
}

}  // namespace l4::fit
