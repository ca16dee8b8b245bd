#include "aggregator/alert/pagerduty.h"

#include <fmt/format.h>

#include <array>

#include "aggregator/alert/brief.h"
#include "aggregator/serve/json_text.h"
#include "common/base/hash.h"

namespace l4::alert {
namespace {

constexpr std::array<std::string_view, 3> kPagerDutyKeys{"url", "ca", "key_file"};

void read_pagerduty(SinkSettings& from, SinkOptions& sink) {
  read_address(from, sink);
  sink.secret = read_secret(from, "key_file");
}

void add_routing_key(const SinkOptions& sink, const std::vector<std::string>&, Request& request) {
  request.body = with_routing_key(request.body, sink.secret);
}

}  // namespace

constinit const SinkKind kPagerDuty{
    .name = "pagerduty",
    .holds_open = true,
    .keys = kPagerDutyKeys,
    .read = read_pagerduty,
    .body = to_pagerduty,
    .complete = add_routing_key,
};

std::string dedup_key(const Alert& alert, const Origin& from) {
  constexpr std::size_t kMost = 255, kHead = 200;
  std::string whole = fmt::format("{}/{}", from.source, key(alert));
  if (whole.size() <= kMost) return whole;
  return fmt::format("{}~{:016x}", brief(whole.substr(0, kHead), kHead),
                     hashing::of_bytes(whole.data(), whole.size()));
}

std::string to_pagerduty(const Alert& alert, const Origin& from) {
  constexpr std::size_t kSummaryMax = 1'000;
  serve::JsonWriter json;
  json.open('{').member("event_action", is_over(alert) ? "resolve" : "trigger");
  json.member("dedup_key", dedup_key(alert, from));
  json.key("payload").open('{').member("summary", brief(headline(alert), kSummaryMax));
  json.member("source", alert.nodes.empty() ? from.source : alert.nodes.front());
  json.member("severity", name(severity(alert))).member("timestamp", alert.at);
  if (!alert.job.empty())
    json.member("component", alert.job)
        .member("class", alert.notice.empty() ? name(alert.state) : "notice")
        .member("group", from.source);
  if (alert.kind == Kind::test) json.member("class", name(alert.kind));
  json.key("custom_details").open('{');
  if (!alert.job.empty()) json.member("job", alert.job).member("attempt", alert.attempt);
  if (!alert.incident.empty()) json.member("incident", alert.incident);
  if (!alert.notice.empty()) json.member("notice", alert.notice);
  for (const auto& [key, text] : details(alert)) json.member(key, text);
  json.close('}').close('}').member("client", "L4");
  if (const std::string page = link(alert, from); !page.empty()) {
    json.member("client_url", page).key("links").open('[');
    json.open('{').member("href", page).member("text", "L4").close('}').close(']');
  }
  json.close('}');
  return json.release();
}

std::string with_routing_key(const std::string& event, const std::string& key) {
  std::string text = "{\"routing_key\": ";
  serve::append_json_text(text, key);
  return event.starts_with('{') ? text + ", " + event.substr(1) : event;
}

}  // namespace l4::alert
