#include "tools/l4/commands/command_line.h"

#include <doctest/doctest.h>

#include <any>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/l4/commands/agents.h"
#include "tools/l4/commands/demo/command.h"
#include "tools/l4/commands/diagnose.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/jobs.h"
#include "tools/l4/commands/keys/command.h"
#include "tools/l4/commands/pool/command.h"
#include "tools/l4/commands/quiet.h"
#include "tools/l4/commands/snapshot.h"

namespace l4::commands {
namespace {

/// The options with which the command of this line would run.
template <class T>
T options_of(const CommandLine& line) {
  REQUIRE(line.run);
  const auto* options = std::any_cast<std::shared_ptr<T>>(&line.options);
  REQUIRE(options != nullptr);
  return **options;
}

CommandLine read(std::vector<const char*> words) {
  words.insert(words.begin(), "l4");
  return read_command_line(static_cast<int>(words.size()), words.data());
}

TEST_CASE("command line: options reach their command") {
  const auto diagnose = options_of<DiagnoseOptions>(
      read({"diagnose", "a", "-", "--history", "h1", "--history", "h2", "--top", "3", "--threads",
            "2", "--tz=-05:00", "--as-of", "2026-11-20T16:00:00Z"}));
  CHECK(diagnose.paths == std::vector<std::filesystem::path>{"a", "-"});
  CHECK(diagnose.history.size() == 2);
  CHECK(diagnose.top == 3);
  CHECK(diagnose.zone == Millis{-5 * 3'600'000});
  CHECK(diagnose.as_of.has_value());
}

TEST_CASE("command line: a demo has bounds for its speed, and is kept for people alone") {
  const auto demo = options_of<demo::DemoOptions>(read({"demo", "--speed", "2.5", "--keep"}));
  CHECK(demo.speed == doctest::Approx(2.5));
  CHECK(demo.keep);
  CHECK(demo.logs.empty());
  CHECK(read({"demo", "--speed", "0"}).exit == terminal::kWrongUse);
  CHECK(read({"demo", "--speed", "1001"}).exit == terminal::kWrongUse);
  CHECK(read({"demo", "--keep", "-o", "json"}).exit == terminal::kWrongUse);
  CHECK(read({"demo", "--logs", "/no/such/folder"}).exit == terminal::kWrongUse);
}

TEST_CASE("command line: acknowledging an incident, and taking it back") {
  const auto ack = options_of<QuietOptions>(read({"ack", "job.0.1", "--note", "the switch"}));
  CHECK(ack.action == QuietOptions::Action::ack);
  CHECK(ack.incident == "job.0.1");
  CHECK(ack.note == "the switch");
  CHECK(options_of<QuietOptions>(read({"ack", "job.0.1", "--undo"})).undo);
  CHECK(read({"ack"}).exit == terminal::kWrongUse);
  CHECK(read({"ack", "job.0.1", "--undo", "--note", "x"}).exit == terminal::kWrongUse);
}

TEST_CASE("command line: maintenance is of a job or a node, until a time or for a while") {
  const auto add = options_of<QuietOptions>(
      read({"maintenance", "add", "--node", "rack-*", "--for", "4h", "--why", "cables"}));
  CHECK(add.action == QuietOptions::Action::add);
  CHECK(add.node == "rack-*");
  CHECK(options_of<QuietOptions>(read({"maintenance", "list", "--over"})).over);
  CHECK(options_of<QuietOptions>(read({"maintenance", "end", "m3"})).maintenance == "m3");
  const std::vector<const char*> begin{"maintenance", "add", "--why", "x"};
  for (const std::vector<const char*>& rest : std::vector<std::vector<const char*>>{
           {},
           {"--job", "a"},
           {"--for", "4h"},
           {"--job", "a", "--node", "b", "--for", "4h"},
           {"--job", "a", "--for", "4h", "--until", "2026-12-01T18:00:00Z"},
           {"--job", "a", "--for", "4"},
           {"--job", "a", "--for", "0h"},
           {"--job", "a", "--for", "4 hours"}}) {
    std::vector<const char*> words = begin;
    words.insert(words.end(), rest.begin(), rest.end());
    CHECK(read(words).exit == terminal::kWrongUse);
  }
  CHECK(read({"maintenance", "add", "--job", "a", "--for", "4h"}).exit == terminal::kWrongUse);
  CHECK(parse_duration("90s").value() == Millis{90'000});
  CHECK(parse_duration("2d").value() == Millis{172'800'000});
}

TEST_CASE("command line: faults has commands of its own") {
  using faults::FaultsOptions;
  const auto faults_of = [](std::vector<const char*> words) {
    return options_of<FaultsOptions>(read(std::move(words)));
  };
  const auto match =
      faults_of({"faults", "match", "a", "-", "--line", "x y", "--line", "z", "--all"});
  CHECK(match.action == FaultsOptions::Action::match);
  CHECK(match.files == std::vector<std::filesystem::path>{"a", "-"});
  CHECK(match.lines == std::vector<std::string>{"x y", "z"});
  CHECK(match.all);
  const auto test = faults_of({"faults", "test", "dir", "--format", "json"});
  CHECK(test.action == FaultsOptions::Action::test);
  CHECK(test.faults == "dir");
  CHECK(faults_of({"faults", "show", "id"}).id == "id");
  CHECK(faults_of({"faults", "list"}).action == FaultsOptions::Action::list);
}

TEST_CASE("command line: pool has commands of its own, outcome has two words") {
  using pool::PoolOptions;
  const auto pool_of = [](std::vector<const char*> words) {
    return options_of<PoolOptions>(read(std::move(words)));
  };
  const auto add = pool_of({"pool", "add", "dir", "--name", "job", "--anyway"});
  CHECK(add.action == PoolOptions::Action::add);
  CHECK(add.path == "dir");
  CHECK(add.anyway);
  CHECK(pool_of({"pool", "list", "-o", "json"}).format == "json");
  CHECK(pool_of({"pool", "drop", "a.0"}).run == "a.0");
  const auto outcome = pool_of({"outcome", "job", "failure", "--note", "NaN"});
  CHECK(outcome.action == PoolOptions::Action::outcome);
  CHECK(outcome.job == "job");
  CHECK(outcome.outcome == "failure");
  CHECK(outcome.note == "NaN");
  CHECK(read({"outcome", "job", "good"}).exit == terminal::kWrongUse);
  CHECK(read({"pool", "show", ".."}).exit == terminal::kWrongUse);
}

TEST_CASE("command line: keys has commands of its own") {
  using keys::KeysOptions;
  const auto add = options_of<KeysOptions>(
      read({"keys", "add", "a", "b", "--from", "f", "--dir", "d", "--fleet"}));
  CHECK(add.action == KeysOptions::Action::add);
  CHECK(add.names == std::vector<std::string>{"a", "b"});
  CHECK(add.from.size() == 1);
  CHECK(add.folder == "d");
  CHECK(add.fleet);
  CHECK(options_of<KeysOptions>(read({"keys", "list"})).action == KeysOptions::Action::list);
}

TEST_CASE("command line: jobs, snapshot and agents ask a running aggregator") {
  const auto jobs =
      options_of<JobsOptions>(read({"jobs", "--address", "http://a:1", "-o", "json"}));
  CHECK(jobs.address == "http://a:1");
  CHECK(jobs.format == "json");
  const auto snapshot = options_of<SnapshotOptions>(
      read({"snapshot", "a/b", "--format", "json", "--out", "r", "--exit-code"}));
  CHECK(snapshot.job == "a/b");
  CHECK(snapshot.format == "json");
  CHECK(snapshot.out == "r");
  CHECK(snapshot.exit_code);
  CHECK(options_of<SnapshotOptions>(read({"snapshot", "a", "--html", "r.html"})).html == "r.html");
  CHECK(options_of<AgentsOptions>(read({"agents", "--output", "json"})).format == "json");
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
      {"diagnose", "a", "--html", "/no/such/folder/report.html"},
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
      {"snapshot", "a", "--html", "/no/such/folder/report.html"},
      {"snapshot", "a", "--html", "r.html", "--list"},
      {"snapshot", "a", "--html", "r.html", "--store"},
      {"show", "a", "--html", "r.html", "--diff", "b"},
      {"incidents", "--html", "r.html"},
      {"incidents", "--follow", "--html", "r.html"},
      {"agents", "--exit-code"},
      {"faults", "match", "--all"},
      {"faults", "list", "--family"}};
  for (const auto& words : wrong) {
    const auto line = read(words);
    CHECK_FALSE(line.run);
    CHECK(line.exit == terminal::kWrongUse);
  }
}

}  // namespace
}  // namespace l4::commands
