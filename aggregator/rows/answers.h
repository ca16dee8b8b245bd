// Writes the rows that the aggregator answers as JSON; schemas/openapi.yaml describes their forms.
//
// Flow: api.cc asks the aggregator and writes the results with these functions. Thread-safe, no
// state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/alert/quiet_book.h"
#include "aggregator/alert/sender.h"
#include "aggregator/alert/trial.h"
#include "aggregator/faults/fault.h"
#include "aggregator/receive/agent_server.h"
#include "aggregator/rows/node_rows.h"
#include "aggregator/rows/status_fields.h"
#include "aggregator/scoring/live_job.h"
#include "aggregator/serve/json_text.h"
#include "aggregator/store/rows.h"

namespace l4::rows {

/// What people have told about a row, which the row itself does not know.
struct JobNotes {
  std::string acknowledged_by;         ///< empty: nobody has its incident
  std::optional<TimeMs> silent_until;  ///< it is in maintenance
};
struct IncidentNotes {
  std::optional<store::Acknowledgement> acknowledged;
  /// The one that held back an alert of it, else the one that its job is in while it is open.
  std::optional<store::Maintenance> maintenance;
};
JobNotes notes_of(const alert::QuietBook& quiet, const scoring::JobRow& row, TimeMs now);
IncidentNotes notes_of(const alert::QuietBook& quiet, const store::Incident& row, TimeMs now);

void write(serve::JsonWriter& to, const scoring::JobRow& row, const JobNotes& notes);
void write(serve::JsonWriter& to, const NodeRow& row, std::optional<TimeMs> silent_until);
/// `incidents`: those of which it has held back an alert.
void write(serve::JsonWriter& to, const store::Maintenance& row, std::uint64_t incidents,
           TimeMs now);
void write(serve::JsonWriter& to, const diagnose::ScoredIteration& iteration);
void write(serve::JsonWriter& to, const receive::AgentView& agent);
void write(serve::JsonWriter& to, const alert::SinkStats& sink);
void write(serve::JsonWriter& to, const alert::TrialRow& row);
void write(serve::JsonWriter& to, const alert::Delivery& row);
/// Writes the members into an object that is open.
void write_members(serve::JsonWriter& to, const StatusFields& fields);
/// Writes the row without its report.
void write(serve::JsonWriter& to, const store::Snapshot& row);
/// The id of a stored report, as in paths below `snapshots` and in `?at=`.
std::string snapshot_id(TimeMs at);
/// `whole`: with its report and what led to it.
void write(serve::JsonWriter& to, const store::Incident& row, bool whole,
           const IncidentNotes& notes);
/// `whole`: with patterns, cause, fix, action and the lines that test it.
void write(serve::JsonWriter& to, const faults::Fault& fault, bool whole);

}  // namespace l4::rows
