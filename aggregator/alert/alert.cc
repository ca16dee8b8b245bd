#include "aggregator/alert/alert.h"

#include <fmt/format.h>

#include <array>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/utf8.h"

namespace l4::alert {

std::string_view name(Kind kind) {
  static constexpr std::array<std::string_view, 6> kNames{"opened", "changed", "resolved",
                                                          "blind",  "sighted", "name_twice"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string to_line(const Alert& alert) {
  std::string line = fmt::format("alert {}", name(alert.kind));
  if (!alert.job.empty())
    line += fmt::format(": job {} attempt {}: {}", alert.job, alert.attempt, name(alert.state));
  if (!alert.summary.empty()) line += ": " + alert.summary;
  if (!alert.nodes.empty() && alert.kind != Kind::resolved) line += "; first " + alert.nodes[0];
  if (!alert.incident.empty()) line += " (incident " + alert.incident + ")";
  return serve::harmless(line);
}

std::string to_json(const Alert& alert, const std::string& source) {
  serve::JsonWriter json;
  json.open('{').member("schema", "l4.alert/1").member("source", source);
  json.member("alert", name(alert.kind)).member("at", alert.at);
  const auto text_or_null = [&](std::string_view key, const std::string& text) {
    json.key(key);
    text.empty() ? json.raw("null") : json.value(text);
  };
  text_or_null("incident", alert.incident);
  text_or_null("job", alert.job);
  json.member("attempt", alert.attempt).member("state", name(alert.state));
  json.member("confidence", alert.confidence).member("since", alert.since);
  text_or_null("stage",
               alert.stage == Stage::unknown ? std::string() : std::string(name(alert.stage)));
  json.member("iteration", alert.iteration).member("summary", alert.summary);
  json.member("nodes", alert.nodes).member("ranks", alert.ranks);
  json.key("faults").open('[');
  for (const Fault& fault : alert.faults)
    json.open('{')
        .member("id", fault.id)
        .member("title", fault.title)
        .member("fix", fault.fix)
        .close('}');
  json.close(']').close('}');
  return json.take();
}

}  // namespace l4::alert
