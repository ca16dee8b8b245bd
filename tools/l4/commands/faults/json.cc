#include "tools/l4/commands/faults/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "aggregator/faults/pattern.h"
#include "aggregator/serve/json_reader.h"

namespace l4::commands::faults {
namespace {

using serve::dump_json;
using serve::JsonMembers;
using serve::JsonReader;
using serve::JsonValue;
using Members = JsonValue::Members;

JsonValue confirmation_of(const l4::faults::Fault& fault) {
  const auto& by = fault.confirmed;
  if (!by) return nullptr;
  return Members{{"by", by->by}, {"at", to_rfc3339(by->at)}, {"incident", by->incident}};
}

JsonValue object_of(const l4::faults::Fault& fault) {
  Members parameters;
  for (const l4::faults::Condition& condition : fault.conditions)
    parameters.emplace_back(l4::faults::name(condition.kind), condition.values);
  return Members{{"id", fault.id},
                 {"family", fault.family},
                 {"title", fault.title},
                 {"category", l4::faults::name(fault.category)},
                 {"subcategory", fault.subcategory},
                 {"scope", name(fault.scope)},
                 {"severity", name(fault.severity)},
                 {"consequence", fault.consequence},
                 {"timeout", fault.timeout},
                 {"setup", fault.setup},
                 {"accuses_peer", fault.accuses_peer},
                 {"general", fault.general},
                 {"stopped_by", fault.stopped_by},
                 {"patterns", fault.patterns},
                 {"unless", fault.unless},
                 {"parameters", parameters},
                 {"cause", fault.cause},
                 {"fix", fault.fix},
                 {"action", fault.action},
                 {"matches", fault.matches},
                 {"rejects", fault.rejects},
                 {"confirmed", confirmation_of(fault)}};
}

/// The value that the word of the member names.
template <class T>
T named(JsonMembers& from, std::string_view key, std::optional<T> (*from_name)(std::string_view)) {
  const std::string word = from.text(key);
  const auto value = from_name(word);
  if (!value) from.fail(key, word + " is not known here");
  return value.value_or(T{});
}

std::optional<l4::faults::Category> category_from_name(std::string_view text) {
  using enum l4::faults::Category;
  for (const l4::faults::Category one : {hardware, user, framework, platform})
    if (l4::faults::name(one) == text) return one;
  return std::nullopt;
}

std::vector<std::string> read_patterns(JsonMembers& from, std::string_view key) {
  auto patterns = from.get<std::vector<std::string>>(key);
  for (const std::string& pattern : patterns)
    if (const auto wrong = l4::faults::error_of(l4::faults::expand_pattern(pattern));
        !wrong.empty())
      from.fail(key, fmt::format("{}: {}", pattern, wrong));
  return patterns;
}

std::vector<l4::faults::Condition> read_conditions(JsonMembers& from) {
  using enum wire::ParameterKind;
  std::vector<l4::faults::Condition> conditions;
  for (const wire::ParameterKind kind : {code, errno_value, signal, exit_code})
    if (const std::string_view key = l4::faults::name(kind); from.find(key) != nullptr)
      conditions.push_back({kind, from.get<std::vector<std::string>>(key)});
  return conditions;
}

std::optional<l4::faults::Confirmation> read_confirmation(JsonMembers& from) {
  std::optional<l4::faults::Confirmation> confirmation;
  const JsonValue* given = from.find("confirmed");
  if (given == nullptr || given->is_null()) return confirmation;
  from.object("confirmed", [&](JsonMembers& by) {
    confirmation = {by.text("by"), by.get<TimeMs>("at"), by.text("incident")};
  });
  return confirmation;
}

l4::faults::Fault read_members(JsonMembers& from) {
  l4::faults::Fault fault;
  from.read("id", fault.id);
  from.read("family", fault.family);
  from.read("title", fault.title);
  fault.category = named(from, "category", category_from_name);
  from.read("subcategory", fault.subcategory);
  fault.patterns = read_patterns(from, "patterns");
  fault.unless = read_patterns(from, "unless");
  from.object("parameters", [&](JsonMembers& all) { fault.conditions = read_conditions(all); });
  fault.scope = named(from, "scope", scope_from_name);
  fault.severity = named(from, "severity", level_from_name);
  from.read("consequence", fault.consequence);
  from.read("timeout", fault.timeout);
  from.read("setup", fault.setup);
  from.read("accuses_peer", fault.accuses_peer);
  from.read_if_any("general", fault.general);
  from.read_if_any("stopped_by", fault.stopped_by);  // older aggregators have no such field
  from.read("cause", fault.cause);
  from.read("fix", fault.fix);
  from.read("action", fault.action);
  from.read("matches", fault.matches);
  from.read("rejects", fault.rejects);
  fault.confirmed = read_confirmation(from);
  return fault;
}

void read_checked_against(JsonMembers& from, ConfirmedView& view) {
  from.read("incidents", view.incidents);
  from.read("jobs", view.jobs);
  from.read_if_any("runs", view.runs);  // older aggregators have no such field
  from.read("templates", view.templates);
  from.read_if_any("complete", view.complete);
}

void read_view(JsonMembers& from, ConfirmedView& view) {
  from.read("stored", view.stored);
  from.read("known", view.known);
  from.object("fault", [&](JsonMembers& fault) {
    fault.read("id", view.id);
    fault.read("title", view.title);
    view.category = fault.text("category") + "/" + fault.text("subcategory");
    fault.read("scope", view.scope);
    fault.read("severity", view.severity);
    fault.read("cause", view.cause);
    fault.read("fix", view.fix);
    fault.read("patterns", view.patterns);
    fault.read("matches", view.matches);
    fault.read("rejects", view.rejects);
    fault.object("parameters", [&](JsonMembers& parameters) {
      for (const std::string& kind : parameters.names())
        for (const auto& value : parameters.get<std::vector<std::string>>(kind))
          view.codes.push_back(fmt::format("{} {}", kind, value));
    });
  });
  from.read("category_from", view.category_from);
  from.each("evidence", [&](JsonMembers& event) {
    const std::string id = event.text("template_id");
    if (view.evidence.empty()) view.template_id = id;
    view.evidence.push_back(id + " " + event.text("template"));
  });
  from.each("also_matches", [&](JsonMembers& past) {
    view.also_matches.push_back(fmt::format("{} of job {}, {}", past.text("incident"),
                                            past.text("job"), past.text("state")));
  });
  view.overlaps =
      fmt::format("{}", fmt::join(from.get<std::vector<std::string>>("overlaps"), ", "));
  from.object("looked_at", [&](JsonMembers& all) { read_checked_against(all, view); });
}

/// Calls `read(members)` for the document, which is an object.
template <class Read>
Result<void> read_document(std::string_view text, Read read) {
  const auto json = serve::parse_json(text);
  if (!json) return std::unexpected(Error{"", json.error().reason});
  JsonReader reader("$");
  JsonMembers from(reader, *json);
  if (!reader.failed()) read(from);
  if (reader.error()) return std::unexpected(*reader.error());
  return {};
}

}  // namespace

std::string to_json(const std::vector<const l4::faults::Fault*>& faults) {
  JsonValue::List all;
  for (const l4::faults::Fault* fault : faults) all.push_back(object_of(*fault));
  return dump_json(Members{{"schema", "l4.faults/1"}, {"faults", all}}, 2) + '\n';
}

std::string to_json(const FaultMatch& match) {
  return dump_json(Members{{"file", match.file},
                           {"line", match.line},
                           {"fault", match.fault->id},
                           {"title", match.fault->title},
                           {"severity", name(match.fault->severity)},
                           {"text", match.text}});
}

std::string to_json(const std::vector<std::pair<const l4::faults::Fault*, std::size_t>>& counts) {
  JsonValue::List all;
  for (const auto& [fault, count] : counts)
    all.push_back(Members{{"fault", fault->id}, {"title", fault->title}, {"count", count}});
  return dump_json(all);
}

std::string to_json(const std::vector<l4::faults::EntryError>& findings, std::size_t entries) {
  JsonValue::List all;
  for (const l4::faults::EntryError& finding : findings)
    all.push_back(Members{{"file", finding.file},
                          {"line", finding.line},
                          {"entry", finding.entry},
                          {"key", finding.key},
                          {"value", finding.value},
                          {"reason", finding.reason}});
  return dump_json(
             Members{{"schema", "l4.fault_findings/1"}, {"entries", entries}, {"findings", all}},
             2) +
         '\n';
}

Result<std::vector<l4::faults::Fault>> read_faults(std::string_view text) {
  std::vector<l4::faults::Fault> faults;
  const auto done = read_document(text, [&](JsonMembers& from) {
    from.each("faults", [&](JsonMembers& one) { faults.push_back(read_members(one)); });
  });
  if (!done) return std::unexpected(done.error());
  return faults;
}

Result<l4::faults::Fault> read_fault(std::string_view text) {
  l4::faults::Fault fault;
  const auto done = read_document(text, [&](JsonMembers& from) { fault = read_members(from); });
  if (!done) return std::unexpected(done.error());
  return fault;
}

Result<ConfirmedView> read_confirmed(std::string_view text) {
  ConfirmedView view;
  const auto done = read_document(text, [&](JsonMembers& from) { read_view(from, view); });
  if (!done) return std::unexpected(done.error());
  return view;
}

std::vector<std::pair<std::string, std::string>> read_lines(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto done = read_document(text, [&](JsonMembers& from) {
    from.object("error", [&](JsonMembers& error) {
      error.each("lines", [&](JsonMembers& line) {
        std::string where = line.text("where");
        lines.emplace_back(std::move(where), line.text("text"));
      });
    });
  });
  if (!done) return {};
  return lines;
}

}  // namespace l4::commands::faults
