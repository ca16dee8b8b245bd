#include "aggregator/alert/alert.h"

#include <fmt/format.h>

#include <array>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/utf8.h"
#include "common/http/url.h"

namespace l4::alert {

std::string_view name(Kind kind) {
  static constexpr std::array<std::string_view, 14> kNames{
      "opened",     "changed",  "resolved",   "blind",   "sighted",     "name_twice", "storm",
      "storm_over", "degraded", "well_again", "noticed", "notice_over", "test",       "test_over"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view name(Severity severity) {
  static constexpr std::array<std::string_view, 3> kNames{"info", "warning", "critical"};
  return kNames.at(static_cast<std::size_t>(severity));
}

Severity severity(const Alert& alert) {
  if (alert.kind == Kind::blind || alert.kind == Kind::sighted || alert.kind == Kind::name_twice)
    return Severity::warning;
  if (alert.kind == Kind::noticed || alert.kind == Kind::notice_over) return Severity::info;
  if (alert.kind == Kind::degraded || alert.kind == Kind::well_again) return Severity::critical;
  switch (alert.state) {
    case State::crashed:
    case State::hung:
    case State::node_lost:
    case State::launch_failed:
      return Severity::critical;
    case State::slow:
      return Severity::warning;
    case State::unknown:
    case State::healthy:
    case State::finished:
      break;
  }
  return Severity::info;
}

bool is_over(const Alert& alert) {
  return alert.kind == Kind::resolved || alert.kind == Kind::sighted ||
         alert.kind == Kind::storm_over || alert.kind == Kind::well_again ||
         alert.kind == Kind::notice_over || alert.kind == Kind::test_over;
}

std::string key(const Alert& alert) {
  if (!alert.incident.empty()) return alert.incident;
  if (!alert.notice.empty()) return alert.notice;
  if (alert.kind == Kind::blind || alert.kind == Kind::sighted) return "blind";
  if (alert.kind == Kind::degraded || alert.kind == Kind::well_again) return "degraded";
  if (alert.kind == Kind::test || alert.kind == Kind::test_over) return "test";
  return fmt::format("{}.{}", name(alert.kind), alert.nodes.empty() ? "" : alert.nodes[0]);
}

std::string link(const Alert& alert, const Origin& from) {
  // Encoded; with the page's address a block of a chat holds it.
  constexpr std::size_t kIdMax = 1'500;
  if (from.page.empty()) return {};
  const bool of_incident = !alert.incident.empty();
  if (of_incident || !alert.job.empty()) {
    const std::string id = http::percent_encoded(of_incident ? alert.incident : alert.job);
    const std::string list = from.page + (of_incident ? "/incidents" : "/jobs");
    if (id.size() <= kIdMax) return list + "/" + id;
    return of_incident ? list : from.page + "/";
  }
  switch (alert.kind) {
    case Kind::storm:
    case Kind::storm_over:
      return from.page + "/incidents";
    case Kind::blind:
    case Kind::sighted:
    case Kind::name_twice:
      return from.page + "/agents";
    default:
      return from.page + "/";
  }
}

std::string to_line(const Alert& alert) {
  std::string line = fmt::format("alert {}", name(alert.kind));
  if (!alert.job.empty())
    line += fmt::format(": job {} attempt {}: {}", alert.job, alert.attempt,
                        alert.notice.empty() ? name(alert.state) : "notice");
  if (!alert.summary.empty()) line += ": " + alert.summary;
  if (!alert.nodes.empty() && alert.kind != Kind::resolved) line += "; first " + alert.nodes[0];
  if (!alert.incident.empty()) line += " (incident " + alert.incident + ")";
  return serve::harmless(line);
}

std::string to_json(const Alert& alert, const Origin& from) {
  serve::JsonWriter json;
  json.open('{').member("schema", "l4.alert/1").member("source", from.source);
  json.member("alert", name(alert.kind)).member("at", alert.at);
  const auto text_or_null = [&](std::string_view key, const std::string& text) {
    json.key(key);
    text.empty() ? json.raw("null") : json.value(text);
  };
  text_or_null("incident", alert.incident);
  if (!alert.notice.empty()) json.member("notice", alert.notice);
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
        .member("category", fault.category)
        .member("cause", fault.cause)
        .member("fix", fault.fix)
        .close('}');
  json.close(']');
  if (!alert.incidents.empty()) json.member("incidents", alert.incidents);
  if (const std::string page = link(alert, from); !page.empty()) json.member("link", page);
  json.close('}');
  return json.release();
}

}  // namespace l4::alert
