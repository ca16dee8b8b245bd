#include "aggregator/alert/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "aggregator/alert/sink_kind.h"
#include "common/config/config_dir.h"
#include "common/config/config_values.h"

namespace l4::alert {
namespace {

constexpr std::size_t kSinksMax = 16, kSilencesMax = 256, kSinkNameMax = 32, kFiltersMax = 64;

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const SinkKind* kind : sink_kinds()) names.push_back(kind->name);
  return names;
}

std::optional<State> state_of(std::string_view word) {
  for (const State state :
       {State::crashed, State::hung, State::slow, State::node_lost, State::launch_failed})
    if (name(state) == word) return state;
  return std::nullopt;
}

std::optional<Topic> topic_of(std::string_view word) {
  for (std::size_t i = 0; i < kTopics; ++i)
    if (const auto topic = static_cast<Topic>(i); name(topic) == word) return topic;
  return std::nullopt;
}

void read_name(ConfigTable& table, const std::vector<SinkOptions>& before, SinkOptions& sink) {
  sink.name = table.text("name");
  const bool plain = std::ranges::all_of(sink.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (sink.name.empty() || sink.name.size() > kSinkNameMax || !plain)
    table.refuse("name", "must be 1 to 32 of a-z, 0-9, - and _");
  if (sink.name == kDefaultSink) table.refuse("name", "is that of [alerts] webhook");
  if (std::ranges::find(before, sink.name, &SinkOptions::name) != before.end())
    table.refuse("name", "is that of another sink");
}

/// Refuses by name the keys that only other kinds have.
void refuse_foreign_keys(ConfigTable& table, const SinkKind& kind) {
  for (const SinkKind* other : sink_kinds())
    for (const std::string_view key : other->keys)
      if (table.has(key) && std::ranges::find(kind.keys, key) == kind.keys.end())
        table.refuse(key, fmt::format("is not for a sink of kind {}", kind.name));
}

/// A list of texts, none of them empty.
std::vector<std::string> words(ConfigTable& table, std::string_view key) {
  std::vector<std::string> found = table.texts_or_none(key);
  if (table.has(key) && found.empty()) table.refuse(key, "must not be empty");
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].empty()) table.refuse(key, "must not be empty", i);
  return found;
}

AlertFilter read_filter(ConfigTable& table, bool storms) {
  AlertFilter filter;
  filter.jobs = words(table, "job");
  filter.nodes = words(table, "node");
  filter.faults = words(table, "fault");
  filter.categories = words(table, "category");
  const std::vector<std::string> states = words(table, "state"), kinds = words(table, "kind");
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (const auto state = state_of(states[i]))
      filter.states.push_back(*state);
    else
      table.refuse("state", "must be of crashed hung slow node_lost launch_failed", i);
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto topic = topic_of(kinds[i]);
    if (topic && (storms || *topic != Topic::storm))
      filter.topics.push_back(*topic);
    else if (topic)
      table.refuse("kind", "storm is not for what tells incidents one by one", i);
    else
      table.refuse("kind", "must be of incident blind degraded name_twice storm notice", i);
  }
  return filter;
}

void read_filters(ConfigTable& table, SinkOptions& sink) {
  static const std::vector<std::string_view> kSeverities{"info", "warning", "critical"};
  if (table.has("severity_min"))
    sink.severity_min = static_cast<Severity>(table.choice("severity_min", kSeverities));
  for (ConfigTable& match : table.tables("match"))
    sink.filters.push_back(read_filter(match, !sink.kind->groups_itself));
  if (sink.filters.size() > kFiltersMax) table.refuse("match", "must not be more than 64");
}

void read_sinks(ConfigTable& alerts, const std::filesystem::path& file, AlerterOptions& options) {
  for (ConfigTable& table : alerts.tables("sink")) {
    SinkOptions sink;
    read_name(table, options.sinks, sink);
    sink.kind = sink_kinds()[table.choice("kind", kind_names())];
    refuse_foreign_keys(table, *sink.kind);
    SinkSettings from{table, file, options.timeout, options.ca};
    sink.kind->read(from, sink);
    read_filters(table, sink);
    options.sinks.push_back(std::move(sink));
  }
  if (options.sinks.size() > kSinksMax) alerts.refuse("sink", "must not be more than 16");
}

void read_silences(ConfigTable& alerts, AlerterOptions& options) {
  for (ConfigTable& table : alerts.tables("silence")) {
    Silence silence{read_filter(table, false), {}};
    if (silence.filter == AlertFilter{})
      table.refuse("job", "missing: job, node, state, kind, fault or category is needed");
    const std::string until = table.text("until");
    const auto time = parse_time(until);
    if (!time) table.refuse("until", "must be a time in quotation marks: \"2026-11-20T18:00:00Z\"");
    silence.until = time.value_or(TimeMs{});
    options.silences.push_back(std::move(silence));
  }
  if (options.silences.size() > kSilencesMax) alerts.refuse("silence", "must not be more than 256");
}

/// Without the setting: the page that was installed, where it is.
void read_runbook(ConfigTable& alerts, AlerterOptions& options) {
  options.origin.runbook = alerts.text_or("runbook", manual_page("ALERTS.md"));
  if (options.origin.runbook.empty() || options.origin.runbook.contains('#'))
    alerts.refuse("runbook", "must be an address or a path; # and the heading are appended to it");
}

}  // namespace

void read_settings(ConfigTable& alerts, const std::filesystem::path& file,
                   AlerterOptions& options) {
  SenderOptions& sender = options.sender;
  options.webhook = alerts.text_or("webhook", "");
  if (!options.webhook.empty()) check_url(alerts, "webhook", options.webhook);
  read_path(alerts, "ca", file, options.ca);
  options.origin.source = alerts.text_or("source", options.origin.source);
  read_runbook(alerts, options);
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

}  // namespace l4::alert
