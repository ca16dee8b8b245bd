// The rows of the database: plain values, as they are stored.
//
// Flow: whoever detects or is told -> Database -> whoever is asked. Times are UTC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace l4::store {

/// What an alert says first of an incident; another one is news.
struct Gist {
  std::string state;  ///< as in reports
  std::string node, fault;
  std::optional<std::int64_t> rank;
  bool operator==(const Gist&) const = default;
};

/// One failure of one attempt of one job.
struct Incident {
  std::string id, job;
  std::int64_t attempt = 0;
  std::string state;  ///< as in reports
  TimeMs opened, updated;
  std::optional<TimeMs> resolved;
  std::string report, evidence;  ///< JSON; the report as it was when it was last updated
  Gist told = {};                ///< last, by an alert; without a state: not known
  bool operator==(const Incident&) const = default;
};

/// The report of a job as it stood at some time, one a millisecond.
struct Snapshot {
  std::string job;
  TimeMs at;
  std::string why, who;  ///< `incident` and its id, or `asked` and by whom
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

/// What one run that ended well has printed, in the form of its maker. `job` names the run.
struct PoolRun {
  std::string kind, job;
  TimeMs ended;
  std::int64_t events = 0;
  std::string content;
  bool operator==(const PoolRun&) const = default;
};

/// How a job ended, as somebody has told.
struct Outcome {
  std::string job, outcome, note, who;
  TimeMs told;
  bool operator==(const Outcome&) const = default;
};

/// To be sent: it stays until somebody says that it was.
struct Alert {
  std::int64_t id = 0;
  std::string sink, incident, content;
  TimeMs created, due;
  std::int64_t tries = 0;
  bool lasts = false;     ///< sent again and again until another takes its place
  bool replaces = false;  ///< takes the place of what waits for its sink and incident; not stored
  bool operator==(const Alert&) const = default;
};

/// Where an incident stands in the list, newest first.
struct IncidentPlace {
  TimeMs opened;
  std::string id;
};

struct IncidentQuery {
  std::string job;  ///< empty: of all
  bool open_only = false;
  std::size_t count = 100;                   ///< newest first
  std::optional<IncidentPlace> before = {};  ///< those behind it, older ones
  bool with_reports = true;  ///< else report and evidence are empty: they are what is large
};

}  // namespace l4::store
