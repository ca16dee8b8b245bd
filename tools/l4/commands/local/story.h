// What `l4 local` writes while it runs: jobs that begin, fail and end, a line or a few each.
//
// Flow: the aggregator's stream of events, over loopback HTTP as for any client -> Story ->
// standard output. `text_of` depends on the event and the clock only; `follow` blocks on the
// caller's thread until the stream ends. Bound: one short text for each job.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "aggregator/serve/report_text.h"
#include "common/base/time.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/event_reader.h"

namespace l4::commands::local {

class Story {
 public:
  Story(serve::TextStyle style, std::function<TimeMs()> now)
      : style_(style), now_(std::move(now)) {}

  /// The lines about this event; empty if it is no news.
  std::string text_of(const ask::StreamedEvent& event);

 private:
  std::string of_job(std::string_view data);
  std::string of_change(std::string_view data);

  static constexpr std::size_t kSummaryLines = 3;
  serve::TextStyle style_;
  std::function<TimeMs()> now_;
  std::map<std::string, std::string, std::less<>> jobs_;  ///< the last news of each
};

/// An event as a line of JSON: its type and data; empty if it is about the stream itself.
std::string json_of(const ask::StreamedEvent& event);

/// Follows the events of the aggregator, until the stream ends or `on_event` returns false.
void follow(const ask::Aggregator& asked,
            const std::function<bool(const ask::StreamedEvent&)>& on_event);

}  // namespace l4::commands::local
