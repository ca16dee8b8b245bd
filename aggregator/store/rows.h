// The rows of the database: plain values, as they are stored.
//
// Flow: shards and requests -> Database -> answers over HTTP. Times are UTC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace l4::store {

/// The main facts of an incident in an alert; when they change, that is news.
struct Gist {
  std::string state;  ///< as in reports
  std::string node, fault;
  std::optional<std::int64_t> rank;
  bool operator==(const Gist&) const = default;
};

/// The source of incidents of jobs that the network alone shows: their names are the aggregator's
/// own and may be those of jobs with logs, too.
inline constexpr const char* kOfNetwork = "network";

/// What a page shows of an incident first, of the same size however large the job is.
struct IncidentHead {
  std::string brief;     ///< JSON of the report's head (serve::brief_json); empty: none
  std::string evidence;  ///< JSON without the report at the opening
  bool operator==(const IncidentHead&) const = default;
};

/// One failure of one attempt of one job.
struct Incident {
  std::string id, job;
  std::int64_t attempt = 0;
  std::string state;  ///< as in reports
  TimeMs opened, updated;
  std::optional<TimeMs> resolved;
  std::string report, evidence;  ///< JSON; the report of the last update
  Gist told = {};                ///< facts in the last alert; unknown if it has no state
  std::string source = {};       ///< kOfNetwork: of a job that no logs show; else empty
  IncidentHead head = {};        ///< read by Database::incident_head() alone
  bool operator==(const Incident&) const = default;
};

/// The report of a job at some time; at most one per millisecond.
struct Snapshot {
  std::string job;
  TimeMs at;
  std::string why, who;  ///< `incident` and its id, or `asked` and the name of the token
  std::string state, report;
  bool operator==(const Snapshot&) const = default;
};

struct JobRow {
  std::string id, kind;
  TimeMs begin, updated;
  std::optional<TimeMs> end;
  std::string outcome;  ///< empty while it runs
  std::int64_t attempts = 0, nodes = 0, ranks = 0, lines = 0, bytes = 0;
  bool operator==(const JobRow&) const = default;
};

/// The events of one run that ended well, as pool::to_json writes them. `job` names the run.
struct PoolRun {
  std::string kind, job;
  TimeMs ended;
  std::int64_t events = 0;
  std::string content;
  bool operator==(const PoolRun&) const = default;
};

/// How a job ended, as a person has reported it.
struct Outcome {
  std::string job, outcome, note, who;
  TimeMs told;
  bool operator==(const Outcome&) const = default;
};

/// What a person has said of an incident, or of how a job ended, and which claims of the report
/// were right by that: what confidences are fitted to (confirm/label.h).
struct Label {
  std::string subject;        ///< the id of the incident, or `job ` and the id of the job
  std::string job, source;    ///< source: labels of one are not independent (a fault, or the job)
  std::string truth, claims;  ///< JSON
  std::string who;
  TimeMs told;
  bool operator==(const Label&) const = default;
};

/// Somebody looks after an incident.
struct Acknowledgement {
  std::string incident, job, who, note;
  TimeMs at;
  bool operator==(const Acknowledgement&) const = default;
};

/// Jobs or nodes about which nobody is alerted for a time.
struct Maintenance {
  std::int64_t id = 0;        ///< 0: not stored yet
  std::string kind, pattern;  ///< `job` or `node`, and a shell pattern of their names
  std::string who, why;
  TimeMs began, until;
  std::optional<TimeMs> ended = {};  ///< by a person, before `until`
  std::string ended_by = {};
  bool operator==(const Maintenance&) const = default;

  TimeMs end() const { return ended.value_or(until); }
  bool is_over(TimeMs now) const { return end() <= now; }
};

/// An alert of this incident was held back by a maintenance.
struct HeldIncident {
  std::string incident;
  std::int64_t maintenance = 0;
  TimeMs at;
  bool operator==(const HeldIncident&) const = default;
};

/// An alert to be sent; it stays until sent() removes it.
struct Alert {
  std::int64_t id = 0;
  std::string sink, incident, content;
  TimeMs created, due;
  std::int64_t tries = 0;
  bool lasts = false;     ///< sent again and again until another alert replaces it
  bool replaces = false;  ///< replaces waiting alerts of its sink and incident; not stored
  std::string event = {}, job = {}, line = {};  ///< what it tells, for people: one line
  bool operator==(const Alert&) const = default;
};

/// The end of a page in the list of incidents, which has the newest first.
struct IncidentCursor {
  TimeMs opened;
  std::string id;
};

struct IncidentQuery {
  std::string job;  ///< empty: all jobs
  bool open_only = false;
  std::size_t count = 100;                    ///< newest first
  std::optional<IncidentCursor> before = {};  ///< older incidents than this one
  bool with_reports = true;  ///< false: report and evidence, which are large, are empty
  /// The known fault and the node that the last alert named; empty: any or none.
  std::string fault = {}, node = {};
};

}  // namespace l4::store
