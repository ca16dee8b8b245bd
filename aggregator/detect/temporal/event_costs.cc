#include "aggregator/detect/temporal/event_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aggregator/numbers/temporal.h"

namespace l4::detect::temporal {
namespace {

void raise(std::uint8_t& counter) {
  if (counter < std::numeric_limits<std::uint8_t>::max()) ++counter;
}

}  // namespace

Symbol EventCosts::intern(std::uint32_t event) {
  const auto [it, added] = symbols_.try_emplace(event, static_cast<Symbol>(events_.size()));
  if (added) {
    events_.push_back(event);
    normal_.push_back(0);
    seen_in_.push_back(0);
    misses_.push_back(0);
    marked_.push_back(0);
  }
  return it->second;
}

void EventCosts::mark(SequenceView symbols) {
  std::ranges::fill(marked_, std::uint8_t{0});
  for (Symbol symbol : symbols) marked_[symbol] = 1;
}

void EventCosts::learn(StreamEvents& stream, SequenceView symbols) {
  mark(symbols);
  stream.printed.resize(events_.size());
  stream.streak.resize(events_.size());
  for (std::size_t symbol = 0; symbol < events_.size(); ++symbol) {
    if (marked_[symbol] != 0) {
      ++seen_in_[symbol];
      raise(stream.printed[symbol]);
      raise(stream.streak[symbol]);
    } else {
      if (stream.streak[symbol] >= numbers::temporal().habit && ++misses_[symbol] <= 1)
        ++first_misses_;
      stream.streak[symbol] = 0;
    }
  }
  ++observations_;
}

bool EventCosts::steady(const StreamEvents& stream, Symbol symbol) {
  return symbol < stream.streak.size() && stream.streak[symbol] >= numbers::temporal().steady;
}

std::vector<Symbol> EventCosts::lost(const StreamEvents& stream, SequenceView x) {
  mark(x);
  std::vector<Symbol> result;
  for (std::size_t symbol = 0; symbol < events_.size(); ++symbol) {
    const auto candidate = static_cast<Symbol>(symbol);
    if (marked_[symbol] == 0 && steady(stream, candidate)) result.push_back(candidate);
  }
  return result;
}

double EventCosts::lost_cost(Symbol symbol) const {
  if (misses_[symbol] > 0) return -std::log((misses_[symbol] + 0.5) / (seen_in_[symbol] + 1));
  return -std::log((first_misses_ + 0.5) / (observations_ + 1));
}

std::vector<double> EventCosts::extra(const StreamEvents& stream, SequenceView x) const {
  std::vector<double> result;
  result.reserve(x.size());
  for (Symbol symbol : x) {
    const bool role =
        symbol < stream.printed.size() && stream.printed[symbol] >= numbers::temporal().role;
    double cost = -std::log((seen_in_[symbol] + 0.5) / (observations_ + 1));
    if (role || normal_[symbol] != 0) cost = std::min(cost, numbers::temporal().odd_place);
    result.push_back(cost);
  }
  return result;
}

std::vector<double> EventCosts::missing(const StreamEvents& stream, SequenceView y,
                                        SequenceView x) {
  mark(x);
  const double all = observations_ + 1;
  std::vector<double> result;
  result.reserve(y.size());
  for (Symbol symbol : y) {
    const double share = (seen_in_[symbol] + 0.5) / all;
    double cost = -std::log(std::max(1 - share, 0.5 / all));
    if (steady(stream, symbol)) cost = std::max(cost, lost_cost(symbol));
    if (marked_[symbol] != 0) cost = std::min(cost, numbers::temporal().odd_place);
    result.push_back(cost);
  }
  return result;
}

}  // namespace l4::detect::temporal
