// Costs of extra and missing events, in nats, learned from the job itself.
//
// Flow: temporal.cc prices sequences here before it compares them (dtw.h). One owner, one thread.
// The job has n rank-iterations, n_e of them with event e; f_e = (n_e + 1/2) / (n + 1). An extra
// event costs -ln f_e, a missing one -ln max(1 - f_e, 1 / (2 (n + 1))). Ranks with roles and jobs
// of few iterations need three exceptions. If the stream printed an event in each of its last ten
// iterations, its absence costs at least -ln of the rate of misses, because an event of rank 0
// alone is rare in the whole job. An extra event that the stream printed in two earlier iterations
// costs at most 1. So does a missing event that stands elsewhere in the iteration. A miss is an
// absence after three iterations in a row with the event. An event's rate is misses / n_e once it
// was missed; until then, the first misses of all events / n.
// Memory: 30 bytes per event, 2 per event and stream; the caller bounds the number of events.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "aggregator/detect/temporal/dtw.h"

namespace l4::detect::temporal {

/// Counts of one stream's events so far; indexed by symbol, saturating.
struct StreamEvents {
  std::vector<std::uint8_t> printed;  ///< iterations with the event
  std::vector<std::uint8_t> streak;   ///< latest iterations in a row with the event
};

class EventCosts {
 public:
  /// Dense symbol of an event; the same for the life of this object.
  Symbol intern(std::uint32_t event);
  std::uint32_t event(Symbol symbol) const { return events_[symbol]; }
  /// Extra occurrences cost at most 1: the event is normal in other jobs.
  void set_normal(std::uint32_t event) { normal_[intern(event)] = 1; }

  /// Counts one rank-iteration.
  void learn(StreamEvents& stream, SequenceView symbols);
  double observations() const { return observations_; }
  std::size_t events() const { return events_.size(); }

  /// Events that `x` lacks although the stream's last ten iterations had them, and the cost of one.
  std::vector<Symbol> lost(const StreamEvents& stream, SequenceView x);
  double lost_cost(Symbol symbol) const;
  static bool steady(const StreamEvents& stream, Symbol symbol);

  /// For each position of `x` the cost of its event if that event is extra.
  std::vector<double> extra(const StreamEvents& stream, SequenceView x) const;
  /// For each position of `y` the cost of its event if `x` lacks that event.
  std::vector<double> missing(const StreamEvents& stream, SequenceView y, SequenceView x);

 private:
  void mark(SequenceView symbols);

  std::unordered_map<std::uint32_t, Symbol> symbols_;
  std::vector<std::uint32_t> events_;
  std::vector<std::uint8_t> normal_;
  std::vector<double> seen_in_;       // n_e
  std::vector<std::uint8_t> marked_;  // scratch: 1 for symbols of a sequence
  double observations_ = 0;           // n
  std::vector<double> misses_;        // by symbol: absences after three iterations in a row with it
  double first_misses_ = 0;           // events that were missed
};

}  // namespace l4::detect::temporal
