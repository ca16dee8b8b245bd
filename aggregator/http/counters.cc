#include "aggregator/http/counters.h"

#include <algorithm>
#include <numeric>

namespace l4::http {

std::uint64_t ServerCounts::refused() const {
  return std::accumulate(refused_for.begin(), refused_for.end(), std::uint64_t{0});
}

void Counters::answer(unsigned status) {
  const unsigned hundreds = status / 100;
  if (hundreds >= 2 && hundreds < 2 + kAnswerKinds.size()) ++answers.at(hundreds - 2);
}

ServerCounts Counters::now() const {
  ServerCounts counts;
  counts.connections = connections;
  counts.requests = requests;
  counts.timed_out = timed_out;
  counts.evicted = evicted;
  counts.open = open;
  counts.in_flight = in_flight;
  counts.streams = streams;
  counts.connections_max = connections_max;
  counts.in_flight_max = in_flight_max;
  std::ranges::copy(refused_for, counts.refused_for.begin());
  std::ranges::copy(answers, counts.answers.begin());
  return counts;
}

}  // namespace l4::http
