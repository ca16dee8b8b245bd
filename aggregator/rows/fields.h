// Fields of the rows that the aggregator answers: for each kind of row one struct and one list of
// (name, member, what may be absent), in the order of the JSON object.
//
// Flow: answers.cc fills a row and writes it by its list; tools/l4/ask reads the answer by the same
// list into the same struct. schemas/openapi.yaml describes these fields, and tests/openapi_test.py
// compares it with the lists. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/base/time.h"

namespace l4::rows {

/// What a reader must expect instead of a value. A field that may be missing is always written:
/// older aggregators did not send it, or no reader needs it.
enum class Absent : std::uint8_t {
  never,
  null,     ///< null if the value is missing or an empty text
  missing,  ///< no such member
  null_or_missing,
};

constexpr bool may_be_null(Absent absent) {
  return absent == Absent::null || absent == Absent::null_or_missing;
}
constexpr bool may_be_missing(Absent absent) {
  return absent == Absent::missing || absent == Absent::null_or_missing;
}

template <class Row, class T>
struct Field {
  std::string_view name;
  T Row::* member;
  Absent absent = Absent::never;
};

struct JobFields {
  std::string id, state, stage, incident;
  std::int64_t attempt = 0;
  bool suspect = false, ended = false;
  std::optional<TimeMs> since, begin, last_seen;
  std::optional<double> confidence;
  std::optional<std::int64_t> iteration, ranks_expected;
  std::vector<double> course_ms;
  std::uint64_t nodes = 0, ranks = 0, ranks_mapped = 0, sources = 0, lines = 0, notices = 0;
  std::string notice, acknowledged_by;
  std::vector<std::string> users;
  std::optional<TimeMs> silent_until;
  double completeness = 1;

  static constexpr auto list() {
    using Row = JobFields;
    return std::tuple{
        Field{"id", &Row::id},
        Field{"attempt", &Row::attempt},
        Field{"state", &Row::state},
        Field{"confidence", &Row::confidence, Absent::null_or_missing},
        Field{"suspect", &Row::suspect},
        Field{"ended", &Row::ended, Absent::missing},
        Field{"since", &Row::since, Absent::null},
        Field{"stage", &Row::stage, Absent::null},
        Field{"iteration", &Row::iteration, Absent::null},
        Field{"course_ms", &Row::course_ms, Absent::missing},
        Field{"nodes", &Row::nodes},
        Field{"ranks", &Row::ranks},
        Field{"ranks_mapped", &Row::ranks_mapped, Absent::missing},
        Field{"ranks_expected", &Row::ranks_expected, Absent::null_or_missing},
        Field{"users", &Row::users, Absent::missing},
        Field{"sources", &Row::sources, Absent::missing},
        Field{"lines", &Row::lines},
        Field{"begin", &Row::begin, Absent::null_or_missing},
        Field{"last_seen", &Row::last_seen, Absent::null},
        Field{"incident", &Row::incident, Absent::null},
        Field{"completeness", &Row::completeness},
        Field{"notices", &Row::notices, Absent::missing},
        Field{"notice", &Row::notice, Absent::null_or_missing},
        Field{"acknowledged_by", &Row::acknowledged_by, Absent::null_or_missing},
        Field{"silent_until", &Row::silent_until, Absent::null_or_missing},
    };
  }
};

struct NodeFields {
  std::string node;
  std::vector<std::string> agents, why;
  std::vector<std::int64_t> ranks;
  std::uint64_t sources = 0, records = 0;
  std::optional<std::int64_t> iteration;
  std::optional<TimeMs> last_line, silent_until;
  double score = 0, confidence = 0;

  static constexpr auto list() {
    using Row = NodeFields;
    return std::tuple{
        Field{"node", &Row::node},
        Field{"agents", &Row::agents},
        Field{"ranks", &Row::ranks},
        Field{"sources", &Row::sources},
        Field{"records", &Row::records},
        Field{"iteration", &Row::iteration, Absent::null},
        Field{"last_line", &Row::last_line, Absent::null},
        Field{"score", &Row::score},
        Field{"confidence", &Row::confidence},
        Field{"why", &Row::why},
        Field{"silent_until", &Row::silent_until, Absent::null_or_missing},
    };
  }
};

struct IterationFields {
  std::int64_t iteration = 0;
  double score = 0;
  std::optional<TimeMs> begin, end;
  std::vector<std::string> nodes, events;

  static constexpr auto list() {
    using Row = IterationFields;
    return std::tuple{
        Field{"iteration", &Row::iteration},
        Field{"score", &Row::score},
        Field{"begin", &Row::begin, Absent::null},
        Field{"end", &Row::end, Absent::null},
        Field{"nodes", &Row::nodes},
        Field{"events", &Row::events},
    };
  }
};

struct AgentFields {
  std::string agent, address, software, shedding;
  bool connected = false, lost = false, fleet_key = false;
  std::uint64_t files = 0, batches_in_flight = 0, batches_held = 0, bytes_held = 0;
  std::optional<TimeMs> heard;
  std::optional<std::int64_t> offset_ms, delay_ms;
  std::vector<std::string> hints;

  static constexpr auto list() {
    using Row = AgentFields;
    return std::tuple{
        Field{"agent", &Row::agent},
        Field{"address", &Row::address},
        Field{"software", &Row::software},
        Field{"connected", &Row::connected},
        Field{"lost", &Row::lost},
        Field{"fleet_key", &Row::fleet_key},
        Field{"files", &Row::files},
        Field{"batches_in_flight", &Row::batches_in_flight},
        Field{"batches_held", &Row::batches_held},
        Field{"bytes_held", &Row::bytes_held},
        Field{"shedding", &Row::shedding},
        Field{"heard", &Row::heard, Absent::null},
        Field{"offset_ms", &Row::offset_ms, Absent::null},
        Field{"delay_ms", &Row::delay_ms, Absent::null},
        Field{"hints", &Row::hints, Absent::missing},
    };
  }
};

/// The row of a stored report, without the report itself.
struct SnapshotFields {
  std::string id, job, why, who, state;
  TimeMs at{};

  static constexpr auto list() {
    using Row = SnapshotFields;
    return std::tuple{
        Field{"id", &Row::id},   Field{"job", &Row::job, Absent::missing},
        Field{"at", &Row::at},   Field{"why", &Row::why},
        Field{"who", &Row::who}, Field{"state", &Row::state},
    };
  }
};

/// An incident without report and evidence, which are appended in their stored form.
struct IncidentFields {
  std::string id, job, status, state;
  std::int64_t attempt = 0;
  TimeMs opened{}, updated{};
  std::optional<TimeMs> resolved, acknowledged_at;
  std::string acknowledged_by, acknowledged_note, maintenance;

  static constexpr auto list() {
    using Row = IncidentFields;
    return std::tuple{
        Field{"id", &Row::id},
        Field{"job", &Row::job},
        Field{"attempt", &Row::attempt},
        Field{"status", &Row::status},
        Field{"state", &Row::state},
        Field{"opened", &Row::opened},
        Field{"updated", &Row::updated, Absent::missing},
        Field{"resolved", &Row::resolved, Absent::null},
        Field{"acknowledged_by", &Row::acknowledged_by, Absent::null_or_missing},
        Field{"acknowledged_at", &Row::acknowledged_at, Absent::null_or_missing},
        Field{"acknowledged_note", &Row::acknowledged_note, Absent::null_or_missing},
        Field{"maintenance", &Row::maintenance, Absent::null_or_missing},
    };
  }
};

/// Jobs or nodes about which nobody is alerted for a time.
struct MaintenanceFields {
  std::string id, kind, pattern, who, why, ended_by;
  TimeMs began{}, until{};
  std::optional<TimeMs> ended;
  bool active = false;
  std::uint64_t incidents = 0;

  static constexpr auto list() {
    using Row = MaintenanceFields;
    return std::tuple{
        Field{"id", &Row::id},
        Field{"kind", &Row::kind},
        Field{"pattern", &Row::pattern},
        Field{"who", &Row::who},
        Field{"why", &Row::why},
        Field{"began", &Row::began},
        Field{"until", &Row::until},
        Field{"ended", &Row::ended, Absent::null},
        Field{"ended_by", &Row::ended_by, Absent::null},
        Field{"active", &Row::active},
        Field{"incidents", &Row::incidents},
    };
  }
};

/// Calls `visit(field, row.member)` for each field of the row, in the order of the list.
template <class Row, class Visit>
void for_each_field(Row& row, Visit visit) {
  std::apply([&](const auto&... field) { (visit(field, row.*(field.member)), ...); }, Row::list());
}

}  // namespace l4::rows
