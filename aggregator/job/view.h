// One attempt of one job, resolved and read-only, as every detector sees it.
//
// Place in the flow: built from JobState for every diagnosis; detectors and diagnosis read nothing
// else. Local template ids are gone: events are job-wide, numbered densely in the order of their
// ids. Nodes and ranks are sorted by name and number, so equal states give equal views. Owns its
// data except streams, their stats and processes, which live in the JobState it was built from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aggregator/job/event_table.h"
#include "common/base/ids.h"
#include "common/base/slim_optional.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"
#include "common/wire/segment.h"

namespace l4::wire {
struct ProcessFact;
}  // namespace l4::wire

namespace l4::job {

struct AgentSlice;
class Attempts;
class JobState;
struct Stream;

inline constexpr std::uint32_t kNoEvent = ~std::uint32_t{0};

/// An event on one stream. What nearly every look at all occurrences asks for stands here, too:
/// `stats` lies elsewhere for each stream.
struct Occurrence {
  std::uint32_t stream = 0;      ///< index into JobView::streams
  bool exact = false;            ///< stats.first_time_exact: `time` was printed
  std::uint64_t first_line = 0;  ///< stats.first_line
  const EventStats& stats;
  SlimTime time;  ///< best estimate of its first occurrence
};

/// A parameter tuple of an event, on all streams together.
struct ParameterSeen {
  std::vector<wire::Parameter> values;
  std::uint64_t count = 0;
  std::vector<std::uint32_t> streams;  ///< that printed it, indices into JobView::streams
};

struct EventView {
  TemplateId id;
  std::string text;
  Level level = Level::unknown;
  std::uint8_t marks = 0;
  std::uint64_t count = 0;
  std::vector<Occurrence> at;             ///< by stream
  std::vector<ParameterSeen> parameters;  ///< in order of first appearance
};

/// A log of one agent: speakers of a merged file are streams of one log. Its lines have one order.
using Log = std::pair<const AgentSlice*, std::string_view>;

struct StreamView {
  const Stream* state = nullptr;
  const AgentSlice* agent = nullptr;
  std::uint32_t node = 0;
  std::uint32_t rank = 0;               ///< index into JobView::ranks
  std::optional<TimeMs> last_activity;  ///< printed time, arrival or trusted mtime
  std::optional<TimeMs> grew_until;  ///< arrival or trusted mtime alone; not before the last stamp

  Log log() const;
};

/// A training process, or a launcher (rank empty and `launcher` set): its streams together.
struct RankView {
  std::uint32_t node = 0;
  std::optional<Rank> rank;
  RankSource rank_source = RankSource::none;
  std::optional<std::int32_t> local_rank;
  bool launcher = false;
  std::vector<std::uint32_t> streams;
  std::optional<TimeMs> begin, end;  ///< first and last sign of life
  std::optional<Iteration> completed, started;
  std::optional<TimeMs> completed_time;
  std::uint64_t lines = 0;
  const wire::ProcessFact* process = nullptr;  ///< null: not known (offline, a launcher)
};

struct NodeView {
  std::string name;
  std::vector<std::uint32_t> ranks;
  std::optional<TimeMs> begin, end;
};

struct JobView {
  const JobState* state = nullptr;
  std::int32_t attempt = 0;
  std::vector<NodeView> nodes;
  std::vector<RankView> ranks;
  std::vector<StreamView> streams;
  std::vector<EventView> events;
  /// Index into `events` by LocalTemplateId of each agent; kNoEvent where there is none.
  std::unordered_map<const AgentSlice*, std::vector<std::uint32_t>> numbers;
  std::optional<TimeMs> begin, end;  ///< first and last printed time, within JobSpan
  std::uint64_t lines = 0, bytes = 0, bytes_known = 0;
  /// Merged stats of events for which one stream has several local templates.
  std::vector<std::unique_ptr<EventStats>> merged;

  std::size_t training_ranks() const;
};

/// By log: last line with which any of its speakers completed an iteration; 0 if none did.
std::map<Log, std::uint64_t> completed_lines(const JobView& view);

/// `trust_mtimes`: file times are real (docs/DESIGN.md, "Time") and show when a file last grew.
JobView make_view(const JobState& state, std::int32_t attempt, bool trust_mtimes);
/// Like the function above, for several views of one job: `attempts` is made once.
JobView make_view(const Attempts& attempts, std::int32_t attempt, bool trust_mtimes);

}  // namespace l4::job
