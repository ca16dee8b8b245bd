#include "agent/daemon/settings.h"

#include <utility>

#include "agent/pipeline/secrets.h"
#include "agent/tail/sources.h"
#include "common/config/config_dir.h"
#include "common/config/config_values.h"
#include "common/sockets/listen_address.h"
#include "common/wire/zmq/endpoint.h"

namespace l4::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRanksMax = 10'000'000;

/// An integer; none if the key is absent or has the value that means unknown.
std::optional<std::int32_t> read_count(ConfigTable& table, std::string_view key, std::int64_t none,
                                       std::int64_t most) {
  const std::int64_t value = table.integer_within(key, none, none, most);
  return value == none ? std::nullopt : std::optional(static_cast<std::int32_t>(value));
}

void read_ranks(ConfigTable& who, Settings& settings) {
  settings.world_size = read_count(who, "world_size", 0, kRanksMax);
  const std::int64_t most = settings.world_size.value_or(kRanksMax) - 1;
  if (const auto rank = read_count(who, "rank", -1, most)) settings.rank = Rank{*rank};
  settings.local_rank = read_count(who, "local_rank", -1, most);
}

void read_link(ConfigTable& root, const fs::path& file, Settings& settings) {
  for (ConfigTable& link : root.tables("link")) {
    settings.aggregator = link.text_or("aggregator", settings.aggregator);
    if (!wire::is_connect_endpoint(settings.aggregator))
      link.refuse("aggregator", "must be tcp://HOST:PORT, with a port from 1 to 65535");
    read_path(link, "key", file, settings.key);
    settings.name = link.text_or("name", "");
  }
  for (ConfigTable& who : root.tables("who")) {
    settings.job = who.text_or("job", "");
    settings.node = who.text_or("node", "");
    if (settings.job.size() > 256) who.refuse("job", "has more than 256 bytes");
    if (settings.node.size() > 253) who.refuse("node", "has more than 253 bytes");
    read_ranks(who, settings);
  }
}

void read_logs(ConfigTable& root, Settings& settings) {
  for (ConfigTable& logs : root.tables("logs")) {
    settings.sources = logs.texts("sources");
    settings.excludes = logs.texts_or_none("excludes");
    read(logs, "old_after_h", settings.old_after, 0, 24 * 365, 3'600'000);
    const auto check = [&](std::string_view key, const std::vector<std::string>& list) {
      for (std::size_t i = 0; i < list.size(); ++i)
        if (const auto one = tail::Sources::compile({list[i]}, {}); !one)
          logs.refuse(key, one.error().text(), i);
    };
    check("sources", settings.sources);
    check("excludes", settings.excludes);
    if (settings.sources.empty()) logs.refuse("sources", "names no log");
  }
  if (!root.has("logs")) root.refuse("logs", "is missing: what shall be read?");
}

void read_bounds(ConfigTable& root, const fs::path& file, Settings& settings) {
  for (ConfigTable& state : root.tables("state")) {
    read_path(state, "folder", file, settings.state);
    read(state, "spool_mib", settings.queue.spool_bytes_max, 0, 65'536, kMebi);
  }
  for (ConfigTable& memory : root.tables("memory")) {
    read(memory, "queue_mib", settings.queue.memory_bytes_max, 1, 1024, kMebi);
    read(memory, "batches", settings.queue.batches_max, 16, 65'536);
    read(memory, "jobs", settings.jobs.jobs_max, 1, 4096);
    read(memory, "job_idle_s", settings.jobs.idle_after, 1, 30 * 86'400, 1000);
    read(memory, "templates", settings.pipeline.drain.templates_max, 1000, 1'000'000);
    read(memory, "memo_entries", settings.pipeline.drain.memo_entries_max, 0, 10'000'000);
    read(memory, "line_bytes", settings.pipeline.decode.line_bytes_max, 256, 1 << 20);
  }
  for (ConfigTable& timing : root.tables("timing")) {
    read(timing, "flush_ms", settings.flush, 50, 1000);
    read(timing, "hold_ms", settings.pipeline.hold, 50, 5000);
  }
  for (ConfigTable& limits : root.tables("limits")) {
    std::int64_t percent = 10;
    read(limits, "cpu_percent", percent, 0, 6400);
    settings.limits.cpu_share = static_cast<double>(percent) / 100;
    read(limits, "resident_mib", settings.limits.resident_bytes, 0, 1'048'576, kMebi);
    read(limits, "descriptors", settings.limits.descriptors, 0, 1'000'000);
  }
  for (ConfigTable& metrics : root.tables("metrics")) {
    settings.metrics = metrics.text_or("listen", "");
    if (!settings.metrics.empty() && !sockets::is_listen_address(settings.metrics))
      metrics.refuse("listen", "must be ADDRESS:PORT, with an IP address");
  }
  for (ConfigTable& lines : root.tables("lines")) {
    settings.lines_on = lines.flag_or("enabled", true);
    read(lines, "read_mib", settings.lines.read_bytes_max, 1, 4096, kMebi);
    read(lines, "answer_kib", settings.lines.text_bytes_max, 16, 16'384, 1024);
    read(lines, "seconds", settings.lines.time_max, 1, 60, 1000);
  }
  for (ConfigTable& host : root.tables("host")) {
    settings.processes = host.flag_or("processes", true);
    settings.kernel = host.flag_or("kernel_log", true);
  }
}

void read_nics(ConfigTable& root, const fs::path& file, Settings& settings) {
  for (ConfigTable& nic : root.tables("nic")) {
    settings.nics_on = nic.flag_or("enabled", true);
    read_path(nic, "root", file, settings.nics.root);
    settings.nics.choice.include = nic.texts_or_none("include");
    settings.nics.choice.exclude = nic.texts_or_none("exclude");
    read(nic, "samples_per_s", settings.nics.samples_per_s, 1, 10);
    read(nic, "busy_bytes", settings.nics.busy_bytes, 1, 1'000'000'000);
  }
}

void read_redaction(ConfigTable& root, Settings& settings) {
  bool secrets = true;
  for (ConfigTable& redact : root.tables("redact")) {
    secrets = redact.flag_or("secrets", true);
    settings.redactions = redact.texts_or_none("expressions");
    if (settings.redactions.empty()) continue;
    std::size_t where = 0;
    auto made = pipeline::Redaction::make(settings.redactions, where);
    if (!made)
      redact.refuse("expressions", made.error().reason, where);
    else
      settings.redaction = std::move(*made);
    settings.pipeline.redaction = settings.redaction.get();
  }
  if (!secrets) settings.secrets.reset();
  settings.pipeline.secrets = settings.secrets.get();
}

}  // namespace

Settings default_settings() {
  Settings settings;
  settings.aggregator = "tcp://127.0.0.1:7430";
  settings.key = "/etc/l4/agent.key";
  settings.state = "/var/lib/l4-agent";
  settings.pipeline.live = true;
  settings.pipeline.drain.memo_entries_max = 50'000;
  settings.limits.cpu_share = 0.1;
  settings.secrets = pipeline::known_secrets();
  settings.pipeline.secrets = settings.secrets.get();
  return settings;
}

Result<void> complete(Settings& settings, const std::string& config) {
  if (!settings.masks.empty()) {
    auto codes = drain::read_codes(settings.masks);
    if (!codes) return std::unexpected(named_error(settings.named, settings.masks, codes.error()));
    settings.codes = std::make_unique<const drain::CodeList>(std::move(*codes));
    settings.pipeline.drain.codes = settings.codes.get();
  }
  if (!settings.queue.spool_bytes_max || settings.state.empty())
    settings.queue.spool.clear();
  else
    settings.queue.spool = settings.state / "spool";
  if (settings.frameworks.empty()) settings.frameworks = find_config_dir() / "frameworks";
  if (settings.frameworks.is_relative())
    return std::unexpected(Error{config,
                                 "paths.frameworks: no rule packs found beside the program; name "
                                 "their folder, or set L4_CONFIG_DIR"});
  return {};
}

Result<Settings> load_settings(const fs::path& file) {
  Settings settings = default_settings();
  auto root = ConfigTable::load(file);
  if (!root) return std::unexpected(root.error());
  read_link(*root, file, settings);
  read_logs(*root, settings);
  read_bounds(*root, file, settings);
  read_nics(*root, file, settings);
  read_redaction(*root, settings);
  for (ConfigTable& paths : root->tables("paths")) {
    read_path(paths, "frameworks", file, settings.frameworks);
    read_path(paths, "masks", file, settings.masks);
  }
  if (const auto error = root->finish()) return std::unexpected(*error);
  settings.named = root->named_paths();
  if (const auto done = complete(settings, file.string()); !done)
    return std::unexpected(done.error());
  return settings;
}

std::vector<std::string> fixed_differences(const Settings& before, const Settings& after) {
  std::vector<std::string> names;
  const auto compare = [&](const char* name, const auto& one, const auto& other) {
    if (!(one == other)) names.emplace_back(name);
  };
  compare("link", std::tie(before.aggregator, before.key, before.name),
          std::tie(after.aggregator, after.key, after.name));
  const auto who = [](const Settings& of) {
    return std::tie(of.job, of.node, of.rank, of.local_rank, of.world_size);
  };
  compare("who", who(before), who(after));
  compare("state", std::tie(before.state, before.queue.spool_bytes_max),
          std::tie(after.state, after.queue.spool_bytes_max));
  const auto memory = [](const Settings& of) {
    return std::tie(of.queue.memory_bytes_max, of.queue.batches_max, of.jobs.jobs_max,
                    of.jobs.idle_after, of.pipeline.drain.templates_max,
                    of.pipeline.drain.memo_entries_max, of.pipeline.decode.line_bytes_max);
  };
  const auto limits = [](const Settings& of) {
    return std::tie(of.limits.cpu_share, of.limits.resident_bytes, of.limits.descriptors);
  };
  compare("memory", memory(before), memory(after));
  compare("timing.hold_ms", before.pipeline.hold, after.pipeline.hold);
  compare("limits", limits(before), limits(after));
  const auto lines = [](const Settings& of) {
    return std::tie(of.lines_on, of.lines.read_bytes_max, of.lines.text_bytes_max,
                    of.lines.time_max);
  };
  compare("lines", lines(before), lines(after));
  compare("host", std::tie(before.processes, before.kernel),
          std::tie(after.processes, after.kernel));
  const auto nic = [](const Settings& of) {
    return std::tie(of.nics_on, of.nics.root, of.nics.choice.include, of.nics.choice.exclude,
                    of.nics.samples_per_s, of.nics.busy_bytes);
  };
  compare("nic", nic(before), nic(after));
  compare("metrics", before.metrics, after.metrics);
  compare("paths", std::tie(before.frameworks, before.masks),
          std::tie(after.frameworks, after.masks));
  compare("redact", std::pair(before.redactions, before.secrets != nullptr),
          std::pair(after.redactions, after.secrets != nullptr));
  return names;
}

}  // namespace l4::daemon
