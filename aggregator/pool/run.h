// The events of one healthy run, which are normal for jobs of its kind (paper 5.2).
//
// Flow: a JobView of a run that ended well -> make_run -> the live aggregator's pool, with which
// other jobs are compared (shelf.h). Texts are template texts as agents sent them, so secrets were
// redacted on the nodes; no line and no parameter is kept. Plain values, no clock. Bounds: the
// kEventsMax most frequent events, with texts of kTextBytesMax; the others are left out and
// counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/job/view.h"

namespace l4::pool {

inline constexpr std::size_t kEventsMax = 2'000, kTextBytesMax = 1'024, kNameBytesMax = 512;
inline constexpr std::size_t kPausesMax = 64;

struct Event {
  TemplateId id;  ///< smallest skeleton: equal for equal lines of different jobs
  std::string text;
  Level level = Level::unknown;
  std::uint64_t node_count_max = 0;  ///< largest count on one node
  double node_rate_max = 0;          ///< largest count on one node per line of that node
  double node_share = 0;             ///< share of the nodes that print the event
  bool operator==(const Event&) const = default;
};

/// The longest healthy pause of a kind (watch/pauses.h).
struct Pause {
  Stage stage = Stage::unknown;
  bool startup = true;
  Millis longest{0};
  bool operator==(const Pause&) const = default;
};

/// How it is known that the run ended well.
enum class Origin : std::uint8_t { logs, outcome, folder };
std::string_view name(Origin origin);

struct Run {
  std::string id;  ///< JOB.ATTEMPT
  std::string job;
  std::int32_t attempt = 0;
  std::string kind;  ///< assigned by the shelf; empty before
  Origin origin = Origin::logs;
  TimeMs ended{};  ///< for a folder: when the run was added
  std::uint64_t nodes = 0, ranks = 0, lines = 0, left_out = 0;  ///< left_out: events
  double slowed = 1;                                            ///< diagnose::slowed_by()
  std::vector<Event> events;
  std::vector<Pause> pauses;
  bool operator==(const Run&) const = default;
};

std::string run_id(std::string_view job, std::int32_t attempt);

/// Makes a run without pauses, origin and end, which the caller sets.
Run make_run(const job::JobView& healthy);

/// True if a process is known to have ended otherwise than with exit code 0.
bool ended_badly(const job::JobView& view);

}  // namespace l4::pool
