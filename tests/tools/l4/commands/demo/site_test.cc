#include "tools/l4/commands/demo/site.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "agent/daemon/ready.h"
#include "agent/tail/sources.h"
#include "aggregator/settings.h"
#include "tests/temp_folder.h"
#include "tools/l4/ask/client_file.h"

namespace l4::commands::demo {
namespace {

namespace fs = std::filesystem;

TEST_CASE("demo site: the addresses stand in the aggregator's log once it listens") {
  const std::string before = "[info] opens its state\n";
  const std::string line =
      "[info] listens for agents at tcp://127.0.0.1:4711, for questions at http://127.0.0.1:4712";
  CHECK_FALSE(addresses_in(before));
  CHECK_FALSE(addresses_in(before + line));  // may still grow
  const auto found = addresses_in(before + line + "\n[info] more\n");
  REQUIRE(found);
  CHECK(found->wire == "tcp://127.0.0.1:4711");
  CHECK(found->http == "http://127.0.0.1:4712");
  CHECK_FALSE(addresses_in("listens for agents at tcp://127.0.0.1:4711, answers no questions\n"));
}

TEST_CASE("demo site: the programs and l4 can use its settings, which nobody else reads") {
  const test::TempFolder folder;
  const fs::path logs = folder.path() / "a \"job\" [7]*";
  const auto site =
      Site::make(folder.path(), "job \"7\"", {{"node-a", logs / "node-a"}, {"of no name!", logs}});
  REQUIRE(site);
  REQUIRE(site->link({"tcp://127.0.0.1:4711", "http://127.0.0.1:4712"}));

  const auto aggregator = aggregator::load_settings(site->aggregator_settings());
  REQUIRE(aggregator);
  CHECK(aggregator->endpoint == "tcp://127.0.0.1:0");
  CHECK(aggregator->http.port == 0);
  CHECK(aggregator->tokens == folder.path() / "keys" / "tokens");

  const auto first = daemon::read_config(site->agent_settings(0));
  const auto second = daemon::read_config(site->agent_settings(1));
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->name == "node-a");
  CHECK(second->name == "agent-1");
  CHECK(second->settings.node == "of no name!");
  CHECK(first->settings.job == "job \"7\"");
  CHECK(first->settings.aggregator == "tcp://127.0.0.1:4711");
  CHECK_FALSE(first->settings.processes);
  CHECK_FALSE(first->settings.kernel);
  CHECK(first->settings.state != second->settings.state);
  const auto sources = tail::Sources::compile(first->settings.sources, {});
  REQUIRE(sources);
  CHECK(sources->wanted((logs / "node-a").string(), "x.log", "x.log") != tail::Wanted::no);
  CHECK(sources->wanted((folder.path() / "a \"job\" 7" / "node-a").string(), "x.log", "x.log") ==
        tail::Wanted::no);

  const auto client = ask::read_client_file(site->client_settings());
  REQUIRE(client);
  CHECK(client->address == "http://127.0.0.1:4712");
  std::string token;
  std::ifstream(client->token_file) >> token;
  CHECK(token == site->token());
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file())
      CHECK_MESSAGE(
          entry.status().permissions() == (fs::perms::owner_read | fs::perms::owner_write),
          entry.path().string());
}

}  // namespace
}  // namespace l4::commands::demo
