#include "tools/l4/ask/live_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "aggregator/serve/utf8.h"

namespace l4::ask {
namespace {

using Json = nlohmann::json;

/// Reads members of one object; the first thing that is wrong is kept.
class Object {
 public:
  Object(const Json& json, std::string path, std::optional<Error>& error)
      : json_(json), path_(std::move(path)), error_(error) {
    if (!json.is_object()) fail("", "must be an object");
  }

  std::string text(const char* key, bool may_be_null = false) {
    const Json* member = find(key);
    if (member == nullptr || (may_be_null && member->is_null())) return "";
    if (member->is_string()) return member->get<std::string>();
    fail(key, "must be a string");
    return "";
  }

  bool flag(const char* key) {
    const Json* member = find(key);
    if (member == nullptr) return false;
    if (member->is_boolean()) return member->get<bool>();
    fail(key, "must be true or false");
    return false;
  }

  std::uint64_t count(const char* key) {
    const Json* member = find(key);
    if (member == nullptr) return 0;
    if (member->is_number_unsigned()) return member->get<std::uint64_t>();
    fail(key, "must be a count");
    return 0;
  }

  std::optional<std::int64_t> number_or_null(const char* key) {
    const Json* member = find(key);
    if (member == nullptr || member->is_null()) return {};
    if (member->is_number()) {
      const double value = member->get<double>();
      if (value > -9e15 && value < 9e15) return static_cast<std::int64_t>(value);
    }
    fail(key, "must be a number or null");
    return {};
  }

  double share(const char* key) {
    const Json* member = find(key);
    if (member == nullptr) return 0;
    if (member->is_number()) return member->get<double>();
    fail(key, "must be a number");
    return 0;
  }

  std::optional<TimeMs> time_or_null(const char* key) {
    const std::string word = text(key, true);
    if (word.empty()) return {};
    const auto time = parse_time(word);
    if (!time) fail(key, "must be a time such as 2026-11-20T15:54:42.120Z");
    return time;
  }

  /// Calls `each(element, its path)`.
  template <class Each>
  void list(const char* key, Each each) {
    const Json* member = find(key);
    if (member == nullptr) return;
    if (!member->is_array()) return fail(key, "must be a list");
    for (std::size_t i = 0; i < member->size() && !error_; ++i)
      each((*member)[i], fmt::format("{}.{}[{}]", path_, key, i));
  }

 private:
  const Json* find(const char* key) {
    if (error_) return nullptr;
    const auto found = json_.find(key);
    if (found != json_.end()) return &*found;
    fail(key, "is missing");
    return nullptr;
  }

  void fail(const char* key, const char* reason) {
    if (!error_) error_ = Error{*key == '\0' ? path_ : path_ + '.' + key, reason};
  }

  const Json& json_;
  std::string path_;
  std::optional<Error>& error_;
};

/// Deeper than any answer is; nlohmann's writer would run out of stack.
bool is_too_deep(std::string_view text) {
  constexpr std::size_t kDepthMax = 64;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_string = false;
    } else if (text[i] == '"') {
      in_string = true;
    } else if (text[i] == '[' || text[i] == '{') {
      if (++depth > kDepthMax) return true;
    } else if ((text[i] == ']' || text[i] == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

template <class T>
Result<T> parsed(std::string_view text) {
  T json = is_too_deep(text) ? T(T::value_t::discarded)
                             : T::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) return std::unexpected(Error{"", "the answer is not JSON"});
  return json;
}

JobRow read_job(const Json& json, const std::string& path, std::optional<Error>& error) {
  Object from(json, path, error);
  JobRow row;
  row.id = from.text("id");
  row.state = from.text("state");
  row.stage = from.text("stage", true);
  row.incident = from.text("incident", true);
  row.attempt = from.number_or_null("attempt").value_or(0);
  row.suspect = from.flag("suspect");
  row.ended = json.is_object() && json.contains("ended") && from.flag("ended");
  row.since = from.time_or_null("since");
  row.last_seen = from.time_or_null("last_seen");
  row.iteration = from.number_or_null("iteration");
  row.nodes = from.count("nodes");
  row.ranks = from.count("ranks");
  if (json.is_object() && json.contains("ranks_expected")) {  // older aggregators leave it out
    row.ranks_mapped = from.count("ranks_mapped");
    row.ranks_expected = from.number_or_null("ranks_expected");
  }
  row.lines = from.count("lines");
  row.completeness = from.share("completeness");
  return row;
}

AgentRow read_agent(const Json& json, const std::string& path, std::optional<Error>& error) {
  Object from(json, path, error);
  AgentRow row;
  row.agent = from.text("agent");
  row.address = from.text("address", true);
  row.software = from.text("software", true);
  row.shedding = from.text("shedding", true);
  row.connected = from.flag("connected");
  row.lost = from.flag("lost");
  row.fleet_key = from.flag("fleet_key");
  row.files = from.count("files");
  row.in_flight = from.count("batches_in_flight");
  row.batches_held = from.count("batches_held");
  row.bytes_held = from.count("bytes_held");
  row.heard = from.time_or_null("heard");
  row.offset_ms = from.number_or_null("offset_ms");
  row.delay_ms = from.number_or_null("delay_ms");
  return row;
}

SnapshotRow read_snapshot_row(const Json& json, const std::string& path,
                              std::optional<Error>& error) {
  Object from(json, path, error);
  SnapshotRow row{from.text("id"), from.text("why"), from.text("who"), from.text("state"), {}};
  row.at = from.time_or_null("at").value_or(TimeMs{});
  return row;
}

IncidentRow read_incident(const Json& json, const std::string& path, std::optional<Error>& error) {
  Object from(json, path, error);
  IncidentRow row;
  row.id = from.text("id");
  row.job = from.text("job");
  row.state = from.text("state");
  row.attempt = from.number_or_null("attempt").value_or(0);
  row.opened = from.time_or_null("opened").value_or(TimeMs{});
  row.resolved = from.text("status") == "resolved";
  row.resolved_at = from.time_or_null("resolved");
  if (error || !json.contains("report") || json["report"].is_null()) return row;
  bool first = true;
  Object report(json["report"], path + ".report", error);
  report.list("nodes", [&](const Json& node, const std::string& place) {
    if (std::exchange(first, false)) row.first_node = Object(node, place, error).text("node");
  });
  return row;
}

}  // namespace

Result<JobList> read_jobs(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  JobList list;
  Object(*json, "$", error).list("jobs", [&](const Json& job, const std::string& path) {
    list.jobs.push_back(read_job(job, path, error));
  });
  if (error) return std::unexpected(*error);
  list.more = json->contains("next") && !(*json)["next"].is_null();
  return list;
}

Result<std::vector<std::string>> read_names(std::string_view text, const char* list,
                                            const char* id) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  std::vector<std::string> names;
  Object(*json, "$", error).list(list, [&](const Json& row, const std::string& path) {
    names.push_back(Object(row, path, error).text(id));
  });
  if (error) return std::unexpected(*error);
  return names;
}

Result<AgentList> read_agents(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  AgentList list;
  Object from(*json, "$", error);
  list.blind = from.flag("blind");
  from.list("agents", [&](const Json& agent, const std::string& path) {
    list.agents.push_back(read_agent(agent, path, error));
  });
  if (error) return std::unexpected(*error);
  return list;
}

Result<IncidentList> read_incidents(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  IncidentList list;
  Object(*json, "$", error).list("incidents", [&](const Json& row, const std::string& path) {
    list.incidents.push_back(read_incident(row, path, error));
  });
  if (error) return std::unexpected(*error);
  list.more = json->contains("next") && !(*json)["next"].is_null();
  return list;
}

Result<SnapshotRow> read_snapshot(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  SnapshotRow row = read_snapshot_row(*json, "$", error);
  if (error) return std::unexpected(*error);
  return row;
}

Result<std::vector<SnapshotRow>> read_snapshots(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  std::vector<SnapshotRow> rows;
  Object(*json, "$", error).list("snapshots", [&](const Json& row, const std::string& path) {
    rows.push_back(read_snapshot_row(row, path, error));
  });
  if (error) return std::unexpected(*error);
  return rows;
}

Result<ChangeRow> read_change(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  Object from(*json, "$", error);
  ChangeRow change;
  change.kind = from.text("alert");
  change.incident = from.text("incident", true);
  change.job = from.text("job", true);
  change.state = from.text("state");
  change.summary = from.text("summary");
  change.attempt = from.number_or_null("attempt").value_or(0);
  change.at = from.time_or_null("at").value_or(TimeMs{});
  if (const auto nodes = json->find("nodes"); nodes != json->end() && nodes->is_array())
    if (!nodes->empty() && nodes->front().is_string() && change.kind != "resolved")
      change.first_node = nodes->front().get<std::string>();
  if (error) return std::unexpected(*error);
  return change;
}

Result<LineList> read_line_list(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  LineList list;
  Object from(*json, "$", error);
  list.agents_asked = from.count("agents_asked");
  list.agents_answered = from.count("agents_answered");
  list.redacted = from.count("redacted");
  from.list("lines", [&](const Json& row, const std::string& path) {
    Object one(row, path, error);
    LineRow& line = list.lines.emplace_back();
    line.agent = one.text("agent");
    line.node = one.text("node");
    line.file = one.text("file");
    line.text = one.text("text");
    line.rank = one.number_or_null("rank");
    line.number = one.number_or_null("line");
    line.offset = one.count("offset");
    line.hit = one.flag("hit");
    line.cut = one.flag("cut");
  });
  from.list("missing", [&](const Json& row, const std::string& path) {
    Object one(row, path, error);
    MissingRow& missing = list.missing.emplace_back();
    missing.kind = one.text("kind");
    missing.agent = one.text("agent", true);
    missing.file = one.text("file", true);
    missing.text = one.text("text");
  });
  if (error) return std::unexpected(*error);
  return list;
}

Result<std::string> report_of_incident(std::string_view text, bool opening) {
  const auto json = parsed<nlohmann::ordered_json>(text);
  if (!json) return std::unexpected(json.error());
  const auto child = [](const nlohmann::ordered_json& of, const char* key) {
    return of.is_object() && of.contains(key) ? of[key] : nlohmann::ordered_json();
  };
  const auto report =
      opening ? child(child(*json, "evidence"), "report_at_opening") : child(*json, "report");
  if (!report.is_object())
    return std::unexpected(
        Error{opening ? "$.evidence.report_at_opening" : "$.report", "there is none"});
  return report.dump();
}

Result<std::string> next_page(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json) return std::unexpected(json.error());
  if (!json->is_object() || !json->value("next", Json()).is_string()) return "";
  return (*json)["next"].get<std::string>();
}

Result<std::string> joined_pages(const std::vector<std::string>& pages, const std::string& key) {
  if (pages.size() == 1) return pages.front();
  nlohmann::ordered_json whole;
  for (const std::string& page : pages) {
    auto json = parsed<nlohmann::ordered_json>(page);
    if (!json) return std::unexpected(json.error());
    if (!json->is_object() || !json->contains(key) || !(*json)[key].is_array())
      return std::unexpected(Error{"$." + key, "must be a list"});
    if (whole.is_null()) whole = *json, whole[key].clear();
    for (auto& row : (*json)[key]) whole[key].push_back(std::move(row));
    if (json->contains("next")) whole["next"] = (*json)["next"];
  }
  return whole.dump();
}

AnsweredError read_error(std::string_view text) {
  const auto json = parsed<Json>(text);
  if (!json || !json->is_object() || !json->contains("error")) return {};
  const Json& error = (*json)["error"];
  const auto member = [&](const char* name) {
    return error.is_object() && error.contains(name) && error[name].is_string()
               ? error[name].get<std::string>()
               : std::string();
  };
  if (member("message").empty()) return {};
  return {member("code"), member("message")};
}

Result<std::string> tidied_json(std::string_view text, int indent) {
  const auto json = parsed<nlohmann::ordered_json>(text);
  if (!json) return std::unexpected(json.error());
  const std::string plain = json->dump(indent, ' ', false, Json::error_handler_t::replace);
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
