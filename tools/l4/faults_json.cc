#include "tools/l4/faults_json.h"

#include <nlohmann/json.hpp>

namespace l4::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json object_of(const faults::Fault& fault) {
  Json parameters = Json::object();
  for (const faults::Condition& condition : fault.conditions)
    parameters[std::string(faults::name(condition.kind))] = condition.values;
  return {{"id", fault.id},
          {"family", fault.family},
          {"title", fault.title},
          {"category", faults::name(fault.category)},
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
          {"rejects", fault.rejects}};
}

}  // namespace

std::string to_json(const std::vector<const faults::Fault*>& faults) {
  Json all = Json::array();
  for (const faults::Fault* fault : faults) all.push_back(object_of(*fault));
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

std::string to_json(const std::vector<std::pair<const faults::Fault*, std::size_t>>& counts) {
  Json all = Json::array();
  for (const auto& [fault, count] : counts)
    all.push_back({{"fault", fault->id}, {"title", fault->title}, {"count", count}});
  return dump(all, -1);
}

std::string to_json(const std::vector<faults::Finding>& findings, std::size_t entries) {
  Json all = Json::array();
  for (const faults::Finding& finding : findings)
    all.push_back({{"file", finding.file},
                   {"line", finding.line},
                   {"entry", finding.entry},
                   {"key", finding.key},
                   {"value", finding.value},
                   {"reason", finding.reason}});
  return dump({{"schema", "l4.fault_findings/1"}, {"entries", entries}, {"findings", all}}, 2) +
         '\n';
}

}  // namespace l4::cli
