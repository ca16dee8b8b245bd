#include "tools/l4/commands/faults/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "aggregator/faults/pattern.h"

namespace l4::commands::faults {
namespace {

using FaultsJson = nlohmann::ordered_json;

std::string dump(const FaultsJson& json, int indent) {
  return json.dump(indent, ' ', false, FaultsJson::error_handler_t::replace);
}

FaultsJson confirmation_of(const l4::faults::Fault& fault) {
  const auto& by = fault.confirmed;
  if (!by) return nullptr;
  return {{"by", by->by}, {"at", to_rfc3339(by->at)}, {"incident", by->incident}};
}

FaultsJson object_of(const l4::faults::Fault& fault) {
  FaultsJson parameters = FaultsJson::object();
  for (const l4::faults::Condition& condition : fault.conditions)
    parameters[std::string(l4::faults::name(condition.kind))] = condition.values;
  return {{"id", fault.id},
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

/// The value that has this name.
template <class T>
T named(const FaultsJson& object, const char* key,
        std::optional<T> (*from_name)(std::string_view)) {
  const auto word = object.at(key).get<std::string>();
  if (const auto value = from_name(word)) return *value;
  throw std::runtime_error(fmt::format("{}: {} is not known here", key, word));
}

std::optional<l4::faults::Category> category_from_name(std::string_view text) {
  using enum l4::faults::Category;
  for (const l4::faults::Category one : {hardware, user, framework, platform})
    if (l4::faults::name(one) == text) return one;
  return std::nullopt;
}

std::vector<std::string> patterns_of(const FaultsJson& object, const char* key) {
  auto patterns = object.at(key).get<std::vector<std::string>>();
  for (const std::string& pattern : patterns)
    if (const auto wrong = l4::faults::error_of(l4::faults::expand_pattern(pattern));
        !wrong.empty())
      throw std::runtime_error(fmt::format("{}: {}: {}", key, pattern, wrong));
  return patterns;
}

std::vector<l4::faults::Condition> conditions_of(const FaultsJson& parameters) {
  using enum wire::ParameterKind;
  std::vector<l4::faults::Condition> conditions;
  for (const wire::ParameterKind kind : {code, errno_value, signal, exit_code})
    if (const auto found = parameters.find(l4::faults::name(kind)); found != parameters.end())
      conditions.push_back({kind, found->get<std::vector<std::string>>()});
  return conditions;
}

std::optional<l4::faults::Confirmation> confirmation_in(const FaultsJson& object) {
  const auto given = object.find("confirmed");
  if (given == object.end() || given->is_null()) return std::nullopt;
  const auto at = parse_time(given->at("at").get<std::string>());
  if (!at) throw std::runtime_error("confirmed.at: is no time");
  return l4::faults::Confirmation{given->at("by").get<std::string>(), *at,
                                  given->at("incident").get<std::string>()};
}

l4::faults::Fault fault_in(const FaultsJson& object) {
  l4::faults::Fault fault;
  const auto text = [&](const char* key) { return object.at(key).get<std::string>(); };
  const auto flag = [&](const char* key) { return object.at(key).get<bool>(); };
  const auto texts = [&](const char* key) {
    return object.at(key).get<std::vector<std::string>>();
  };
  fault.id = text("id");
  fault.family = text("family");
  fault.title = text("title");
  fault.category = named(object, "category", category_from_name);
  fault.subcategory = text("subcategory");
  fault.patterns = patterns_of(object, "patterns");
  fault.unless = patterns_of(object, "unless");
  fault.conditions = conditions_of(object.at("parameters"));
  fault.scope = named(object, "scope", scope_from_name);
  fault.severity = named(object, "severity", level_from_name);
  fault.consequence = flag("consequence");
  fault.timeout = flag("timeout");
  fault.setup = flag("setup");
  fault.accuses_peer = flag("accuses_peer");
  fault.cause = text("cause");
  fault.fix = text("fix");
  fault.action = text("action");
  fault.matches = texts("matches");
  fault.rejects = texts("rejects");
  fault.confirmed = confirmation_in(object);
  return fault;
}

}  // namespace

std::string to_json(const std::vector<const l4::faults::Fault*>& faults) {
  FaultsJson all = FaultsJson::array();
  for (const l4::faults::Fault* fault : faults) all.push_back(object_of(*fault));
  return dump({{"schema", "l4.faults/1"}, {"faults", all}}, 2) + '\n';
}

std::string to_json(const FaultMatch& match) {
  return dump({{"file", match.file},
               {"line", match.line},
               {"fault", match.fault->id},
               {"title", match.fault->title},
               {"severity", name(match.fault->severity)},
               {"text", match.text}},
              -1);
}

std::string to_json(const std::vector<std::pair<const l4::faults::Fault*, std::size_t>>& counts) {
  FaultsJson all = FaultsJson::array();
  for (const auto& [fault, count] : counts)
    all.push_back({{"fault", fault->id}, {"title", fault->title}, {"count", count}});
  return dump(all, -1);
}

std::string to_json(const std::vector<l4::faults::EntryError>& findings, std::size_t entries) {
  FaultsJson all = FaultsJson::array();
  for (const l4::faults::EntryError& finding : findings)
    all.push_back({{"file", finding.file},
                   {"line", finding.line},
                   {"entry", finding.entry},
                   {"key", finding.key},
                   {"value", finding.value},
                   {"reason", finding.reason}});
  return dump({{"schema", "l4.fault_findings/1"}, {"entries", entries}, {"findings", all}}, 2) +
         '\n';
}

Result<std::vector<l4::faults::Fault>> read_faults(std::string_view text) try {
  const FaultsJson json = FaultsJson::parse(text);
  std::vector<l4::faults::Fault> faults;
  for (const FaultsJson& object : json.at("faults")) faults.push_back(fault_in(object));
  return faults;
} catch (const std::exception& wrong) {
  return std::unexpected(Error{"", wrong.what()});
}

Result<l4::faults::Fault> read_fault(std::string_view text) try {
  return fault_in(FaultsJson::parse(text));
} catch (const std::exception& wrong) {
  return std::unexpected(Error{"", wrong.what()});
}

Result<ConfirmedView> read_confirmed(std::string_view text) try {
  const FaultsJson json = FaultsJson::parse(text);
  const FaultsJson& fault = json.at("fault");
  const auto of = [](const FaultsJson& object, const char* key) {
    return object.at(key).get<std::string>();
  };
  const auto list = [&](const char* key) { return fault.at(key).get<std::vector<std::string>>(); };
  ConfirmedView view;
  view.stored = json.at("stored").get<bool>();
  view.known = json.at("known").get<bool>();
  view.id = of(fault, "id");
  view.title = of(fault, "title");
  view.category = of(fault, "category") + "/" + of(fault, "subcategory");
  view.category_from = of(json, "category_from");
  view.scope = of(fault, "scope");
  view.severity = of(fault, "severity");
  view.cause = of(fault, "cause");
  view.fix = of(fault, "fix");
  view.patterns = list("patterns");
  view.matches = list("matches");
  view.rejects = list("rejects");
  for (const auto& [kind, values] : fault.at("parameters").items())
    for (const FaultsJson& value : values)
      view.codes.push_back(kind + " " + value.get<std::string>());
  for (const FaultsJson& event : json.at("evidence"))
    view.evidence.push_back(of(event, "template_id") + " " + of(event, "template"));
  for (const FaultsJson& past : json.at("also_matches"))
    view.also_matches.push_back(
        fmt::format("{} of job {}, {}", of(past, "incident"), of(past, "job"), of(past, "state")));
  for (const FaultsJson& id : json.at("overlaps"))
    view.overlaps += (view.overlaps.empty() ? "" : ", ") + id.get<std::string>();
  const FaultsJson& looked_at = json.at("looked_at");
  view.incidents = looked_at.at("incidents").get<std::uint64_t>();
  view.jobs = looked_at.at("jobs").get<std::uint64_t>();
  view.runs = looked_at.value("runs", std::uint64_t{0});  // older aggregators have no such field
  view.templates = looked_at.at("templates").get<std::uint64_t>();
  view.complete = looked_at.value("complete", true);
  return view;
} catch (const FaultsJson::exception& wrong) {
  return std::unexpected(Error{"", wrong.what()});
}

std::vector<std::pair<std::string, std::string>> read_lines(std::string_view text) try {
  std::vector<std::pair<std::string, std::string>> lines;
  const FaultsJson json = FaultsJson::parse(text);
  for (const FaultsJson& line : json.at("error").at("lines"))
    lines.emplace_back(line.at("where").get<std::string>(), line.at("text").get<std::string>());
  return lines;
} catch (const FaultsJson::exception&) {
  return {};
}

}  // namespace l4::commands::faults
