// Fields of the answers about the aggregator itself and its sinks, in the form of fields.h.
//
// Flow: as there. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "aggregator/rows/fields.h"
#include "common/base/time.h"

namespace l4::rows {

/// A sink of alerts, and how its last try went.
struct SinkFields {
  std::string sink, kind, trouble;
  std::uint64_t posted = 0, failures = 0, dropped = 0, waiting = 0;
  std::optional<TimeMs> tried;

  static constexpr auto list() {
    using Row = SinkFields;
    return std::tuple{
        Field{"sink", &Row::sink},
        Field{"kind", &Row::kind},
        Field{"tried", &Row::tried, Absent::null},
        Field{"trouble", &Row::trouble, Absent::null},
        Field{"posted", &Row::posted},
        Field{"failures", &Row::failures},
        Field{"dropped", &Row::dropped},
        Field{"waiting", &Row::waiting},
    };
  }
};

/// An alert on its way to a sink, or there.
struct DeliveryFields {
  std::string id, sink, status, event, incident, job, text, trouble;
  TimeMs created{};
  std::optional<TimeMs> tried, next;
  std::uint64_t failures = 0, taken = 0;

  static constexpr auto list() {
    using Row = DeliveryFields;
    return std::tuple{
        Field{"id", &Row::id},
        Field{"sink", &Row::sink},
        Field{"status", &Row::status},
        Field{"event", &Row::event, Absent::null},
        Field{"incident", &Row::incident, Absent::null},
        Field{"job", &Row::job, Absent::null},
        Field{"text", &Row::text},
        Field{"created", &Row::created},
        Field{"tried", &Row::tried, Absent::null},
        Field{"next", &Row::next, Absent::null},
        Field{"failures", &Row::failures},
        Field{"taken", &Row::taken},
        Field{"trouble", &Row::trouble, Absent::null},
    };
  }
};

/// What became of the test alert to one sink.
struct SinkTestFields {
  std::string sink, kind, error;
  bool took = false;
  std::uint64_t ms = 0;

  static constexpr auto list() {
    using Row = SinkTestFields;
    return std::tuple{
        Field{"sink", &Row::sink}, Field{"kind", &Row::kind},
        Field{"took", &Row::took}, Field{"error", &Row::error, Absent::null},
        Field{"ms", &Row::ms},
    };
  }
};

/// The aggregator itself, without its lists.
struct StatusFields {
  std::string software, status, folder;
  TimeMs started{}, now{};
  std::vector<std::string> reasons;
  std::optional<std::int64_t> disk_bytes, disk_free_bytes;
  std::uint64_t journal_bytes = 0, journal_bytes_max = 0;
  std::uint64_t agents_known = 0, agents_connected = 0, agents_lost = 0, lost_after_ms = 0;

  static constexpr auto list() {
    using Row = StatusFields;
    return std::tuple{
        Field{"software", &Row::software},
        Field{"started", &Row::started},
        Field{"now", &Row::now},
        Field{"status", &Row::status},
        Field{"reasons", &Row::reasons},
        Field{"folder", &Row::folder},
        Field{"disk_bytes", &Row::disk_bytes, Absent::null},
        Field{"disk_free_bytes", &Row::disk_free_bytes, Absent::null},
        Field{"journal_bytes", &Row::journal_bytes},
        Field{"journal_bytes_max", &Row::journal_bytes_max},
        Field{"agents_known", &Row::agents_known},
        Field{"agents_connected", &Row::agents_connected},
        Field{"agents_lost", &Row::agents_lost},
        Field{"lost_after_ms", &Row::lost_after_ms},
    };
  }
};

}  // namespace l4::rows
