// What one healthy run leaves to the jobs of its kind: what is normal there (paper 5.2).
//
// Flow: a JobView of a run that ended well -> make_run -> the live aggregator's pool, where other
// jobs are held against it (shelf.h). Texts are template texts as agents sent them, so secrets were
// blotted out on the nodes; no line and no parameter is kept. Plain values, no clock.
// Bounds: kEventsMax events, most frequent first, with texts of kTextBytesMax; what does not fit is
// left out and counted.
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
  TemplateId id;  ///< smallest skeleton: the same for the same line in another job
  std::string text;
  Level level = Level::unknown;
  std::uint64_t node_count_max = 0;  ///< largest count on one node
  double node_rate_max = 0;          ///< the same per line of that node
  double node_share = 0;             ///< nodes that print it, of all
  bool operator==(const Event&) const = default;
};

/// The longest healthy pause of a kind (watch/pauses.h).
struct Pause {
  Stage stage = Stage::unknown;
  bool startup = true;
  Millis longest{0};
  bool operator==(const Pause&) const = default;
};

/// Who said that it ended well.
enum class Origin : std::uint8_t { logs, outcome, folder };
std::string_view name(Origin origin);

struct Run {
  std::string id;  ///< JOB.ATTEMPT
  std::string job;
  std::int32_t attempt = 0;
  std::string kind;  ///< given by the shelf; empty before
  Origin origin = Origin::logs;
  TimeMs ended{};                                               ///< of a folder: when it was added
  std::uint64_t nodes = 0, ranks = 0, lines = 0, left_out = 0;  ///< left_out: events
  std::vector<Event> events;
  std::vector<Pause> pauses;
  bool operator==(const Run&) const = default;
};

std::string run_id(std::string_view job, std::int32_t attempt);

/// Pauses, origin and end are the caller's to fill in.
Run make_run(const job::JobView& healthy);

/// Of a process that is known to have ended other than with exit code 0.
bool ended_badly(const job::JobView& view);

}  // namespace l4::pool
