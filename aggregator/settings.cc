#include "aggregator/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include "aggregator/alert/settings.h"
#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/flows/address.h"
#include "aggregator/numbers/table.h"
#include "common/base/ascii.h"
#include "common/config/config_values.h"
#include "common/http/url.h"
#include "common/sockets/listen_address.h"
#include "common/wire/zmq/endpoint.h"

namespace l4::aggregator {
namespace {

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

void read_wire(ConfigTable& wire, const std::filesystem::path& file, Settings& settings) {
  settings.endpoint = wire.text_or("listen", settings.endpoint);
  if (!wire::is_bind_endpoint(settings.endpoint))
    wire.refuse("listen", "must be tcp://ADDRESS:PORT, with a port from 1 to 65535");
  read_path(wire, "key", file, settings.key);
  read_path(wire, "allow_list", file, settings.allow_list);
  receive::ServerOptions& server = settings.live.server;
  read(wire, "agents_max", server.agents_max, 1, 65'536);
  read_seconds(wire, "heartbeat_s", server.heartbeat, 1, 60);
  receive::LivenessOptions& alive = server.liveness;
  read_seconds(wire, "lost_after_s", alive.lost_after, 2, 3'600);
  read_seconds(wire, "grace_s", alive.grace, 0, 3'600);
  alive.overdue_after = std::max(server.heartbeat * 5 / 3, Millis{1'000});
  if (alive.lost_after <= alive.overdue_after)
    wire.refuse("lost_after_s", "must be more than five thirds of heartbeat_s");
}

/// The address under which people reach the page, without a slash at its end.
std::string read_public_url(ConfigTable& table) {
  constexpr std::string_view kKey = "public_url", kMarks = "-._~/%:[]@!$&'()*+,;=?#";
  constexpr std::size_t kMost = 1'000;
  std::string url = table.text_or(kKey, "");
  if (!table.has(kKey)) return {};
  const auto fits = [&](char c) {
    return is_letter(c) || is_digit(c) || kMarks.find(c) != std::string_view::npos;
  };
  if (const auto parsed = http::parse_url(url); !parsed)
    table.refuse(kKey, parsed.error().reason);
  else if (url.find_first_of("?#") != std::string::npos)
    table.refuse(kKey, "must have no query and no fragment: /incidents/ID is appended to it");
  else if (!std::ranges::all_of(url, fits))
    table.refuse(kKey, "has characters that an address has not; write them as %XX");
  else if (url.size() > kMost)
    table.refuse(kKey, "must not be longer than 1000 characters");
  while (url.ends_with('/')) url.pop_back();
  return url;
}

void read_http(ConfigTable& http, const std::filesystem::path& file, Settings& settings) {
  settings.http_on = http.flag_or("enabled", true);
  settings.http.address = http.text_or("address", settings.http.address);
  read(http, "port", settings.http.port, 0, 65'535);
  read(http, "connections_max", settings.http.connections_max, 4, 65'536);
  read(http, "streams_max", settings.http.streams_max, 0, 65'536);
  settings.live.events.streams_max = settings.http.streams_max;
  if (settings.http.streams_max >= settings.http.connections_max)
    http.refuse("streams_max", "must be less than connections_max");
  read_path(http, "tokens", file, settings.tokens);
  settings.names = http.texts_or_none("names");
  settings.live.alerts.origin.page = read_public_url(http);
  read_path(http, "certificate", file, settings.http.tls.certificate);
  read_path(http, "key", file, settings.http.tls.key);
  if (http.has("certificate") != http.has("key"))
    http.refuse(http.has("key") ? "key" : "certificate",
                "certificate and key are given together, or neither");
  const bool exposed = http.flag_or("allow_remote", false);
  if (!is_loopback(settings.http.address) && !exposed && settings.tokens.empty())
    http.refuse("address",
                "is no loopback address: whoever reaches it reads everything; give tokens, or, if "
                "that is meant, say allow_remote = true");
}

void read_jobs(ConfigTable& jobs, live::Options& live) {
  scoring::ShardOptions& shards = live.shards;
  read(jobs, "threads", shards.shards, 0, 256);
  read(jobs, "jobs_max", shards.jobs_max, 1, 100'000);
  read(jobs, "job_mib_max", shards.job_bytes_max, 1, 1'024, kMebi);
  read(jobs, "all_mib_max", shards.all_bytes_max, 1, 1'048'576, kMebi);
  read(jobs, "warnings_max", shards.job.warnings_max, 10, 1'000'000);
  read_seconds(jobs, "closes_after_s", shards.closes_after, 10, 30 * kDaySeconds);
  read_seconds(jobs, "keeps_for_s", shards.keeps_for, 0, 30 * kDaySeconds);
  read_seconds(jobs, "checkpoint_s", shards.checkpoint_every, 1, 30);
  read(jobs, "waiting_mib_max", shards.waiting_bytes_max, 1, 65'536, kMebi);
}

void read_detect(ConfigTable& detect, const std::filesystem::path& file, Settings& settings) {
  scoring::JobOptions& job = settings.live.shards.job;
  detect::hang::Options& hang = job.thresholds.hang;
  read_seconds(detect, "hang_floor_s", hang.floor, 1, kDaySeconds);
  hang.floor_min = std::min(hang.floor_min, hang.floor);
  watch::Options& watch = job.thresholds.watch;
  watch.suspect_floor = hang.floor;
  watch.confirm_floor = std::max(watch.confirm_floor, hang.floor);
  if (detect.has("hang_confirm_s"))
    read_seconds(detect, "hang_confirm_s", watch.confirm_floor, 1, kDaySeconds);
  if (watch.confirm_floor < watch.suspect_floor)
    detect.refuse("hang_confirm_s", "must not be less than hang_floor_s");
  read_seconds(detect, "device_wait_s", watch.device_wait, 1, kDaySeconds);
  std::int64_t percent = 50;
  read(detect, "confidence_percent", percent, 1, 99);
  job.thresholds.incidents.confidence_min = static_cast<double>(percent) / 100;
  read_seconds(detect, "routine_s", job.routine, 1, kDaySeconds);
  std::int64_t rest = 5;
  read(detect, "rest_factor", rest, 1, 1'000);
  job.rest_factor = static_cast<double>(rest);
  read_path(detect, "faults", file, settings.faults);
  read_path(detect, "scoring_table", file, settings.scoring_table);
}

void read_store(ConfigTable& store, const std::filesystem::path& file, live::Options& live) {
  read_path(store, "folder", file, live.store.folder);
  store::JournalOptions& journal = live.store.journal;
  read(store, "ring_mib", journal.ring_bytes, 0, 1'048'576, kMebi);
  read_seconds(store, "ring_s", journal.ring_age, 0, 30 * kDaySeconds);
  read(store, "journal_mib_max", journal.bytes_max, 128, 1'048'576, kMebi);
  read(store, "checkpoints_mib_max", live.store.checkpoints.bytes_max, 16, 1'048'576, kMebi);
  store::CheckpointOptions& checkpoints = live.store.checkpoints;
  read_seconds(store, "past_every_s", checkpoints.past_every, 1, kDaySeconds);
  read(store, "past_mib_max", checkpoints.past_bytes_max, 0, 1'048'576, kMebi);
  read(store, "past_job_mib_max", live.past.job_bytes_max, 1, 1'024, kMebi);
  read_seconds(store, "past_timeout_s", live.past.timeout, 1, 50);
  read(store, "database_mib_max", live.store.database.bytes_max, 1, 65'536, kMebi);
  store::DatabaseOptions& database = live.store.database;
  read(store, "snapshots_per_job", database.snapshots_per_job, 1, 10'000);
  read(store, "snapshots_max", database.snapshots, 1, 1'000'000);
  std::int64_t days = std::chrono::floor<std::chrono::days>(database.snapshot_age).count();
  read(store, "snapshot_days", days, 1, 3'650);
  database.snapshot_age = std::chrono::days(days);
  read(store, "commit_ms", live.store.commit.delay_max, 1, 200);
}

void read_faults(ConfigTable& faults, const std::filesystem::path& file, live::Options& live) {
  read_path(faults, "confirmed", file, live.confirmed_faults);
}

void read_lines(ConfigTable& lines, fetch::LinesOptions& options) {
  read(lines, "questions_max", options.questions_max, 1, 64);
  read(lines, "agents_max", options.agents_max, 1, 4'096);
  read(lines, "answer_mib_max", options.answer_bytes_max, 1, 64, kMebi);
  read_seconds(lines, "timeout_s", options.timeout, 1, 50);
}

void read_pool(ConfigTable& pool, pool::PoolOptions& options) {
  read(pool, "runs_max", options.runs_max, 1, 1'000);
  read(pool, "kinds_max", options.kinds_max, 1, 10'000);
  read(pool, "age_days", options.age, 1, 3'650, kDaySeconds * 1'000);
  read(pool, "mib_max", options.bytes_max, 1, 4'096, kMebi);
}

void read_flows(ConfigTable& table, const std::filesystem::path& file,
                collect::CollectOptions& options) {
  options.listen = table.text_or("listen", "");
  if (!options.listen.empty() && !sockets::is_listen_address(options.listen))
    table.refuse("listen", "must be ADDRESS:PORT, an IPv6 address in brackets");
  read_path(table, "topology", file, options.topology);
  options.exporters = table.texts_or_none("exporters");
  for (std::size_t i = 0; i < options.exporters.size(); ++i)
    if (!flows::parse_address(options.exporters[i]))
      table.refuse("exporters", "must be IP addresses", i);
  read(table, "sampled", options.exporter.sampling, 1, 1 << 24);
  Millis inactive{0};
  read(table, "inactive_ms", inactive, 0, 3'600'000);
  options.exporter.inactive = flows::TimeNs{inactive.count()} * flows::kMillisecond;
  read(table, "buffer_mib", options.buffer_bytes, 1, 1'024, kMebi);
  read(table, "rows_max", options.rows_max, 10'000, 100'000'000);
  read_seconds(table, "learn_s", options.learn_every, 1, 3'600);
  read_seconds(table, "forget_s", options.forget_after, 60, 7 * kDaySeconds);
}

void read_log(ConfigTable& log, Settings& settings) {
  static constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warning", "error"};
  settings.log_level = log.text_or("level", settings.log_level);
  if (std::ranges::find(kLevels, settings.log_level) == kLevels.end())
    log.refuse("level", "must be debug, info, warning or error");
}

void read_all(ConfigTable& root, const std::filesystem::path& file, Settings& settings) {
  const auto read_one = [&root](std::string_view key, const auto& reader) {
    ConfigTable table = root.table(key);
    reader(table);
  };
  live::Options& live = settings.live;
  read_one("wire", [&](ConfigTable& wire) { read_wire(wire, file, settings); });
  read_one("http", [&](ConfigTable& http) { read_http(http, file, settings); });
  read_one("jobs", [&](ConfigTable& jobs) { read_jobs(jobs, live); });
  read_one("detect", [&](ConfigTable& detect) { read_detect(detect, file, settings); });
  read_one("store", [&](ConfigTable& store) { read_store(store, file, live); });
  read_one("faults", [&](ConfigTable& faults) { read_faults(faults, file, live); });
  read_one("alerts", [&](ConfigTable& alerts) { alert::read_settings(alerts, file, live.alerts); });
  read_one("lines", [&](ConfigTable& lines) { read_lines(lines, live.lines); });
  read_one("pool", [&](ConfigTable& pool) { read_pool(pool, live.pool); });
  read_one("flows", [&](ConfigTable& flows) { read_flows(flows, file, live.flows); });
  read_one("log", [&](ConfigTable& log) { read_log(log, settings); });
}

/// Settings that SIGHUP applies, `table.key` or a whole table.
bool is_taken_over(std::string_view key) {
  static constexpr std::array<std::string_view, 4> kKeys{
      "detect.hang_floor_s", "detect.hang_confirm_s", "detect.device_wait_s",
      "detect.confidence_percent"};
  return key.starts_with("alerts.") || key.starts_with("log.") || key == "http.certificate" ||
         key == "http.key" || key == "http.public_url" ||
         std::ranges::find(kKeys, key) != kKeys.end();
}

/// Reads the table that the config names. Error: file, line and key of that table.
Result<diagnose::clues::Table> read_scoring_table(const Settings& settings) {
  auto table = diagnose::clues::read_table(settings.scoring_table);
  if (!table)
    return std::unexpected(named_error(settings.named, settings.scoring_table, table.error()));
  return table;
}

/// Reads the tables of the config. Error: file, line and key.
Result<Settings> read_settings(ConfigTable& root, const std::filesystem::path& file) {
  Settings settings = default_settings();
  read_all(root, file, settings);
  if (const auto error = root.finish()) return std::unexpected(*error);
  settings.named = root.named_paths();
  for (const auto& [key, value] : root.taken())
    if (!is_taken_over(key)) settings.fixed.emplace(key, value);
  if (const auto done = complete(settings, file.string()); !done)
    return std::unexpected(done.error());
  if (settings.scoring_table.empty()) return settings;
  auto table = read_scoring_table(settings);
  if (!table) return std::unexpected(table.error());
  settings.scores = std::make_shared<const diagnose::clues::Table>(std::move(*table));
  settings.live.shards.job.scale = {settings.scores, &settings.scores->scale};
  return settings;
}

/// By `load`, once more where a table is in force from now on: defaults of settings depend on it.
template <class Load>
Result<Settings> start_with(Load load, const std::filesystem::path& file) {
  auto settings = load(file);
  if (!settings || settings->scores == nullptr) return settings;
  numbers::put_in_force(settings->scores->numbers);
  return load(file);
}

}  // namespace

Settings default_settings() {
  Settings settings;
  settings.live.shards.shards = 0;
  settings.live.store.folder = "/var/lib/l4-aggregator";
  return settings;
}

Result<void> complete(Settings& settings, const std::string& config) {
  constexpr unsigned kThreadsMost = 4;
  if (settings.live.shards.shards == 0)
    settings.live.shards.shards = std::clamp(std::thread::hardware_concurrency(), 1U, kThreadsMost);
  if (settings.faults.empty()) settings.faults = shipped_faults();
  if (settings.faults.empty())
    return std::unexpected(Error{config,
                                 "no fault library found: give [detect] faults, or set "
                                 "L4_CONFIG_DIR to the folder that holds faults/"});
  return {};
}

Result<Settings> load_settings(const std::filesystem::path& file) {
  auto root = ConfigTable::load(file);
  if (!root) return std::unexpected(root.error());
  auto settings = read_settings(*root, file);
  if (settings && (settings->key.empty() || settings->allow_list.empty()))
    return std::unexpected(
        Error{file.string(),
              "[wire] key and allow_list must be given: nobody without a key may "
              "ship anything; 'l4 keys' makes both"});
  return settings;
}

Result<Settings> load_settings_without_wire(const std::filesystem::path& file) {
  auto root = ConfigTable::load(file);
  if (!root) return std::unexpected(root.error());
  for (const char* table : {"wire", "http"})
    if (root->has(table))
      root->refuse(table,
                   "is not for 'l4 local', which needs no keys and serves its own user only");
  return read_settings(*root, file);
}

Result<Settings> start_settings(const std::filesystem::path& file) {
  return start_with(load_settings, file);
}

Result<Settings> start_settings_without_wire(const std::filesystem::path& file) {
  return start_with(load_settings_without_wire, file);
}

std::vector<std::string> after_restart(const Settings& running, const Settings& read) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : read.fixed) {
    const auto at = running.fixed.find(key);
    if (at != running.fixed.end() && at->second == value) continue;
    const std::size_t dot = key.find('.');
    keys.push_back(fmt::format("[{}] {}", key.substr(0, dot), key.substr(dot + 1)));
  }
  return keys;
}

std::filesystem::path shipped_faults() {
  const auto holds = [](const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::is_directory(folder / "faults", ignored);
  };
  if (const char* given = std::getenv("L4_CONFIG_DIR"))
    return std::filesystem::path(given) / "faults";
  std::error_code failed;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const auto installed = binary.parent_path().parent_path() / "share" / "l4";
    if (holds(installed)) return installed / "faults";
    for (auto folder = binary.parent_path(); folder.has_relative_path();
         folder = folder.parent_path())
      if (holds(folder / "config")) return folder / "config" / "faults";
  }
  if (holds("/etc/l4")) return "/etc/l4/faults";
  return {};
}

}  // namespace l4::aggregator
