#include "aggregator/alert/alertmanager.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "aggregator/alert/brief.h"
#include "aggregator/serve/json_text.h"

namespace l4::alert {
namespace {

constexpr Millis kTestLasts{300'000};

std::string_view alert_name(const Alert& alert) {
  switch (alert.kind) {
    case Kind::blind:
    case Kind::sighted:
      return "L4AggregatorBlind";
    case Kind::name_twice:
      return "L4NodeNameTwice";
    case Kind::storm:
    case Kind::storm_over:
      return "L4JobStorm";
    case Kind::degraded:
    case Kind::well_again:
      return "L4Degraded";
    case Kind::noticed:
    case Kind::notice_over:
      return "L4Notice";
    case Kind::test:
    case Kind::test_over:
      return "L4Test";
    case Kind::opened:
    case Kind::changed:
    case Kind::resolved:
      break;
  }
  return "L4JobFailure";
}

/// Link to a heading of the page on alerts, as in the rules for Prometheus.
std::string runbook(const Alert& alert, const Origin& from) {
  std::string heading(alert_name(alert));
  std::ranges::transform(heading, heading.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return from.runbook + "#" + heading;
}

void write_labels(serve::JsonWriter& json, const Alert& alert, Severity severity,
                  const Origin& from) {
  json.key("labels").open('{').member("alertname", alert_name(alert));
  json.member("severity", name(severity)).member("source", from.source);
  if (!alert.incident.empty()) json.member("incident", alert.incident);
  if (!alert.notice.empty()) json.member("notice", alert.notice);
  if (!alert.job.empty())
    json.member("job", alert.job).member("attempt", std::to_string(alert.attempt));
  if (alert.kind == Kind::name_twice && !alert.nodes.empty()) json.member("node", alert.nodes[0]);
  json.close('}');
}

void write_annotations(serve::JsonWriter& json, const Alert& alert, const Origin& from) {
  json.key("annotations").open('{');
  for (const auto& [key, text] : details(alert)) json.member(key, text);
  json.member("runbook", runbook(alert, from));
  const std::string page = link(alert, from);
  if (!page.empty()) json.member("link", page);
  json.close('}');
  if (!page.empty()) json.member("generatorURL", page);
}

/// Ends the alert with this severity, even if there was none.
std::string ended(const Alert& alert, Severity severity, const Origin& from) {
  serve::JsonWriter json;
  json.open('{');
  write_labels(json, alert, severity, from);
  write_annotations(json, alert, from);
  json.member("endsAt", alert.at).close('}');
  return json.release();
}

std::string begun(const Alert& alert, const Origin& from) {
  serve::JsonWriter json;
  json.open('{');
  write_labels(json, alert, severity(alert), from);
  write_annotations(json, alert, from);
  json.member("startsAt", std::min(alert.since.value_or(alert.at), alert.at));
  // Nobody ends a test, and one that ended at once would be told to nobody.
  if (alert.kind == Kind::test) json.member("endsAt", alert.at + kTestLasts);
  json.close('}');
  return json.release();
}

constexpr std::array<std::string_view, 2> kAlertmanagerKeys{"url", "ca"};

void join_alerts(const SinkOptions& sink, const std::vector<std::string>& stored,
                 Request& request) {
  request.url = alertmanager_url(sink.url);
  request.body = fmt::format("[{}]", fmt::join(stored, ", "));
}

}  // namespace

constinit const SinkKind kAlertmanager{
    .name = "alertmanager",
    .repeats = true,
    .holds_open = true,
    .groups_itself = true,
    .keys = kAlertmanagerKeys,
    .read = read_address,
    .body = to_alertmanager,
    .complete = join_alerts,
};

std::string to_alertmanager(const Alert& alert, const Origin& from) {
  std::string text;
  const auto add = [&text](const std::string& object) {
    text += (text.empty() ? "" : ", ") + object;
  };
  if (!is_over(alert)) add(begun(alert, from));
  if (alert.kind == Kind::sighted || alert.kind == Kind::well_again ||
      alert.kind == Kind::notice_over || alert.kind == Kind::test_over)
    add(ended(alert, severity(alert), from));
  if (alert.kind == Kind::changed || alert.kind == Kind::resolved)
    for (const Severity other : {Severity::warning, Severity::critical})
      if (is_over(alert) || other != severity(alert)) add(ended(alert, other, from));
  return text;
}

std::string alertmanager_url(std::string url) {
  constexpr std::string_view kPath = "/api/v2/alerts";
  while (url.ends_with('/')) url.pop_back();
  return url.ends_with(kPath) ? url : url.append(kPath);
}

}  // namespace l4::alert
