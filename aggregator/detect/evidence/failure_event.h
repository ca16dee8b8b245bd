// Input and result of the detectors of crashes and slowdowns, for each event.
//
// Place in the flow: diagnose makes one EventHint per event; detect/crash and detect/slow answer
// with FailureEvents; suspects and report are derived from them. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregator/detect/evidence/wording.h"
#include "common/base/time.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect {

/// Knowledge of an event from outside this job; one per JobView::events.
struct EventHint {
  Severity severity = Severity::none;
  bool consequence = false;  ///< usually follows another fault
  bool known_fault = false;
  bool harmless = false;  ///< a known fault that does nothing by itself
  bool general = false;   ///< a known fault that says only that something failed, not what
  bool coded = false;     ///< a known fault that its error code identifies
  bool ordinary = false;  ///< an exception such as programs raise and catch
  bool by_words = false;  ///< severity by words alone: no level, known fault or exception says it
  bool waited = false;    ///< says that something was waited for and did not come
  bool setup = false;     ///< happens while processes find each other
  bool accuses_peer = false;
  bool dying = false;  ///< thrown by a process that ends already, if it has failed before
  bool stop = false;   ///< somebody, or a limit, stopped the job
  bool mild = false;   ///< a warning that most jobs survive, whatever its wording
  bool in_pool = false;
  bool excess = false;  ///< in the pool, but far more frequent here

  /// The event is about another rank: its rank waited, or lost a peer.
  bool is_echo() const { return consequence || waited || accuses_peer; }
  /// A warning that tells of nothing that another rank does or does not do.
  bool only_warns() const { return mild && !waited && !accuses_peer; }
};

struct FailureEvent {
  std::uint32_t event = 0;  ///< index into JobView::events
  Severity severity = Severity::none;
  std::vector<std::uint32_t> occurrences;  ///< indices into EventView::at that count
  std::optional<TimeMs> first_time;
  std::uint32_t first_stream = 0;
  std::uint64_t first_line = 0;  ///< line in `first_stream`
  /// Where that line stands among others: its time, else that of a line near it in its file.
  std::optional<TimeMs> placed;
  bool follows = false;  ///< a more precise event of the same failure says what happened
};

/// The event follows another one: it never is the root while a cause is seen.
inline bool is_consequence(const FailureEvent& event, const EventHint& hint) {
  return hint.consequence || event.follows;
}

/// Nodes on which it occurred.
std::size_t count_nodes(const job::JobView& view, const FailureEvent& event);

struct FailureEvents {
  std::vector<FailureEvent> events;     ///< as failure_order.h says
  std::optional<TimeMs> first_failure;  ///< first event of at least Severity::failure
  std::optional<TimeMs> last_failure;
  bool fatal = false;       ///< some event ends a process
  bool pooled = false;      ///< healthy runs were known, which do not print them
  bool compared = false;    ///< no event sounds like a failure; the comparison sets these apart
  bool worded = true;       ///< what lines say was read
  bool closed = false;      ///< `compared`, and most nodes' logs end with them
  bool led = true;          ///< and so does the log of a stream with iterations, if there is one
  std::size_t closing = 0;  ///< `compared`: so many of them end the logs of one node
  bool parted = false;      ///< `compared`, and nodes end with different ones of them
  bool open = false;        ///< `compared`, and nothing shows that the job failed

  /// Takes `fatal` and both times from `events`.
  void note_failures();
};

}  // namespace l4::detect
