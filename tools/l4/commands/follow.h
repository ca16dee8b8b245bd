// `l4 incidents --follow`: each change of an incident as a line, from the moment it is asked.
//
// Flow: run_follow -> http::follow of /api/v1/events -> EventReader -> a line on standard output.
// Blocking, on the thread of the caller, until the reader of standard output goes away or a signal
// ends it. A connection that ends is opened again with the last event's id, so that nothing is
// missed; what the aggregator no longer holds is said on standard error. Bounds: 1 MiB an event.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/l4/ask/asking.h"

namespace l4::commands {

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

/// Follows the incidents of `job`, or of all if that is empty. Exit status: 2 output that cannot be
/// written; 3 the aggregator did not answer the first time.
int run_follow(const ask::Aggregator& asked, const std::string& job, const std::string& format);

}  // namespace l4::commands
