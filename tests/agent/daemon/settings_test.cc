#include "agent/daemon/settings.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "agent/daemon/agent.h"
#include "agent/daemon/ready.h"
#include "common/wire/zmq/curve_key.h"
#include "tests/temp_folder.h"

namespace l4::daemon {
namespace {

constexpr std::string_view kLogs = "[logs]\nsources = [\"/var/log/training\"]\n";

Settings read(const test::TempFolder& folder, std::string_view more) {
  auto settings = load_settings(folder.file("agent.toml", std::string(kLogs).append(more)));
  REQUIRE_MESSAGE(settings, (settings ? std::string() : settings.error().text()));
  return std::move(*settings);
}

TEST_CASE("settings: what cannot change while the agent runs is named when it does") {
  struct Row {
    std::string_view text, named;
  };
  constexpr Row kRows[] = {
      {"[link]\naggregator = \"tcp://10.0.0.1:7430\"", "link"},
      {"[who]\njob = \"pretrain\"", "who"},
      {"[who]\nrank = 3", "who"},
      {"[who]\nlocal_rank = 0", "who"},
      {"[who]\nworld_size = 8", "who"},
      {"[state]\nspool_mib = 3", "state"},
      {"[memory]\nqueue_mib = 8", "memory"},
      {"[memory]\njobs = 3", "memory"},
      {"[memory]\ntemplates = 3000", "memory"},
      {"[memory]\nline_bytes = 4096", "memory"},
      {"[timing]\nhold_ms = 70", "timing.hold_ms"},
      {"[limits]\ncpu_percent = 3", "limits"},
      {"[limits]\nresident_mib = 64", "limits"},
      {"[metrics]\nlisten = \"127.0.0.1:7441\"", "metrics"},
      {"[lines]\nenabled = false", "lines"},
      {"[lines]\nseconds = 3", "lines"},
      {"[redact]\nsecrets = false", "redact"},
      {"[host]\nkernel_log = false", "host"},
      {"[redact]\nexpressions = [\"secret=[0-9]+\"]", "redact"},
      {"[nic]\nenabled = false", "nic"},
      {"[nic]\nroot = \"/host/sys\"", "nic"},
      {"[nic]\nexclude = [\"eth0\"]", "nic"},
      {"[nic]\nsamples_per_s = 5", "nic"},
      {"[paths]\nframeworks = \"/etc/l4/packs\"", "paths"},
  };
  const test::TempFolder folder;
  const Settings before = read(folder, "");
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(fixed_differences(before, read(folder, row.text)) ==
          std::vector<std::string>{std::string(row.named)});
  }
}

TEST_CASE("settings: what is taken over at once is not named") {
  const test::TempFolder folder;
  const Settings before = read(folder, "");
  CHECK(fixed_differences(before, read(folder, "[timing]\nflush_ms = 100")).empty());
  CHECK(fixed_differences(before, read(folder, "excludes = [\"/var/log/training/x\"]")).empty());
  CHECK(fixed_differences(before, read(folder, "old_after_h = 3")).empty());
}

TEST_CASE("settings: ranks are unknown unless they are given") {
  const test::TempFolder folder;
  const Settings none = read(folder, "[who]\nrank = -1\nlocal_rank = -1\nworld_size = 0");
  CHECK_FALSE(none.rank);
  CHECK_FALSE(none.local_rank);
  CHECK_FALSE(none.world_size);
  CHECK(fixed_differences(none, read(folder, "")).empty());
  const Settings given = read(folder, "[who]\nrank = 3\nlocal_rank = 0\nworld_size = 4");
  CHECK(given.rank == Rank{3});
  CHECK(given.local_rank == 0);
  CHECK(given.world_size == 4);
}

TEST_CASE("settings: a mistake is told with file, line and key") {
  const test::TempFolder folder;
  const auto refused = [&](std::string_view more) {
    const auto settings = load_settings(folder.file("agent.toml", std::string(kLogs).append(more)));
    const std::string said = settings ? "/taken" : settings.error().text();
    const auto at = said.find("agent.toml");
    return said.substr(at == std::string::npos ? 1 : at);
  };
  CHECK(refused("[limits]\ncpu_percent = -1") ==
        "agent.toml:4: cpu_percent: must be from 0 to 6400");
  for (const char* address : {"7441", "localhost:7441", ":7441", "127.0.0.1:", "127.0.0.1:99999",
                              "::1:7441", "[127.0.0.1]:1", "127.0.0.1:http"})
    CHECK(refused("[metrics]\nlisten = \"" + std::string(address) + "\"") ==
          "agent.toml:4: listen: must be ADDRESS:PORT, with an IP address");
  CHECK(refused("[metrics]\nlisten = \"[::1]:7441\"") == "taken");
  for (const char* address :
       {"nowhere", "tcp://127.0.0.1:99999", "tcp://:7430", "tcp://h:0", "tcp://h:12a",
        "tcp://a b:7430", "tcp://h:7430/x", "tcp://[::1:7430", "tcp://*:7430"})
    CHECK(refused("[link]\naggregator = \"" + std::string(address) + "\"") ==
          "agent.toml:4: aggregator: must be tcp://HOST:PORT, with a port from 1 to 65535");
  CHECK(refused("[link]\naggregator = \"tcp://[::1]:7430\"") == "taken");
  CHECK(refused("[who]\nworld_size = 4\nrank = 4") == "agent.toml:5: rank: must be from -1 to 3");
  CHECK(refused("[memory]\nqueue = 4") ==
        "agent.toml:4: queue: unknown key; did you mean queue_mib?");
  CHECK(refused("[redact]\nexpressions = [\"a\", \"(\"]") ==
        "agent.toml:4: expressions: missing ): (");
  CHECK(refused("excludes = [\"/var/x\", \"x\"]") ==
        "agent.toml:3: excludes: x: is no absolute path");
  CHECK(refused("excludes = [\"/**/**/**/**/**/x\"]") ==
        "agent.toml:3: excludes: /**/**/**/**/**/x: has more than 4 times **");
  CHECK(refused("old_after_h = \"day\"") == "agent.toml:3: old_after_h: must be an integer");
}

TEST_CASE("settings: a file that is not there is told with the line and key that name it") {
  const test::TempFolder folder;
  const std::string path = folder.path().string() + "/";
  const auto masks =
      load_settings(folder.file("agent.toml", std::string(kLogs) + "[paths]\nmasks = \"nope\"\n"));
  REQUIRE_FALSE(masks);
  CHECK(masks.error().text().starts_with(path + "agent.toml:4: masks: " + path + "nope"));
  const auto key =
      read_config(folder.file("agent.toml", std::string(kLogs) + "[link]\nkey = \"nope\"\n"));
  REQUIRE_FALSE(key);
  CHECK(key.error().text() ==
        path + "agent.toml:4: key: " + path +
            "nope: cannot be opened: No such file or directory; 'l4 keys' makes it on the "
            "aggregator's host; bring it here, owned by the agent's user");
  const auto packs = load_settings(
      folder.file("agent.toml", std::string(kLogs) + "[paths]\nframeworks = \"nope\"\n"));
  REQUIRE(packs);
  const auto checked = Agent::check(*packs);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().text().starts_with(path + "agent.toml:4: frameworks: " + path + "nope"));
}

TEST_CASE("settings: a name is for a key that a fleet shares") {
  const test::TempFolder folder;
  const auto said = [&](std::string_view key_name, std::string_view name) {
    const auto pair = wire::make_key_pair();
    REQUIRE(pair);
    const wire::NodeKey key{std::string(key_name), pair->public_key, pair->secret_key,
                            pair->public_key};
    folder.file("agent.key", wire::to_text(key));
    const auto ready = read_config(folder.file(
        "agent.toml", fmt::format("{}[link]\nkey = \"agent.key\"\nname = \"{}\"\n", kLogs, name)));
    return ready ? ready->name : ready.error().reason;
  };
  CHECK(said("node-a", "") == "node-a");
  CHECK(said("node-a", "node-a") == "node-a");
  CHECK(said("node-a", "node-b") ==
        "link.name: \"node-b\", but the key is that of \"node-a\"; a name is for a shared key");
  CHECK(said(wire::kFleetKeyName, "node-b") == "node-b");
  CHECK(said(wire::kFleetKeyName, "node b") == "link.name: no name of a node: node b");
}

}  // namespace
}  // namespace l4::daemon
