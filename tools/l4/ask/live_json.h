// Reads the JSON that a running aggregator answers (docs/API.md has the forms).
//
// Flow: asking.h -> here -> live_view.h. Rows are read by the lists of fields by which the
// aggregator writes them (rows/fields.h). Unknown fields are skipped, so that an older `l4` can ask
// a newer aggregator; a field that is missing or of another type is an Error whose `where` is its
// JSON path. Texts are as they were sent: not safe for a terminal yet. Thread-safe, no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/rows/fields.h"
#include "aggregator/rows/status_fields.h"
#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::ask {

using JobRow = rows::JobFields;
using AgentRow = rows::AgentFields;
using SnapshotRow = rows::SnapshotFields;
using NodeRow = rows::NodeFields;
using SinkRow = rows::SinkFields;
using SinkTestRow = rows::SinkTestFields;
using MaintenanceRow = rows::MaintenanceFields;

struct StatusRow : rows::StatusFields {
  std::optional<std::vector<std::string>> absent;  ///< empty: not known who may connect
  std::vector<SinkRow> sinks;
};

struct IncidentRow : rows::IncidentFields {
  std::string first_node;  ///< where the answer has the report

  bool is_resolved() const { return status == "resolved"; }
};

struct JobList {
  std::vector<JobRow> jobs;
  bool more = false;  ///< the answer does not hold all
};

struct IncidentList {
  std::vector<IncidentRow> incidents;
  bool more = false;  ///< the answer does not hold all
};

struct AgentList {
  bool blind = false;  ///< too many agents fell silent at once for any to be called lost
  std::vector<AgentRow> agents;
};

struct LineRow {
  std::string agent, node, file, text;
  std::optional<std::int64_t> rank, number;  ///< number: the line's, if it is known
  std::uint64_t offset = 0;
  bool hit = false, cut = false;
};

struct MissingRow {
  std::string kind, agent, file, text;  ///< agent, file: empty for all
};

struct LineList {
  std::vector<LineRow> lines;
  std::vector<MissingRow> missing;
  std::uint64_t agents_asked = 0, agents_answered = 0, redacted = 0;
};

/// A change of an incident: it opens, changes or is resolved (schema l4.alert/1).
struct ChangeRow {
  std::string kind, incident, job, state, summary, first_node;  ///< empty for none
  std::optional<std::int64_t> first_rank;
  std::int64_t attempt = 0;
  TimeMs at{};
};

Result<SnapshotRow> read_snapshot(std::string_view text);
Result<std::vector<SnapshotRow>> read_snapshots(std::string_view text);
Result<JobList> read_jobs(std::string_view text);
/// The row of one job, as events have it.
Result<JobRow> read_job(std::string_view text);
Result<AgentList> read_agents(std::string_view text);
Result<std::vector<NodeRow>> read_nodes(std::string_view text);
Result<StatusRow> read_status(std::string_view text);
Result<std::vector<SinkTestRow>> read_sink_tests(std::string_view text);
Result<IncidentList> read_incidents(std::string_view text);
Result<IncidentRow> read_incident(std::string_view text);
Result<std::vector<MaintenanceRow>> read_maintenances(std::string_view text);
Result<MaintenanceRow> read_maintenance(std::string_view text);
Result<ChangeRow> read_change(std::string_view text);
Result<LineList> read_line_list(std::string_view text);

/// The report in the answer to `/api/v1/incidents/{id}`, as JSON; `opening`: the report at the
/// opening. An Error if the answer has no report.
Result<std::string> report_of_incident(std::string_view text, bool opening);

/// The values of `id` in the rows of the list `list`.
Result<std::vector<std::string>> read_names(std::string_view text, const char* list,
                                            const char* id);
/// The value for `after=` that asks for the next page; empty if the answer holds the last row.
Result<std::string> next_page(std::string_view text);
/// Pages of the list `key` as one answer: the rows of all, with the other fields of the first page
/// and `next` of the last.
Result<std::string> joined_pages(const std::vector<std::string>& pages, const std::string& key);

/// {"error": {"code", "message"}}. The code tells errors apart, the sentence is for people.
struct AnsweredError {
  std::string code, message;
};

/// Both are empty if `text` has another form.
AnsweredError read_error(std::string_view text);

/// Formats JSON, indented or on one line, and escapes everything that acts on a terminal.
Result<std::string> tidied_json(std::string_view text, int indent = 2);

}  // namespace l4::ask
