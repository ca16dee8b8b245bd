#include "aggregator/alert_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>

#include "common/base/config_values.h"
#include "common/http/url.h"

namespace l4::aggregator {
namespace {

constexpr std::size_t kSinksMax = 16, kSilencesMax = 256, kSecretMax = 4'096, kNameMax = 32,
                      kMatchesMax = 64;

std::vector<std::string_view> kinds() {
  std::vector<std::string_view> all;
  all.reserve(alert::kSinkKinds);
  for (std::size_t i = 0; i < alert::kSinkKinds; ++i)
    all.push_back(alert::name(static_cast<alert::SinkKind>(i)));
  return all;
}

std::optional<State> state_of(std::string_view word) {
  for (const State state :
       {State::crashed, State::hung, State::slow, State::node_lost, State::launch_failed})
    if (name(state) == word) return state;
  return std::nullopt;
}

std::optional<alert::Topic> topic_of(std::string_view word) {
  for (std::size_t i = 0; i < alert::kTopics; ++i)
    if (const auto topic = static_cast<alert::Topic>(i); alert::name(topic) == word) return topic;
  return std::nullopt;
}

void check_url(ConfigTable& table, std::string_view key, std::string_view url) {
  const auto read = http::parse_url(url);
  if (!read) table.refuse(key, read.error().reason);  // without the URL, which may be a secret
}

/// What a file holds, without the line's end; refused with the key that names it.
std::string content_of(ConfigTable& table, std::string_view key,
                       const std::filesystem::path& file) {
  const std::string name = table.text(key);
  const auto path = std::filesystem::absolute(file).parent_path() / name;
  std::string text;
  if (std::error_code none; std::filesystem::is_regular_file(path, none)) {
    std::ifstream input(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(input), {});
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (!name.empty() && (text.empty() || text.size() > kSecretMax))
    table.refuse(key, fmt::format("{} cannot be read, is empty or too long", path.string()));
  return text;
}

void read_name(ConfigTable& table, const std::vector<alert::SinkOptions>& before,
               alert::SinkOptions& sink) {
  sink.name = table.text("name");
  const bool plain = std::ranges::all_of(sink.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (sink.name.empty() || sink.name.size() > kNameMax || !plain)
    table.refuse("name", "must be 1 to 32 of a-z, 0-9, - and _");
  if (sink.name == "webhook") table.refuse("name", "is that of [alerts] webhook");
  if (std::ranges::find(before, sink.name, &alert::SinkOptions::name) != before.end())
    table.refuse("name", "is that of another sink");
}

/// Keys that only some kinds have are refused by name at the others.
void refuse_strange(ConfigTable& table, alert::SinkKind kind) {
  struct Row {
    const char* key;
    std::vector<alert::SinkKind> kinds;
  };
  using enum alert::SinkKind;
  const std::array rows{Row{"url", {alertmanager, webhook, slack, pagerduty}},
                        Row{"ca", {alertmanager, webhook, slack, pagerduty}},
                        Row{"secret", {webhook}},
                        Row{"secret_file", {webhook}},
                        Row{"key_file", {pagerduty}},
                        Row{"command", {exec}},
                        Row{"timeout_s", {exec}}};
  for (const Row& row : rows)
    if (table.has(row.key) && std::ranges::find(row.kinds, kind) == row.kinds.end())
      table.refuse(row.key, fmt::format("is not for a sink of kind {}", alert::name(kind)));
}

void read_target(ConfigTable& table, const std::filesystem::path& file,
                 const alert::AlerterOptions& all, alert::SinkOptions& sink) {
  if (sink.kind == alert::SinkKind::exec) {
    sink.timeout = Millis{10'000};
    sink.command = table.texts("command");
    if (!sink.command.empty() && !sink.command[0].starts_with('/'))
      table.refuse("command", "must begin with the absolute path of a program");
    read_seconds(table, "timeout_s", sink.timeout, 1, 60);
    return;
  }
  sink.url = table.text("url");
  check_url(table, "url", sink.url);
  sink.timeout = all.timeout;
  sink.ca = all.ca;
  if (table.has("ca") && sink.url.starts_with("http://"))
    table.refuse("ca", "is for https:// alone");
  read_path(table, "ca", file, sink.ca);
  if (sink.kind == alert::SinkKind::pagerduty) sink.secret = content_of(table, "key_file", file);
  if (sink.kind != alert::SinkKind::webhook) return;
  if (table.has("secret") && table.has("secret_file"))
    table.refuse("secret_file", "there is a secret already");
  sink.secret = table.text_or("secret", "");
  if (table.has("secret") && sink.secret.empty()) table.refuse("secret", "must not be empty");
  if (table.has("secret_file")) sink.secret = content_of(table, "secret_file", file);
}

/// Texts that are not empty, each as it is.
std::vector<std::string> words(ConfigTable& table, std::string_view key) {
  std::vector<std::string> found = table.texts_or_none(key);
  if (table.has(key) && found.empty()) table.refuse(key, "must not be empty");
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].empty()) table.refuse(key, "must not be empty", i);
  return found;
}

alert::Match read_match(ConfigTable& table, bool storms) {
  alert::Match match;
  match.jobs = words(table, "job");
  match.nodes = words(table, "node");
  match.faults = words(table, "fault");
  match.categories = words(table, "category");
  const std::vector<std::string> states = words(table, "state"), kinds = words(table, "kind");
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (const auto state = state_of(states[i]))
      match.states.push_back(*state);
    else
      table.refuse("state", "must be of crashed hung slow node_lost launch_failed", i);
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto topic = topic_of(kinds[i]);
    if (topic && (storms || *topic != alert::Topic::storm))
      match.topics.push_back(*topic);
    else if (topic)
      table.refuse("kind", "storm is not for what tells incidents one by one", i);
    else
      table.refuse("kind", "must be of incident blind degraded name_twice storm", i);
  }
  return match;
}

void read_filter(ConfigTable& table, alert::SinkOptions& sink) {
  static const std::vector<std::string_view> kSeverities{"info", "warning", "critical"};
  if (table.has("severity_min"))
    sink.severity_min = static_cast<alert::Severity>(table.choice("severity_min", kSeverities));
  for (ConfigTable& match : table.tables("match"))
    sink.matches.push_back(read_match(match, !alert::groups_itself(sink.kind)));
  if (sink.matches.size() > kMatchesMax) table.refuse("match", "must not be more than 64");
}

void read_sinks(ConfigTable& alerts, const std::filesystem::path& file,
                alert::AlerterOptions& options) {
  for (ConfigTable& table : alerts.tables("sink")) {
    alert::SinkOptions sink;
    read_name(table, options.sinks, sink);
    sink.kind = static_cast<alert::SinkKind>(table.choice("kind", kinds()));
    refuse_strange(table, sink.kind);
    read_target(table, file, options, sink);
    read_filter(table, sink);
    options.sinks.push_back(std::move(sink));
  }
  if (options.sinks.size() > kSinksMax) alerts.refuse("sink", "must not be more than 16");
}

void read_silences(ConfigTable& alerts, alert::AlerterOptions& options) {
  for (ConfigTable& table : alerts.tables("silence")) {
    alert::Silence silence{read_match(table, false), {}};
    if (silence.match == alert::Match{})
      table.refuse("job", "missing: job, node, state, kind, fault or category is needed");
    const std::string until = table.text("until");
    const auto time = parse_time(until);
    if (!time) table.refuse("until", "must be a time in quotation marks: \"2026-11-20T18:00:00Z\"");
    silence.until = time.value_or(TimeMs{});
    options.silences.push_back(std::move(silence));
  }
  if (options.silences.size() > kSilencesMax) alerts.refuse("silence", "must not be more than 256");
}

}  // namespace

void read_alerts(ConfigTable& alerts, const std::filesystem::path& file,
                 alert::AlerterOptions& options) {
  alert::SenderOptions& sender = options.sender;
  options.webhook = alerts.text_or("webhook", "");
  if (!options.webhook.empty()) check_url(alerts, "webhook", options.webhook);
  read_path(alerts, "ca", file, options.ca);
  options.source = alerts.text_or("source", options.source);
  read_seconds(alerts, "timeout_s", options.timeout, 1, 4);
  read_seconds(alerts, "retry_first_s", sender.retry_first, 1, 3'600);
  read_seconds(alerts, "retry_most_s", sender.retry_most, 1, kDaySeconds);
  read_seconds(alerts, "again_every_s", sender.again_every, 1, 3'600);
  read_seconds(alerts, "again_for_s", sender.again_for, 60, 7 * kDaySeconds);
  read_seconds(alerts, "storm_window_s", options.storm.window, 1, 3'600);
  options.storm.incidents = static_cast<std::size_t>(alerts.integer_within(
      "storm_incidents", static_cast<std::int64_t>(options.storm.incidents), 0, 1'000));
  read_sinks(alerts, file, options);
  read_silences(alerts, options);
}

}  // namespace l4::aggregator
