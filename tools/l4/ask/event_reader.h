// The aggregator's stream of changes, read piece by piece.
//
// Flow: http::follow of /api/v1/events -> EventReader -> StreamedEvent. docs/API.md has the types
// of events. One thread. Bound: 1 MiB an event; a longer one is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace l4::ask {

struct StreamedEvent {
  std::string id, type, data;
};

/// Server-sent events out of the pieces in which they arrive.
class EventReader {
 public:
  /// The events that this piece completes.
  std::vector<StreamedEvent> feed(std::string_view piece);
  const std::string& last_id() const { return last_id_; }
  /// A new connection begins; the last id stays.
  void begin();

 private:
  void ingest_line(std::string_view line, std::vector<StreamedEvent>& out);

  std::string line_;  ///< not ended yet
  StreamedEvent event_;
  bool is_too_long_ = false;  ///< the present event is too long, and is left out
  std::string last_id_;
};

}  // namespace l4::ask
