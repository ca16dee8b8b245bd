#include "aggregator/pool/run_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "aggregator/serve/json_reader.h"

namespace l4::pool {
namespace {

using serve::JsonMembers;
using serve::JsonReader;
using serve::JsonValue;

constexpr std::string_view kNotKnown = "is not known here";

/// The text of the member: at least one byte, no control characters.
std::string bounded_text(JsonMembers& from, std::string_view name, std::size_t bytes_max) {
  std::string text = from.text(name);
  if (text.empty() || text.size() > bytes_max)
    from.fail(name, fmt::format("must have 1 to {} bytes, has {}", bytes_max, text.size()));
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    from.fail(name, "must not have control characters");
  return text;
}

template <std::integral Number>
Number count(JsonMembers& from, std::string_view name, std::uint64_t most) {
  const JsonValue* member = from.needed(name);
  if (member == nullptr) return 0;
  const auto value = member->integer<std::uint64_t>();
  if (value && *value <= most) return static_cast<Number>(*value);
  from.fail(name, fmt::format("must be a number from 0 to {}", most), *member);
  return 0;
}

double number(JsonMembers& from, std::string_view name, double most) {
  const JsonValue* member = from.needed(name);
  if (member == nullptr) return 0;
  const auto value = member->number();
  if (value && *value >= 0 && *value <= most) return *value;
  from.fail(name, fmt::format("must be a number from 0 to {}", most), *member);
  return 0;
}

/// Calls `each(members)` for each object of the list.
template <class Each>
void each_of(JsonMembers& from, std::string_view name, std::size_t most, bool needed, Each each) {
  const JsonValue* member = needed ? from.needed(name) : from.find(name);
  if (member == nullptr) return;
  if (const auto* list = member->list(); list != nullptr && list->size() > most)
    return from.fail(name, fmt::format("must have at most {} entries, has {}", most, list->size()));
  from.each(name, each);
}

Event read_event(JsonMembers& from) {
  Event event;
  from.read("id", event.id);
  event.text = bounded_text(from, "template", kTextBytesMax);
  const std::string level = bounded_text(from, "level", kNameBytesMax);
  const auto known = level_from_name(level);
  if (!known) from.fail("level", "must be a level of lines", level);
  event.level = known.value_or(Level::unknown);
  constexpr std::uint64_t kCountMax = std::uint64_t{1} << 53U;
  event.node_count_max = count<std::uint64_t>(from, "node_count_max", kCountMax);
  event.node_rate_max = number(from, "node_rate_max", 1e9);
  event.node_share = number(from, "node_share", 1);
  from.end(kNotKnown);
  return event;
}

Pause read_pause(JsonMembers& from) {
  Pause pause;
  const std::string stage = bounded_text(from, "stage", kNameBytesMax);
  const auto known = stage_from_name(stage);
  if (!known) from.fail("stage", "must be a stage of a job", stage);
  pause.stage = known.value_or(Stage::unknown);
  from.read("startup", pause.startup);
  constexpr std::uint64_t kLongest = std::uint64_t{30} * 86'400'000;
  pause.longest = Millis{count<std::int64_t>(from, "longest_ms", kLongest)};
  from.end(kNotKnown);
  return pause;
}

Run read_one(JsonMembers& from, bool whole) {
  Run run;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;
  run.id = bounded_text(from, "run", kNameBytesMax + 16);
  run.job = bounded_text(from, "job", kNameBytesMax);
  run.attempt = count<std::int32_t>(from, "attempt", 1'000'000);
  if (run.id != run_id(run.job, run.attempt)) from.fail("run", "must be JOB.ATTEMPT", run.id);
  if (from.find("kind") != nullptr) run.kind = bounded_text(from, "kind", kNameBytesMax);
  const std::string origin = bounded_text(from, "origin", kNameBytesMax);
  bool known = false;
  for (const Origin one : {Origin::logs, Origin::outcome, Origin::folder})
    if (origin == name(one)) run.origin = one, known = true;
  if (!known) from.fail("origin", "must be logs, outcome or folder", origin);
  from.read("ended", run.ended);
  run.nodes = count<std::uint64_t>(from, "nodes", kMost);
  run.ranks = count<std::uint64_t>(from, "ranks", kMost);
  run.lines = count<std::uint64_t>(from, "lines", kMost);
  run.left_out = count<std::uint64_t>(from, "left_out", kMost);
  if (from.find("events_known") != nullptr) {
    const auto known_events = count<std::size_t>(from, "events_known", kEventsMax);
    if (!whole) run.events.resize(known_events);
  }
  constexpr double kSlowedMost = 1e9;
  if (from.find("slowed") != nullptr) run.slowed = number(from, "slowed", kSlowedMost);
  each_of(from, "events", kEventsMax, whole,
          [&](JsonMembers& event) { run.events.push_back(read_event(event)); });
  each_of(from, "pauses", kPausesMax, whole,
          [&](JsonMembers& pause) { run.pauses.push_back(read_pause(pause)); });
  if (whole && run.events.empty()) from.fail("events", "must have at least one entry");
  from.end(kNotKnown);
  return run;
}

Error no_json(const serve::JsonSyntaxError& error) {
  const std::size_t at = error.reason.find("at line");
  return {"", "is no JSON: " + (at == error.reason.npos ? error.reason : error.reason.substr(at))};
}

/// The path of the document itself is empty, and so are those of the members before their names.
Error named(Error error) {
  if (error.where.empty()) error.where = "the document";
  return error;
}

Result<std::vector<Run>> runs_in(const JsonValue& json, bool whole) {
  JsonReader reader("");
  JsonMembers document(reader, json);
  const std::string schema = bounded_text(document, "schema", kNameBytesMax);
  if (!reader.failed() && schema != kSchema)
    document.fail("schema", fmt::format("must be {}, is {}", kSchema, schema));
  std::vector<Run> runs;
  std::set<std::string> ids;
  each_of(document, "runs", kRunsMax, true, [&](JsonMembers& from) {
    Run run = read_one(from, whole);
    if (!ids.insert(run.id).second) from.fail("run", "is there twice: " + run.id);
    runs.push_back(std::move(run));
  });
  document.find("next");  // may stand there, whatever it is
  document.end(kNotKnown);
  if (reader.error()) return std::unexpected(named(*reader.error()));
  return runs;
}

}  // namespace

void write(serve::JsonWriter& to, const Run& run, bool whole) {
  to.open('{').member("run", run.id).member("job", run.job).member("attempt", run.attempt);
  if (!run.kind.empty()) to.member("kind", run.kind);
  to.member("origin", name(run.origin)).member("ended", run.ended);
  to.member("nodes", run.nodes).member("ranks", run.ranks).member("lines", run.lines);
  to.member("left_out", run.left_out).member("events_known", run.events.size());
  if (!whole) {
    to.close('}');
    return;
  }
  if (run.slowed > 1) to.key("slowed").raw(fmt::format("{}", run.slowed));
  to.key("events").open('[');
  for (const Event& event : run.events) {
    to.open('{').member("id", to_string(event.id)).member("template", event.text);
    to.member("level", l4::name(event.level)).member("node_count_max", event.node_count_max);
    to.key("node_rate_max").raw(fmt::format("{}", event.node_rate_max));
    to.member("node_share", event.node_share).close('}');
  }
  to.close(']').key("pauses").open('[');
  for (const Pause& pause : run.pauses) {
    to.open('{').member("stage", l4::name(pause.stage));
    to.member("startup", pause.startup).member("longest_ms", pause.longest.count()).close('}');
  }
  to.close(']').close('}');
}

std::string to_json(const std::vector<const Run*>& runs, bool whole) {
  serve::JsonWriter text;
  text.open('{').member("schema", kSchema).key("runs").open('[');
  for (const Run* run : runs) write(text, *run, whole);
  return text.close(']').close('}').release() + '\n';
}

std::string to_json(const Run& run) {
  return to_json({&run}, true);
}

Result<std::vector<Run>> read_runs(std::string_view text, bool whole) {
  const auto json = serve::parse_json(text);
  if (!json) return std::unexpected(no_json(json.error()));
  return runs_in(*json, whole);
}

Result<void> each_run(std::istream& in, const std::function<Result<void>(Run)>& visit) {
  std::optional<Error> error;
  std::set<std::string> ids;
  const auto rest = serve::parse_json(in, "runs", [&](std::size_t index, const JsonValue& element) {
    JsonReader reader(fmt::format("runs[{}]", index));
    JsonMembers from(reader, element);
    Run run = read_one(from, true);
    if (!ids.insert(run.id).second) from.fail("run", "is there twice: " + run.id);
    if (ids.size() > kRunsMax) reader.fail("is one more than are taken");
    error = reader.error();
    if (!error)
      if (const auto visited = visit(std::move(run)); !visited) error = visited.error();
    return !error;
  });
  if (error) return std::unexpected(*error);
  if (!rest) return std::unexpected(no_json(rest.error()));
  if (const auto runs = runs_in(*rest, true); !runs) return std::unexpected(runs.error());
  return {};
}

Result<Run> read_run(std::string_view text) {
  auto runs = read_runs(text, true);
  if (!runs) return std::unexpected(runs.error());
  if (runs->size() != 1) return std::unexpected(Error{"runs", "must have one entry"});
  return std::move(runs->front());
}

}  // namespace l4::pool
