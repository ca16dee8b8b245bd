#include "aggregator/settings.h"

#include <doctest/doctest.h>

#include "aggregator/alert/alertmanager.h"
#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/numbers/table.h"
#include "aggregator/program.h"
#include "common/wire/zmq/curve_key.h"
#include "common/wire/zmq/key_file.h"
#include "tests/temp_folder.h"

namespace l4::aggregator {
namespace {

constexpr auto kKeys = "[wire]\nkey = \"a.key\"\nallow_list = \"allow\"\n";

Result<Settings> read(const std::string& text) {
  const test::TempFolder folder;
  return load_settings(folder.file("aggregator.toml", text));
}

TEST_CASE("settings: the shipped file says the defaults") {
  const auto shipped =
      load_settings(std::filesystem::path(L4_SOURCE_DIR) / "config/aggregator.toml");
  REQUIRE_MESSAGE(shipped, (shipped ? std::string() : shipped.error().text()));
  const auto bare = read(kKeys);
  REQUIRE(bare);
  CHECK(shipped->endpoint == bare->endpoint);
  CHECK(shipped->http.port == bare->http.port);
  CHECK(shipped->http.connections_max == bare->http.connections_max);
  const live::Options &a = shipped->live, &b = bare->live;
  CHECK(a.server.agents_max == b.server.agents_max);
  CHECK(a.server.heartbeat == b.server.heartbeat);
  CHECK(a.server.liveness.lost_after == b.server.liveness.lost_after);
  CHECK(a.server.liveness.grace == b.server.liveness.grace);
  CHECK(a.shards.shards == b.shards.shards);
  CHECK(a.shards.jobs_max == b.shards.jobs_max);
  CHECK(a.shards.job_bytes_max == b.shards.job_bytes_max);
  CHECK(a.shards.all_bytes_max == b.shards.all_bytes_max);
  CHECK(a.shards.closes_after == b.shards.closes_after);
  CHECK(a.shards.keeps_for == b.shards.keeps_for);
  CHECK(a.shards.checkpoint_every == b.shards.checkpoint_every);
  CHECK(a.shards.waiting_bytes_max == b.shards.waiting_bytes_max);
  CHECK(a.shards.job.warnings_max == b.shards.job.warnings_max);
  CHECK(a.shards.job.routine == b.shards.job.routine);
  CHECK(a.shards.job.rest_factor == b.shards.job.rest_factor);
  CHECK(a.shards.job.thresholds.hang.floor == b.shards.job.thresholds.hang.floor);
  CHECK(a.shards.job.thresholds.watch.confirm_floor == b.shards.job.thresholds.watch.confirm_floor);
  CHECK(a.shards.job.thresholds.watch.device_wait == b.shards.job.thresholds.watch.device_wait);
  CHECK(a.shards.job.thresholds.incidents.confidence_min ==
        b.shards.job.thresholds.incidents.confidence_min);
  CHECK(a.store.folder == b.store.folder);
  CHECK(a.store.journal.ring_bytes == b.store.journal.ring_bytes);
  CHECK(a.store.journal.ring_age == b.store.journal.ring_age);
  CHECK(a.store.journal.bytes_max == b.store.journal.bytes_max);
  CHECK(a.store.checkpoints.bytes_max == b.store.checkpoints.bytes_max);
  CHECK(a.store.checkpoints.past_every == b.store.checkpoints.past_every);
  CHECK(a.store.checkpoints.past_bytes_max == b.store.checkpoints.past_bytes_max);
  CHECK(a.past.job_bytes_max == b.past.job_bytes_max);
  CHECK(a.past.timeout == b.past.timeout);
  CHECK(a.store.database.bytes_max == b.store.database.bytes_max);
  CHECK(a.store.commit.delay_max == b.store.commit.delay_max);
  CHECK(a.pool.runs_max == b.pool.runs_max);
  CHECK(a.pool.kinds_max == b.pool.kinds_max);
  CHECK(a.pool.age == b.pool.age);
  CHECK(a.pool.bytes_max == b.pool.bytes_max);
  CHECK(a.alerts.origin.source == b.alerts.origin.source);
  CHECK(a.alerts.timeout == b.alerts.timeout);
  CHECK(after_restart(*shipped, *bare) ==
        std::vector<std::string>{"[store] folder", "[wire] allow_list", "[wire] key"});
  CHECK(a.alerts.sender.again_every == b.alerts.sender.again_every);
  CHECK(a.alerts.sender.again_for == b.alerts.sender.again_for);
  CHECK(a.alerts.storm.window == b.alerts.storm.window);
  CHECK(a.alerts.storm.incidents == b.alerts.storm.incidents);
  CHECK(a.alerts.sender.retry_first == b.alerts.sender.retry_first);
  CHECK(a.alerts.sender.retry_most == b.alerts.sender.retry_most);
}

TEST_CASE("settings: what is wrong is named with file, line and key") {
  struct Row {
    const char *text, *key;
  };
  const std::vector<Row> rows{
      {"[wire]\nlisten = \"udp://x\"\n", "listen"},
      {"[wire]\nlisten = \"tcp://127.0.0.1:99999\"\n", ":2: listen: must be tcp://ADDRESS:PORT"},
      {"[wire]\nlisten = \"tcp://:7430\"\n", ":2: listen"},
      {"[wire]\nlost_after_s = 3\n", "lost_after_s"},
      {"[http]\naddress = \"0.0.0.0\"\n", "address"},
      {"[store]\nsnapshots_per_job = 0\n", "snapshots_per_job"},
      {"[store]\nsnapshots_max = 0\n", "snapshots_max"},
      {"[store]\nsnapshot_days = 0\n", "snapshot_days"},
      {"[http]\nport = 70000\n", "port"},
      {"[http]\npublic_url = \"ops.example\"\n", ":2: public_url: is no address"},
      {"[http]\npublic_url = \"ftp://ops.example\"\n", ":2: public_url: is no address"},
      {"[http]\npublic_url = \"\"\n", ":2: public_url"},
      {"[http]\npublic_url = \"https://h/l4?a=b\"\n", ":2: public_url: must have no query"},
      {"[http]\npublic_url = \"https://h/l4#a\"\n", ":2: public_url: must have no query"},
      {"[http]\npublic_url = \"https://h/<l4>\"\n", ":2: public_url: has characters"},
      {"[http]\nconnections_max = 8\nstreams_max = 8\n", "streams_max"},
      {"[jobs]\nthreads = -1\n", "threads"},
      {"[jobs]\ncheckpoint_s = 31\n", "checkpoint_s"},
      {"[detect]\nhang_floor_s = 0\n", "hang_floor_s"},
      {"[detect]\nhang_floor_s = 100\nhang_confirm_s = 50\n", "hang_confirm_s"},
      {"[store]\nfolder = \"\"\n", "folder"},
      {"[store]\ncommit_ms = 500\n", "commit_ms"},
      {"[alerts]\nwebhook = \"ftp://x\"\n", "webhook"},
      {"[alerts]\nwebhook = \"http://h:0/\"\n", ":2: webhook"},
      {"[alerts]\nagain_every_s = 0\n", "again_every_s"},
      {"[alerts]\nstorm_incidents = -1\n", "storm_incidents"},
      {"[[alerts.sink]]\nkind = \"slack\"\nurl = \"http://x\"\n", "name: missing"},
      {"[[alerts.sink]]\nname = \"a/b\"\nkind = \"slack\"\nurl = \"http://x\"\n", ":2: name"},
      {"[[alerts.sink]]\nname = \"webhook\"\nkind = \"slack\"\nurl = \"http://x\"\n", ":2: name"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"mail\"\nurl = \"http://x\"\n", ":3: kind"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\n", "url: missing"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"ftp://x\"\n", ":4: url"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://127.0.0.1:99999/x\"\n",
       ":4: url: is no address"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://\"\n", ":4: url"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://a b/\"\n", ":4: url"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://x\"\nsecret = \"s\"\n",
       ":5: secret: is not for a sink of kind slack"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"webhook\"\nurl = \"http://x\"\nsecret_file = "
       "\"no\"\n",
       ":5: secret_file"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"pagerduty\"\nurl = \"http://x\"\n",
       "key_file: missing"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://x\"\nca = \"c\"\n",
       ":5: ca: is for https"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"exec\"\ncommand = [\"/x\"]\nca = \"c\"\n",
       ":5: ca"},
      {"[http]\ncertificate = \"own.pem\"\n", "certificate: certificate and key"},
      {"[http]\nkey = \"own.key\"\n", "key: certificate and key"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"exec\"\n", "command: missing"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"exec\"\ncommand = [\"mail\"]\n", ":4: command"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"exec\"\ncommand = [\"/x\"]\ntimeout_s = 0\n",
       ":5: timeout_s"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://x\"\nseverity_min = "
       "\"bad\"\n",
       ":5: severity_min"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://x\"\n"
       "match = {state = [\"crashed\", \"broken\"]}\n",
       ":5: state"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://x\"\nmatch = {nodes = "
       "\"n\"}\n",
       ":5: nodes: unknown key"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://x\"\nmatch = {kind = "
       "\"opened\"}\n",
       ":5: kind: must be of incident blind degraded name_twice storm notice"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"alertmanager\"\nurl = \"http://x\"\nmatch = "
       "{kind = \"storm\"}\n",
       ":5: kind: storm is not for"},
      {"[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://x\"\nmatch = {fault = "
       "[\"\"]}\n",
       ":5: fault: must not be empty"},
      {"[[alerts.silence]]\njob = \"a*\"\nuntil = \"soon\"\n", ":3: until"},
      {"[[alerts.silence]]\nuntil = \"2026-11-20T18:00:00Z\"\n", "job: missing"},
      {"[pool]\nruns_max = 0\n", "runs_max"},
      {"[pool]\nage_days = 4000\n", "age_days"},
      {"[flows]\nlisten = \"4739\"\n", "listen"},
      {"[flows]\nexporters = [\"leaf-1\"]\n", "exporters"},
      {"[flows]\nsampled = 0\n", "sampled"},
      {"[log]\nlevel = \"loud\"\n", "level"},
      {"[log]\nlvel = \"info\"\n", "lvel"},
      {"[nonsense]\na = 1\n", "nonsense"},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.text));
    const auto settings = read(row.text);
    REQUIRE_FALSE(settings);
    CHECK(settings.error().text().find(row.key) != std::string::npos);
    CHECK(settings.error().text().find("aggregator.toml:") != std::string::npos);
  }
}

TEST_CASE("settings: the wire may listen at all addresses and at any free port") {
  for (const char* listen : {"tcp://*:7430", "tcp://127.0.0.1:*", "tcp://127.0.0.1:0",
                             "tcp://[::1]:7430", "tcp://eth0:7430"}) {
    const auto settings = read(kKeys + ("listen = \"" + std::string(listen) + "\"\n"));
    REQUIRE_MESSAGE(settings, (settings ? std::string() : settings.error().text()));
    CHECK(settings->endpoint == listen);
  }
}

TEST_CASE("check: a file that is of no use is told with the line and key that name it") {
  const test::TempFolder folder;
  const auto pair = *wire::make_key_pair();
  folder.file("a.key", wire::to_text(wire::ServerKey{pair.public_key, pair.secret_key}));
  folder.file("allow", "# nobody\n");
  folder.file("tokens", "# nobody\n");
  folder.file("rows", "all me 0\n");
  const auto said = [&](const std::string& wire, const std::string& more) {
    const std::string faults = "[detect]\nfaults = \"" L4_SOURCE_DIR "/config/faults\"\n";
    const auto settings = load_settings(folder.file("aggregator.toml", wire + more + faults));
    REQUIRE_MESSAGE(settings, (settings ? std::string() : settings.error().text()));
    const auto checked = check(*settings);
    std::string text = checked ? "" : checked.error().text();
    const std::string path = folder.path().string() + "/";
    for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
      text.erase(at, path.size());
    return text;
  };
  CHECK(said(kKeys, "[http]\ntokens = \"tokens\"\n") == "");
  CHECK(said(kKeys, "[http]\ntokens = \"nope\"\n") ==
        "aggregator.toml:5: tokens: nope: cannot be read");
  CHECK(said(kKeys, "[http]\nenabled = false\ntokens = \"nope\"\n") == "");
  CHECK(said(kKeys, "[http]\ntokens = \"rows\"\n") ==
        "aggregator.toml:5: tokens: rows:1: the role is read or operate, not 'all'");
  CHECK(said("[wire]\nkey = \"nope\"\nallow_list = \"allow\"\n", "") ==
        "aggregator.toml:2: key: nope: cannot be opened: No such file or directory; 'l4 keys init' "
        "makes "
        "it; the aggregator's user must own it");
  CHECK(said("[wire]\nkey = \"a.key\"\nallow_list = \"nope\"\n", "") ==
        "aggregator.toml:3: allow_list: nope: No such file or directory; 'l4 keys init' "
        "makes it, and the aggregator's user must own it");
  CHECK(said(kKeys, "[http]\ncertificate = \"nope\"\nkey = \"a.key\"\n") ==
        "aggregator.toml:5: certificate: nope: cannot be read");
  CHECK(said(kKeys, "[alerts]\nca = \"nope\"\n") == "aggregator.toml:5: ca: nope: cannot be read");
  CHECK(said(kKeys,
             "[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"https://x\"\n"
             "ca = \"nope\"\n") == "aggregator.toml:8: ca: nope: cannot be read");
}

TEST_CASE("settings: sinks and silences of alerts") {
  const test::TempFolder folder;
  folder.file("pager.key", "R123\n");
  const auto settings = load_settings(folder.file("aggregator.toml", std::string(kKeys) + R"(
[[alerts.sink]]
name = "am"
kind = "alertmanager"
url = "http://127.0.0.1:9093"
[[alerts.sink]]
name = "pager"
kind = "pagerduty"
url = "http://127.0.0.1:8081/v2/enqueue"
key_file = "pager.key"
severity_min = "critical"
[[alerts.sink.match]]
job = "prod-*"
state = ["crashed", "hung"]
[[alerts.sink.match]]
fault = "xid-79"
kind = ["blind"]
[[alerts.sink]]
name = "script"
kind = "exec"
command = ["/usr/bin/logger", "-t", "l4"]
timeout_s = 5
[[alerts.silence]]
job = "test-*"
until = "2026-11-20T18:00:00Z"
[[alerts.silence]]
node = ["rack-1-*", "n7"]
kind = ["incident", "name_twice"]
category = "hardware*"
until = "2026-11-21T18:00:00Z"
)"));
  REQUIRE_MESSAGE(settings, (settings ? std::string() : settings.error().text()));
  const alert::AlerterOptions& alerts = settings->live.alerts;
  REQUIRE(alerts.sinks.size() == 3);
  CHECK(alerts.sinks[0].kind == &alert::kAlertmanager);
  CHECK(alerts.sinks[0].severity_min == alert::Severity::info);
  CHECK(alerts.sinks[1].secret == "R123");
  CHECK(alerts.sinks[1].url == "http://127.0.0.1:8081/v2/enqueue");
  CHECK(alerts.sinks[1].severity_min == alert::Severity::critical);
  REQUIRE(alerts.sinks[1].filters.size() == 2);
  CHECK(alerts.sinks[1].filters[0] ==
        alert::AlertFilter{.jobs = {"prod-*"}, .states = {State::crashed, State::hung}});
  CHECK(alerts.sinks[1].filters[1] ==
        alert::AlertFilter{.topics = {alert::Topic::blind}, .faults = {"xid-79"}});
  CHECK(alerts.sinks[2].command.size() == 3);
  CHECK(alerts.sinks[2].timeout == Millis{5'000});
  // The page that is there is named in full.
  CHECK(std::filesystem::is_regular_file(alerts.origin.runbook));
  REQUIRE(alerts.silences.size() == 2);
  CHECK(alerts.silences[0].filter == alert::AlertFilter{.jobs = {"test-*"}});
  CHECK(alerts.silences[1].filter ==
        alert::AlertFilter{.topics = {alert::Topic::incident, alert::Topic::name_twice},
                           .nodes = {"rack-1-*", "n7"},
                           .categories = {"hardware*"}});
  CHECK(to_rfc3339(alerts.silences[0].until) == "2026-11-20T18:00:00.000Z");
}

TEST_CASE("settings: where people read what an alert means") {
  const test::TempFolder folder;
  const auto runbook = [&](const std::string& value) {
    const auto settings = load_settings(folder.file(
        "aggregator.toml", std::string(kKeys) + "[alerts]\nrunbook = \"" + value + "\"\n"));
    return settings ? settings->live.alerts.origin.runbook : settings.error().text();
  };
  CHECK(runbook("https://wiki.example/l4/alerts") == "https://wiki.example/l4/alerts");
  for (const char* wrong : {"", "https://wiki.example/#alerts"})
    CHECK(runbook(wrong).contains(
        ":5: runbook: must be an address or a path; # and the heading are appended to it"));
}

TEST_CASE("settings: what holds from a restart on is named, what is taken over is not") {
  const auto running = read(kKeys);
  const auto now = read(std::string(kKeys) +
                        "agents_max = 7\n[store]\nring_mib = 1\n[detect]\nroutine_s = 61\n"
                        "hang_floor_s = 10\ndevice_wait_s = 31\nconfidence_percent = 51\n"
                        "[http]\nport = 7440\npublic_url = \"http://h\"\nstreams_max = "
                        "63\ncertificate = \"a\"\nkey = \"b\"\n"
                        "[alerts]\ntimeout_s = 4\n[log]\nlevel = \"error\"\n"
                        "[[alerts.sink]]\nname = \"a\"\nkind = \"slack\"\nurl = \"http://x\"\n");
  REQUIRE(running);
  REQUIRE_MESSAGE(now, (now ? std::string() : now.error().text()));
  CHECK(after_restart(*running, *now) ==
        std::vector<std::string>{"[detect] routine_s", "[http] streams_max", "[store] ring_mib",
                                 "[wire] agents_max"});
  CHECK(after_restart(*running, *running).empty());
  CHECK(now->live.alerts.sinks.at(0).timeout == Millis{4'000});
}

TEST_CASE(
    "settings: a table of scores is read with them; what is wrong in it is told with its place") {
  const test::TempFolder folder;
  const auto said = [&](const std::string& table) {
    folder.file("site.toml", table);
    return load_settings(folder.file(
        "aggregator.toml", std::string(kKeys) + "[detect]\nscoring_table = \"site.toml\"\n"));
  };
  const auto good = said(
      "[confidence.node.margin]\nsign = \"up\"\nweight = 0.25\norigin = \"fitted\"\n"
      "[number.hang]\nfloor = {value = 90000, origin = \"slow disks\"}\n");
  REQUIRE_MESSAGE(good, (good ? std::string() : good.error().text()));
  const auto& scale = good->live.shards.job.scale;
  REQUIRE(scale);
  CHECK(scale->grounds[static_cast<std::size_t>(diagnose::clues::GroundKind::node_margin)].weight ==
        0.25);
  const auto wrong = said("[confidence.node.margin]\nsign = \"up\"\nweight = -1\norigin = \"x\"\n");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text().contains("aggregator.toml:5: scoring_table: "));
  CHECK(wrong.error().text().contains("site.toml:3: weight"));
  CHECK(after_restart(*read(kKeys), *good) == std::vector<std::string>{"[detect] scoring_table"});
  CHECK_FALSE(read(kKeys)->live.shards.job.scale);
}

TEST_CASE("settings: a start puts the numbers of the table in force, before defaults are made") {
  const test::TempFolder folder;
  const numbers::Values before = numbers::in_force_now();
  folder.file("site.toml", "[number.hang]\nfloor = {value = 90000, origin = \"slow disks\"}\n");
  const auto settings = start_settings(folder.file(
      "aggregator.toml", std::string(kKeys) + "[detect]\nscoring_table = \"site.toml\"\n"));
  numbers::put_in_force(before);
  REQUIRE_MESSAGE(settings, (settings ? std::string() : settings.error().text()));
  CHECK(settings->live.shards.job.thresholds.hang.floor == Millis{90'000});
}

TEST_CASE("settings: nobody without a key may ship anything") {
  const auto settings = read("[log]\nlevel = \"info\"\n");
  REQUIRE_FALSE(settings);
  CHECK(settings.error().text().find("allow_list") != std::string::npos);
}

TEST_CASE("settings: paths are relative to the file, remote reading must be meant") {
  const test::TempFolder folder;
  const auto settings = load_settings(
      folder.file("aggregator.toml", std::string(kKeys) +
                                         "[store]\nfolder = \"state\"\n"
                                         "[http]\naddress = \"0.0.0.0\"\nallow_remote = true\n"
                                         "names = [\"head-node\", \"l4\"]\n"
                                         "public_url = \"https://ops.example:8443/l4/\"\n"
                                         "[detect]\nhang_floor_s = 10\nhang_confirm_s = 40\n"));
  REQUIRE(settings);
  CHECK(settings->live.store.folder == folder.path() / "state");
  CHECK(settings->key == folder.path() / "a.key");
  CHECK(settings->http.address == "0.0.0.0");
  CHECK(settings->live.alerts.origin.page == "https://ops.example:8443/l4");
  CHECK(settings->names == std::vector<std::string>{"head-node", "l4"});
  const scoring::Thresholds& thresholds = settings->live.shards.job.thresholds;
  CHECK(thresholds.hang.floor == Millis{10'000});
  CHECK(thresholds.watch.suspect_floor == Millis{10'000});
  CHECK(thresholds.watch.confirm_floor == Millis{40'000});
}

}  // namespace
}  // namespace l4::aggregator
