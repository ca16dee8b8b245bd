#include "tools/l4/commands/command_line.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4::commands {
namespace {

CommandLine read(std::vector<const char*> words) {
  words.insert(words.begin(), "l4");
  return read_command_line(static_cast<int>(words.size()), words.data());
}

TEST_CASE("command line: options reach their command") {
  const auto line = read({"diagnose", "a", "-", "--history", "h1", "--history", "h2", "--top", "3",
                          "--threads", "2", "--tz=-05:00", "--as-of", "2026-11-20T16:00:00Z"});
  REQUIRE(line.command == CommandLine::Command::diagnose);
  CHECK(line.diagnose.paths == std::vector<std::filesystem::path>{"a", "-"});
  CHECK(line.diagnose.history.size() == 2);
  CHECK(line.diagnose.top == 3);
  CHECK(line.diagnose.zone == Millis{-5 * 3'600'000});
  CHECK(line.diagnose.as_of.has_value());
}

TEST_CASE("command line: faults has commands of its own") {
  const auto match = read({"faults", "match", "a", "-", "--line", "x y", "--line", "z", "--all"});
  REQUIRE(match.command == CommandLine::Command::faults);
  CHECK(match.faults.action == faults::FaultsOptions::Action::match);
  CHECK(match.faults.files == std::vector<std::filesystem::path>{"a", "-"});
  CHECK(match.faults.lines == std::vector<std::string>{"x y", "z"});
  CHECK(match.faults.all);
  const auto test = read({"faults", "test", "dir", "--format", "json"});
  CHECK(test.faults.action == faults::FaultsOptions::Action::test);
  CHECK(test.faults.faults == "dir");
  CHECK(read({"faults", "show", "id"}).faults.id == "id");
  CHECK(read({"faults", "list"}).faults.action == faults::FaultsOptions::Action::list);
}

TEST_CASE("command line: pool has commands of its own, outcome has two words") {
  const auto add = read({"pool", "add", "dir", "--name", "job", "--anyway"});
  REQUIRE(add.command == CommandLine::Command::pool);
  CHECK(add.pool.action == pool::PoolOptions::Action::add);
  CHECK(add.pool.path == "dir");
  CHECK(add.pool.anyway);
  CHECK(read({"pool", "list", "-o", "json"}).pool.format == "json");
  CHECK(read({"pool", "drop", "a.0"}).pool.run == "a.0");
  const auto told = read({"outcome", "job", "failure", "--note", "NaN"});
  REQUIRE(told.command == CommandLine::Command::pool);
  CHECK(told.pool.action == pool::PoolOptions::Action::outcome);
  CHECK(told.pool.job == "job");
  CHECK(told.pool.outcome == "failure");
  CHECK(told.pool.note == "NaN");
  CHECK(read({"outcome", "job", "good"}).exit == terminal::kWrongUse);
  CHECK(read({"pool", "show", ".."}).exit == terminal::kWrongUse);
}

TEST_CASE("command line: keys has commands of its own") {
  const auto add = read({"keys", "add", "a", "b", "--from", "f", "--dir", "d", "--fleet"});
  REQUIRE(add.command == CommandLine::Command::keys);
  CHECK(add.keys.action == keys::KeysOptions::Action::add);
  CHECK(add.keys.names == std::vector<std::string>{"a", "b"});
  CHECK(add.keys.from.size() == 1);
  CHECK(add.keys.folder == "d");
  CHECK(add.keys.fleet);
  CHECK(read({"keys", "list"}).keys.action == keys::KeysOptions::Action::list);
}

TEST_CASE("command line: jobs, snapshot and agents ask a running aggregator") {
  const auto jobs = read({"jobs", "--address", "http://a:1", "-o", "json"});
  REQUIRE(jobs.command == CommandLine::Command::live);
  CHECK(jobs.live.action == LiveOptions::Action::jobs);
  CHECK(jobs.live.address == "http://a:1");
  CHECK(jobs.live.format == "json");
  const auto snapshot = read({"snapshot", "a/b", "--format", "json", "--out", "r", "--exit-code"});
  REQUIRE(snapshot.command == CommandLine::Command::live);
  CHECK(snapshot.live.action == LiveOptions::Action::snapshot);
  CHECK(snapshot.live.job == "a/b");
  CHECK(snapshot.live.out == "r");
  CHECK(snapshot.live.exit_code);
  CHECK(read({"agents", "--output", "json"}).live.action == LiveOptions::Action::agents);
}

TEST_CASE("command line: wrong use ends with 2") {
  const std::vector<std::vector<const char*>> wrong{
      {},
      {"diagnsoe", "a"},
      {"diagnose"},
      {"diagnose", "a", "--top", "-1"},
      {"diagnose", "a", "--threads", "many"},
      {"diagnose", "a", "--no-such-option"},
      {"diagnose", "a", "--layout", "{planet}"},
      {"diagnose", "a", "--out", "/no/such/folder/report.json"},
      {"inspect", "a", "--format", "xml"},
      {"faults"},
      {"faults", "lst"},
      {"faults", "show"},
      {"keys"},
      {"keys", "add"},
      {"keys", "revoke"},
      {"jobs", "--address", "127.0.0.1:7440"},
      {"jobs", "job-1"},
      {"jobs", "-o", "xml"},
      {"snapshot"},
      {"snapshot", ".."},
      {"snapshot", "a", "b"},
      {"snapshot", "a", "--out", "/no/such/folder/report.json"},
      {"agents", "--exit-code"},
      {"faults", "match", "--all"},
      {"faults", "list", "--family"}};
  for (const auto& words : wrong) {
    const auto line = read(words);
    CHECK(line.command == CommandLine::Command::done);
    CHECK(line.exit == terminal::kWrongUse);
  }
}

}  // namespace
}  // namespace l4::commands
