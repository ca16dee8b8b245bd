// Collective operations of one group of streams, put together from their records.
//
// Place in the flow: rows of a group -> Assembler -> Event -> StepCounter. The edges of one
// collective end together, whatever their exporters; each edge has one record in it. Ends within
// the tolerance join one event, unless the event already has a record of that edge. An event is
// closed when it is complete, or when the clock of the rows has passed it by `hold`. One owner.
// Bounds: kPendingMax open events; memory in proportion to the edges. No allocation per row once
// warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "aggregator/flows/record.h"

namespace l4::flows {

/// One edge's share of an event.
struct Part {
  std::uint32_t edge = 0;  ///< index within the group
  TimeNs start = 0, end = 0;
  std::uint64_t bytes = 0;
};

/// The same as an event keeps it: times to 64 ns, as far as 137 s from its base.
struct KeptPart {
  std::uint32_t edge = 0;
  std::int32_t start = 0, end = 0;
};

struct Event {
  std::vector<KeptPart> parts;
  TimeNs base = 0;              ///< start of its first part
  std::uint64_t low_edges = 0;  ///< a bit for each part of an edge below 64
  TimeNs first_start = 0, last_start = 0, end = 0;
  std::uint64_t bytes = 0;  ///< of all parts

  TimeNs start_of(const KeptPart& part) const { return base + TimeNs{part.start} * kUnit; }
  TimeNs end_of(const KeptPart& part) const { return base + TimeNs{part.end} * kUnit; }
  void add(const Part& part);
  /// Time in which everybody had arrived and data still moved.
  TimeNs transfer() const { return end > last_start ? end - last_start : 0; }

 private:
  static constexpr TimeNs kUnit = 64;
};

struct EventSettings {
  TimeNs tolerance = 3 * kMillisecond;
  TimeNs hold = 50 * kMillisecond;
};

class Assembler {
 public:
  static constexpr std::size_t kPendingMax = 32;

  /// Closed events, kept for their memory; several assemblers may share them.
  using Spare = std::shared_ptr<std::vector<Event>>;

  Assembler(std::size_t edges, const EventSettings& settings,
            Spare spare = std::make_shared<std::vector<Event>>())
      : edges_(edges), settings_(settings), spare_(std::move(spare)) {}

  /// Calls `closed(const Event&)` for each event that is over, in the order of their ends.
  template <class Closed>
  void add(const Part& part, Closed closed) {
    if (edges_ == 1) {  // it is over at once
      start(single_, part);
      closed(single_);
      return;
    }
    place(part);
    newest_ = part.end > newest_ ? part.end : newest_;
    release(newest_, closed);
  }
  /// Closes what ended `hold` before `now`.
  template <class Closed>
  void release(TimeNs now, Closed closed) {
    while (!open_.empty()) {
      const Event& first = open_.front();
      if (first.parts.size() < edges_ && first.end + settings_.hold >= now &&
          open_.size() <= kPendingMax)
        return;
      closed(first);
      spare_->push_back(std::move(open_.front()));
      open_.erase(open_.begin());
    }
  }
  const std::vector<Event>& open() const { return open_; }

 private:
  void place(const Part& part);
  static void start(Event& event, const Part& part);

  std::size_t edges_;
  EventSettings settings_;
  std::vector<Event> open_;  ///< by their ends
  Spare spare_;
  Event single_;  ///< where an event has one edge
  TimeNs newest_ = 0;
};

}  // namespace l4::flows
