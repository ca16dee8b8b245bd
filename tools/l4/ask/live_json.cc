#include "tools/l4/ask/live_json.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "aggregator/serve/json_reader.h"
#include "aggregator/serve/utf8.h"

namespace l4::ask {
namespace {

using serve::JsonMembers;
using serve::JsonReader;
using serve::JsonValue;

Result<JsonValue> parsed(std::string_view text) {
  auto json = serve::parse_json(text);
  if (!json) return std::unexpected(Error{"", "the answer is not JSON"});
  return *std::move(json);
}

/// Calls `read(members, row)` for the document, which is an object.
template <class T, class Read>
Result<T> read_document(std::string_view text, Read read) {
  const auto json = parsed(text);
  if (!json) return std::unexpected(json.error());
  T document{};
  JsonReader reader("$");
  JsonMembers from(reader, *json);
  if (!reader.failed()) read(from, document);
  if (reader.error()) return std::unexpected(*reader.error());
  return document;
}

template <class T>
void read_field(JsonMembers& from, std::string_view name, bool may_be_null, T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    value = may_be_null ? from.text_or_null(name) : from.text(name);
  else
    from.read(name, value);
}

/// The fraction of a number is dropped: the schema allows one in offset_ms and delay_ms.
void read_field(JsonMembers& from, std::string_view name, bool /*may_be_null*/,
                std::optional<std::int64_t>& value) {
  constexpr double kMost = 9e15;
  const JsonValue* member = from.needed(name);
  value.reset();
  if (member == nullptr || member->is_null()) return;
  const auto number = member->number();
  if (number && *number > -kMost && *number < kMost)
    value = static_cast<std::int64_t>(*number);
  else
    from.fail(name, "must be a number or null", *member);
}

template <class Row>
void read_row(JsonMembers& from, Row& row) {
  rows::for_each_field(row, [&](const auto& field, auto& value) {
    if (may_be_missing(field.absent) && from.find(field.name) == nullptr) return;
    read_field(from, field.name, may_be_null(field.absent), value);
  });
}

template <class Row>
void read_rows(JsonMembers& from, std::string_view name, std::vector<Row>& rows) {
  from.each(name, [&](JsonMembers& row) { read_row(row, rows.emplace_back()); });
}

/// The rows of a document that is one list.
template <class Row>
Result<std::vector<Row>> read_list(std::string_view text, std::string_view name) {
  using Rows = std::vector<Row>;
  return read_document<Rows>(text,
                             [&](JsonMembers& from, Rows& rows) { read_rows(from, name, rows); });
}

bool has_next(JsonMembers& from) {
  const JsonValue* next = from.find("next");
  return next != nullptr && !next->is_null();
}

void read_incident_row(JsonMembers& from, IncidentRow& row) {
  read_row(from, row);
  const JsonValue* report = from.find("report");
  if (report == nullptr || report->is_null()) return;
  bool first = true;
  from.object("report", [&](JsonMembers& members) {
    members.each("nodes", [&](JsonMembers& node) {
      if (std::exchange(first, false)) row.first_node = node.text("node");
    });
  });
}

/// The first element of a list; null if there is none.
const JsonValue* first_of(const JsonValue* list) {
  const JsonValue::List* elements = list != nullptr ? list->list() : nullptr;
  return elements != nullptr && !elements->empty() ? &elements->front() : nullptr;
}

void read_line(JsonMembers& from, LineRow& line) {
  from.read("agent", line.agent);
  from.read("node", line.node);
  from.read("file", line.file);
  from.read("text", line.text);
  from.read("rank", line.rank);
  from.read("line", line.number);
  from.read("offset", line.offset);
  from.read("hit", line.hit);
  from.read("cut", line.cut);
}

}  // namespace

Result<JobList> read_jobs(std::string_view text) {
  return read_document<JobList>(text, [](JsonMembers& from, JobList& list) {
    read_rows(from, "jobs", list.jobs);
    list.more = has_next(from);
  });
}

Result<JobRow> read_job(std::string_view text) {
  return read_document<JobRow>(text, [](JsonMembers& from, JobRow& job) { read_row(from, job); });
}

Result<std::vector<std::string>> read_names(std::string_view text, const char* list,
                                            const char* id) {
  using Names = std::vector<std::string>;
  return read_document<Names>(text, [&](JsonMembers& from, Names& names) {
    from.each(list, [&](JsonMembers& row) { names.push_back(row.text(id)); });
  });
}

Result<AgentList> read_agents(std::string_view text) {
  return read_document<AgentList>(text, [](JsonMembers& from, AgentList& list) {
    from.read("blind", list.blind);
    read_rows(from, "agents", list.agents);
  });
}

Result<std::vector<NodeRow>> read_nodes(std::string_view text) {
  return read_list<NodeRow>(text, "nodes");
}

Result<StatusRow> read_status(std::string_view text) {
  return read_document<StatusRow>(text, [](JsonMembers& from, StatusRow& status) {
    read_row(from, static_cast<rows::StatusFields&>(status));
    from.read("absent", status.absent);
    read_rows(from, "sinks", status.sinks);
  });
}

Result<std::vector<SinkTestRow>> read_sink_tests(std::string_view text) {
  return read_list<SinkTestRow>(text, "sinks");
}

Result<IncidentList> read_incidents(std::string_view text) {
  return read_document<IncidentList>(text, [](JsonMembers& from, IncidentList& list) {
    from.each("incidents",
              [&](JsonMembers& row) { read_incident_row(row, list.incidents.emplace_back()); });
    list.more = has_next(from);
  });
}

Result<IncidentRow> read_incident(std::string_view text) {
  return read_document<IncidentRow>(text, read_incident_row);
}

Result<std::vector<MaintenanceRow>> read_maintenances(std::string_view text) {
  return read_list<MaintenanceRow>(text, "maintenance");
}

Result<MaintenanceRow> read_maintenance(std::string_view text) {
  return read_document<MaintenanceRow>(text, read_row<MaintenanceRow>);
}

Result<SnapshotRow> read_snapshot(std::string_view text) {
  return read_document<SnapshotRow>(text, read_row<SnapshotRow>);
}

Result<std::vector<SnapshotRow>> read_snapshots(std::string_view text) {
  return read_list<SnapshotRow>(text, "snapshots");
}

Result<ChangeRow> read_change(std::string_view text) {
  return read_document<ChangeRow>(text, [](JsonMembers& from, ChangeRow& change) {
    from.read("alert", change.kind);
    change.incident = from.text_or_null("incident");
    change.job = from.text_or_null("job");
    from.read("state", change.state);
    from.read("summary", change.summary);
    change.attempt = from.get<std::optional<std::int64_t>>("attempt").value_or(0);
    change.at = from.get<std::optional<TimeMs>>("at").value_or(TimeMs{});
    if (change.kind == "resolved") return;
    if (const JsonValue* first = first_of(from.find("nodes")))
      if (const std::string* node = first->text()) change.first_node = *node;
    if (const JsonValue* first = first_of(from.find("ranks")))
      change.first_rank = first->integer<std::int64_t>();
  });
}

Result<LineList> read_line_list(std::string_view text) {
  return read_document<LineList>(text, [](JsonMembers& from, LineList& list) {
    from.read("agents_asked", list.agents_asked);
    from.read("agents_answered", list.agents_answered);
    from.read("redacted", list.redacted);
    from.each("lines", [&](JsonMembers& row) { read_line(row, list.lines.emplace_back()); });
    from.each("missing", [&](JsonMembers& row) {
      MissingRow& missing = list.missing.emplace_back();
      row.read("kind", missing.kind);
      missing.agent = row.text_or_null("agent");
      missing.file = row.text_or_null("file");
      row.read("text", missing.text);
    });
  });
}

Result<std::string> report_of_incident(std::string_view text, bool opening) {
  const auto json = parsed(text);
  if (!json) return std::unexpected(json.error());
  const JsonValue* evidence = json->find("evidence");
  const JsonValue* report = !opening              ? json->find("report")
                            : evidence != nullptr ? evidence->find("report_at_opening")
                                                  : nullptr;
  if (report == nullptr || report->members() == nullptr)
    return std::unexpected(
        Error{opening ? "$.evidence.report_at_opening" : "$.report", "there is none"});
  return serve::dump_json(*report);
}

Result<std::string> next_page(std::string_view text) {
  const auto json = parsed(text);
  if (!json) return std::unexpected(json.error());
  const JsonValue* next = json->find("next");
  return next != nullptr && next->text() != nullptr ? *next->text() : "";
}

Result<std::string> joined_pages(const std::vector<std::string>& pages, const std::string& key) {
  if (pages.size() == 1) return pages.front();
  std::optional<JsonValue> whole;
  for (const std::string& page : pages) {
    auto json = parsed(page);
    if (!json) return std::unexpected(json.error());
    JsonValue* member = json->find(key);
    if (member == nullptr || member->list() == nullptr)
      return std::unexpected(Error{"$." + key, "must be a list"});
    if (!whole) {
      whole = *std::move(json);
      continue;
    }
    JsonValue::List& rows = *whole->find(key)->list();
    for (JsonValue& row : *member->list()) rows.push_back(std::move(row));
    const JsonValue* next = json->find("next");
    if (next == nullptr) continue;
    if (JsonValue* shown = whole->find("next"))
      *shown = *next;
    else
      whole->members()->emplace_back("next", *next);
  }
  return whole ? serve::dump_json(*whole) : "null";
}

AnsweredError read_error(std::string_view text) {
  const auto json = parsed(text);
  const JsonValue* error = json ? json->find("error") : nullptr;
  const auto member = [&](const char* name) {
    const JsonValue* value = error != nullptr ? error->find(name) : nullptr;
    return value != nullptr && value->text() != nullptr ? *value->text() : std::string();
  };
  if (member("message").empty()) return {};
  return {member("code"), member("message")};
}

Result<std::string> tidied_json(std::string_view text, int indent) {
  const auto json = parsed(text);
  if (!json) return std::unexpected(json.error());
  const std::string plain = serve::dump_json(*json, indent);
  std::string out;
  for (std::string_view rest = plain; !rest.empty();) {
    const serve::CodePoint point = serve::first_code_point(rest);
    const auto value = static_cast<std::uint32_t>(point.value);
    if (!serve::is_control(point.value) || value == '\n') {
      out.append(rest.substr(0, point.bytes));
    } else if (value < 0x10000) {
      out += fmt::format("\\u{:04x}", value);
    } else {
      const std::uint32_t above = value - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
    }
    rest.remove_prefix(point.bytes);
  }
  return out + '\n';
}

}  // namespace l4::ask
