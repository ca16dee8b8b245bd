#include "aggregator/pool/run_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "aggregator/serve/utf8.h"

namespace l4::pool {
namespace {

using Json = nlohmann::json;

/// Reads members of one object; the first thing that is wrong is kept.
class Object {
 public:
  Object(const Json& json, std::string path, std::optional<Error>& error)
      : json_(json), path_(std::move(path)), error_(error) {
    if (!json.is_object()) fail("", "must be an object");
  }

  const Json* find(std::string_view key, bool needed = true) {
    if (error_) return nullptr;
    const auto found = json_.find(key);
    if (found != json_.end()) {
      taken_.push_back(key);
      return &*found;
    }
    if (needed) fail(key, "is missing");
    return nullptr;
  }
  bool has(std::string_view key) const { return json_.is_object() && json_.contains(key); }
  std::string text(std::string_view key, std::size_t bytes_max) {
    const Json* member = find(key);
    if (member == nullptr) return {};
    if (!member->is_string()) return fail(key, "must be a string"), std::string();
    const auto& text = member->get_ref<const std::string&>();
    if (text.empty() || text.size() > bytes_max)
      fail(key, fmt::format("must have 1 to {} bytes, has {}", bytes_max, text.size()));
    if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
      fail(key, "must not have control characters");
    return text;
  }
  template <std::integral Number>
  Number count(std::string_view key, std::uint64_t most) {
    const Json* member = find(key);
    if (member == nullptr) return 0;
    if (!member->is_number_unsigned() || member->get<std::uint64_t>() > most)
      return fail(key, fmt::format("must be a number from 0 to {}", most)), Number{0};
    return static_cast<Number>(member->get<std::uint64_t>());
  }
  double number(std::string_view key, double most) {
    const Json* member = find(key);
    if (member == nullptr) return 0;
    if (member->is_number())
      if (const double value = member->get<double>(); value >= 0 && value <= most) return value;
    fail(key, fmt::format("must be a number from 0 to {}", most));
    return 0;
  }
  bool flag(std::string_view key) {
    const Json* member = find(key);
    if (member == nullptr) return false;
    if (!member->is_boolean()) return fail(key, "must be true or false"), false;
    return member->get<bool>();
  }
  TimeMs time(std::string_view key) {
    const std::string word = text(key, kNameBytesMax);
    if (error_) return {};
    const auto time = parse_time(word);
    if (!time) fail(key, "must be a time such as 2026-11-20T15:54:42.120Z");
    return time.value_or(TimeMs{});
  }
  template <class Each>
  void list(std::string_view key, std::size_t most, bool needed, Each each) {
    const Json* member = find(key, needed);
    if (member == nullptr) return;
    if (!member->is_array()) return fail(key, "must be a list");
    if (member->size() > most)
      return fail(key, fmt::format("must have at most {} entries, has {}", most, member->size()));
    for (std::size_t i = 0; i < member->size() && !error_; ++i)
      each(Object((*member)[i], fmt::format("{}{}{}[{}]", path_, dot(), key, i), error_));
  }
  /// May stand there, whatever it is.
  void pass(std::string_view key) { static_cast<void>(find(key, false)); }
  void fail(std::string_view key, std::string reason) {
    if (error_) return;
    error_ = Error{key.empty() ? (path_.empty() ? "the document" : path_)
                               : fmt::format("{}{}{}", path_, dot(), key),
                   std::move(reason)};
  }
  /// Nothing else stands there.
  void end() {
    if (error_ || taken_.size() == json_.size()) return;
    constexpr std::size_t kShown = 60;
    for (const auto& [key, value] : json_.items())
      if (std::ranges::find(taken_, key) == taken_.end())
        fail(serve::cut(serve::harmless(key), kShown), "is not known here");
  }

 private:
  const char* dot() const { return path_.empty() ? "" : "."; }

  const Json& json_;
  std::string path_;
  std::optional<Error>& error_;
  std::vector<std::string_view> taken_;
};

Event read_event(Object object) {
  Event event;
  const std::string id = object.text("id", 16);
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(id.data(), id.data() + id.size(), value, 16);
  if (id.size() != 16 || wrong != std::errc{} || end != id.data() + id.size())
    object.fail("id", "must be 16 hexadecimal digits");
  event.id = TemplateId{value};
  event.text = object.text("template", kTextBytesMax);
  const std::string level = object.text("level", kNameBytesMax);
  const auto known = level_from_name(level);
  if (!known) object.fail("level", "is no level of lines");
  event.level = known.value_or(Level::unknown);
  constexpr std::uint64_t kCountMax = std::uint64_t{1} << 53U;
  event.node_count_max = object.count<std::uint64_t>("node_count_max", kCountMax);
  event.node_rate_max = object.number("node_rate_max", 1e9);
  event.node_share = object.number("node_share", 1);
  object.end();
  return event;
}

Pause read_pause(Object object) {
  Pause pause;
  const std::string stage = object.text("stage", kNameBytesMax);
  const auto known = stage_from_name(stage);
  if (!known) object.fail("stage", "is no stage of a job");
  pause.stage = known.value_or(Stage::unknown);
  pause.startup = object.flag("startup");
  constexpr std::uint64_t kLongest = std::uint64_t{30} * 86'400'000;
  pause.longest = Millis{object.count<std::int64_t>("longest_ms", kLongest)};
  object.end();
  return pause;
}

Run read_one(Object object, bool whole) {
  Run run;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;
  run.id = object.text("run", kNameBytesMax + 16);
  run.job = object.text("job", kNameBytesMax);
  run.attempt = object.count<std::int32_t>("attempt", 1'000'000);
  if (run.id != run_id(run.job, run.attempt)) object.fail("run", "must be JOB.ATTEMPT");
  if (object.has("kind")) run.kind = object.text("kind", kNameBytesMax);
  const std::string origin = object.text("origin", kNameBytesMax);
  bool known = false;
  for (const Origin one : {Origin::logs, Origin::outcome, Origin::folder})
    if (origin == name(one)) run.origin = one, known = true;
  if (!known) object.fail("origin", "must be logs, outcome or folder");
  run.ended = object.time("ended");
  run.nodes = object.count<std::uint64_t>("nodes", kMost);
  run.ranks = object.count<std::uint64_t>("ranks", kMost);
  run.lines = object.count<std::uint64_t>("lines", kMost);
  run.left_out = object.count<std::uint64_t>("left_out", kMost);
  if (object.has("events_known")) {
    const auto known_events = object.count<std::size_t>("events_known", kEventsMax);
    if (!whole) run.events.resize(known_events);
  }
  object.list("events", kEventsMax, whole,
              [&](Object event) { run.events.push_back(read_event(std::move(event))); });
  object.list("pauses", kPausesMax, whole,
              [&](Object pause) { run.pauses.push_back(read_pause(std::move(pause))); });
  if (whole && run.events.empty()) object.fail("events", "must have at least one entry");
  object.end();
  return run;
}

Error no_json(const Json::exception& error) {
  const std::string what = error.what();
  const std::size_t at = what.find("at line");
  return {"", "is no JSON: " + (at == what.npos ? what : what.substr(at))};
}

Result<Json> parse(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    return std::unexpected(no_json(error));
  }
}

/// Ends the reading of a document whose error is known.
struct Stop : std::exception {};

}  // namespace

void put(serve::JsonWriter& to, const Run& run, bool whole) {
  to.open('{').member("run", run.id).member("job", run.job).member("attempt", run.attempt);
  if (!run.kind.empty()) to.member("kind", run.kind);
  to.member("origin", name(run.origin)).member("ended", run.ended);
  to.member("nodes", run.nodes).member("ranks", run.ranks).member("lines", run.lines);
  to.member("left_out", run.left_out).member("events_known", run.events.size());
  if (!whole) {
    to.close('}');
    return;
  }
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
  for (const Run* run : runs) put(text, *run, whole);
  return text.close(']').close('}').take() + '\n';
}

std::string to_json(const Run& run) {
  return to_json({&run}, true);
}

Result<std::vector<Run>> read_runs(std::string_view text, bool whole) {
  const auto json = parse(text);
  if (!json) return std::unexpected(json.error());
  std::optional<Error> error;
  Object document(*json, "", error);
  const std::string schema = document.text("schema", kNameBytesMax);
  if (!error && schema != kSchema)
    document.fail("schema", fmt::format("must be {}, is {}", kSchema, schema));
  std::vector<Run> runs;
  std::set<std::string> ids;
  document.list("runs", kRunsMax, true, [&](Object object) {
    Run run = read_one(object, whole);
    if (!ids.insert(run.id).second) object.fail("run", "is there twice: " + run.id);
    runs.push_back(std::move(run));
  });
  document.pass("next");
  document.end();
  if (error) return std::unexpected(*error);
  return runs;
}

Result<void> each_run(std::istream& in, const std::function<Result<void>(Run)>& visit) {
  std::optional<Error> error;
  std::set<std::string> ids;
  constexpr int kDepthOfRun = 2;
  const auto read = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (error) throw Stop();
    if (depth != kDepthOfRun || event != Json::parse_event_t::object_end) return true;
    Object object(parsed, fmt::format("runs[{}]", ids.size()), error);
    Run run = read_one(object, true);
    if (!error && !ids.insert(run.id).second) object.fail("run", "is there twice: " + run.id);
    if (!error && ids.size() > kRunsMax) object.fail("", "is one more than are taken");
    if (!error)
      if (const auto visited = visit(std::move(run)); !visited) error = visited.error();
    parsed = nullptr;
    return true;  // null, in place of the value read
  };
  try {
    Json document = Json::parse(in, read);
    if (error) return std::unexpected(*error);
    if (document.is_object() && document.contains("runs") && document["runs"].is_array())
      document["runs"] = Json::array();
    if (auto rest = read_runs(document.dump(), true); !rest) return std::unexpected(rest.error());
    return {};
  } catch (const Stop&) {
    return std::unexpected(*error);
  } catch (const Json::exception& fault) {
    return std::unexpected(no_json(fault));
  }
}

Result<Run> read_run(std::string_view text) {
  auto runs = read_runs(text, true);
  if (!runs) return std::unexpected(runs.error());
  if (runs->size() != 1) return std::unexpected(Error{"runs", "must have one entry"});
  return std::move(runs->front());
}

}  // namespace l4::pool
