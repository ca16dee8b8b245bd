#include "agent/discover/discover.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "tests/temp_folder.h"

namespace l4::discover {
namespace {

namespace fs = std::filesystem;

const LogFile* find(const Discovery& found, const std::string& name) {
  for (const auto& file : found.files)
    if (file.name == name) return &file;
  return nullptr;
}

bool warned(const Discovery& found, const std::string& kind) {
  return std::any_of(found.warnings.begin(), found.warnings.end(),
                     [&](const auto& warning) { return warning.kind == kind; });
}

TEST_CASE("discover: a torchrun tree with its launchers") {
  const l4::test::TempFolder folder;
  for (const std::string node : {"node-00", "node-01"}) {
    folder.file(node + "/agent.log");
    for (const std::string local : {"0", "1"}) {
      folder.file(node + "/job-7_abcdefgh/attempt_0/" + local + "/stdout.log", "");
      folder.file(node + "/job-7_abcdefgh/attempt_0/" + local + "/stderr.log");
    }
  }
  const auto found = discover({folder.path()});
  REQUIRE(found);
  CHECK(found->job == "job-7");
  CHECK(found->files.size() == 10);
  CHECK(found->mtimes_equal);
  CHECK(std::is_sorted(found->files.begin(), found->files.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  const auto* agent = find(*found, "node-01/agent.log");
  REQUIRE(agent != nullptr);
  CHECK(agent->kind == wire::SourceKind::launcher);
  CHECK(agent->node == "node-01");
  CHECK(agent->node_known);
  const auto* empty = find(*found, "node-00/job-7_abcdefgh/attempt_0/1/stdout.log");
  REQUIRE(empty != nullptr);
  CHECK(empty->bytes == 0);
  CHECK(empty->local_rank == 1);
  CHECK_FALSE(empty->rank);
}

TEST_CASE("discover: a part of a torchrun tree still knows its place") {
  const l4::test::TempFolder folder;
  const auto file = folder.file("node-03/job-7_abcdefgh/attempt_1/5/stderr.log");
  for (const auto& given : {file, folder.path() / "node-03/job-7_abcdefgh"}) {
    const auto found = discover({given});
    REQUIRE(found);
    REQUIRE(found->files.size() == 1);
    CHECK(found->job == "job-7");
    CHECK(found->files[0].node == "node-03");
    CHECK_FALSE(found->files[0].node_known);
    CHECK(found->files[0].attempt == 1);
    CHECK(found->files[0].local_rank == 5);
  }
}

TEST_CASE("discover: what is data is left out and counted") {
  const l4::test::TempFolder folder;
  folder.file("n1/rank0.log");
  folder.file("n1/progress.csv");
  folder.file("n1/model.pt");
  folder.file("n1/.hidden");
  folder.file("n1/core.4711", std::string(5000, '\0'));
  folder.file("n1/rank1.log", std::string(9000, '\0') + "a line behind a hole\n");
  const auto found = discover({folder.path()});
  REQUIRE(found);
  CHECK(found->files.size() == 2);
  CHECK(warned(*found, "skipped"));
  CHECK(warned(*found, "binary"));
}

TEST_CASE("discover: JSON is a log if a logger wrote its first line") {
  const l4::test::TempFolder folder;
  folder.file("n1/rank0.jsonl", "{\"level\": \"info\", \"msg\": \"ready\"}\n");
  folder.file("n1/train.json", "{\"timestamp\": \"2026-11-20T15:54:21Z\", \"message\": \"a\"}\n");
  folder.file("n1/data.jsonl", "{\"text\": \"once upon a time\", \"meta\": {\"level\": 3}}\n");
  folder.file("n1/config.json", "{\n  \"level\": \"info\"\n}\n");
  const auto found = discover({folder.path()});
  REQUIRE(found);
  CHECK(found->files.size() == 2);
  CHECK(find(*found, "n1/rank0.jsonl") != nullptr);
  CHECK(find(*found, "n1/train.json") != nullptr);
}

TEST_CASE("discover: kind 'a state of the job': what a batch system tells as JSON is read") {
  const l4::test::TempFolder folder;
  folder.file("train.log");
  folder.file("describe-jobs.json",
              "{\n  \"jobs\": [\n    {\n      \"status\": \"FAILED\",\n      \"container\": "
              "{\"exitCode\": 137,\n \"reason\": \"killed\"}\n    }\n  ]\n}\n");
  folder.file("pods.json", "{\"items\": [{\"phase\": \"Failed\", \"reason\": \"Evicted\"}]}\n");
  folder.file("sacct.json", "{\"jobs\": [{\"state\" : \"FAILED\", \"exit_code\": 1}]}\n");
  folder.file("config.json", "{\n  \"state\": \"train\",\n  \"hidden_size\": 4096\n}\n");
  folder.file("text.json", "{\"note\": \"reason: of no state\", \"value\": \"exitCode\"}\n");
  const auto found = discover({folder.path()});
  REQUIRE(found);
  CHECK(found->files.size() == 4);
  CHECK(find(*found, "config.json") == nullptr);
  CHECK(find(*found, "text.json") == nullptr);
}

TEST_CASE("discover: kind 'nothing else is there': texts that are no logs by their extension") {
  for (const char* name : {"README.md", "cloud.jsonl", "metrics.csv"}) {
    CAPTURE(name);
    const l4::test::TempFolder folder;
    folder.file(name, "{\"a\": 1}\nstep 1 loss 2.1\n");
    folder.file("train.py", "import torch\n");
    const auto found = discover({folder.path()});
    REQUIRE(found);
    REQUIRE(found->files.size() == 1);
    CHECK(found->files[0].name == name);
    CHECK(warned(*found, "no_log"));
    folder.file("rank0.log");
    const auto beside = discover({folder.path()});
    REQUIRE(beside);
    REQUIRE(beside->files.size() == 1);
    CHECK(beside->files[0].name == "rank0.log");
  }
}

TEST_CASE("discover: links") {
  const l4::test::TempFolder folder;
  const l4::test::TempFolder other;
  other.file("secret.log");
  folder.file("n1/rank0.log");
  fs::create_directory_symlink(folder.path(), folder.path() / "n1/loop");
  fs::create_symlink(other.path() / "secret.log", folder.path() / "n1/out.log");
  fs::create_symlink(folder.path() / "gone", folder.path() / "n1/gone.log");
  fs::create_symlink(folder.path() / "n1/rank0.log", folder.path() / "n1/rank1.log");
  const auto found = discover({folder.path()});
  REQUIRE(found);
  CHECK(found->files.size() == 1);
  for (const char* kind : {"symlink_loop", "symlink_outside", "vanished", "duplicate"}) {
    CAPTURE(kind);
    CHECK(warned(*found, kind));
  }
}

TEST_CASE("discover: single files, stand-ins for the node") {
  const l4::test::TempFolder folder;
  const auto file = folder.file("run1/train-4711.out");
  folder.file("run1/rank0.log");
  const auto single = discover({file});
  REQUIRE(single);
  REQUIRE(single->files.size() == 1);
  CHECK(single->files[0].name == "train-4711.out");
  CHECK(single->files[0].kind == wire::SourceKind::merged);
  CHECK(single->files[0].node == "train-4711");
  CHECK_FALSE(single->files[0].node_known);
  CHECK(single->job == "4711");
  const auto both = discover({folder.path() / "run1"});
  REQUIRE(both);
  const auto* rank = find(*both, "rank0.log");
  REQUIRE(rank != nullptr);
  CHECK(rank->node == "run1");
  CHECK_FALSE(rank->node_known);
}

TEST_CASE("discover: errors and partial failures") {
  const l4::test::TempFolder folder;
  const auto missing = discover({folder.path() / "nowhere"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().where.ends_with("nowhere"));
  const auto empty = discover({folder.path()});
  REQUIRE_FALSE(empty);
  CHECK(empty.error().reason == "holds no log file");
  folder.file("n1/rank0.log");
  const auto partial = discover({folder.path(), folder.path() / "nowhere"});
  REQUIRE(partial);
  CHECK(partial->files.size() == 1);
  CHECK(warned(*partial, "missing"));
  CHECK_FALSE(discover({folder.path()}, {.layout = "{what}"}));
}

TEST_CASE("discover: layout and spread of mtimes") {
  const l4::test::TempFolder folder;
  folder.file("x/h17.r3");
  const auto late = folder.file("x/h18.r4");
  fs::last_write_time(late, fs::last_write_time(late) + std::chrono::seconds{30});
  const auto found = discover({folder.path()}, {.layout = "{*}/{node}.r{rank}"});
  REQUIRE(found);
  REQUIRE(found->files.size() == 2);
  CHECK(found->files[0].node == "h17");
  CHECK(found->files[0].node_known);
  CHECK(found->files[1].rank == Rank{4});
  CHECK_FALSE(found->mtimes_equal);
}

TEST_CASE("discover: a file that is named itself is read whatever its name is") {
  const l4::test::TempFolder folder;
  folder.file("rank0.log");
  for (const std::string name : {"metrics.jsonl", "notes.csv", "weights.pt"}) {
    CAPTURE(name);
    const auto file = folder.file(name, "no logger wrote this\n");
    for (const auto& given :
         {std::vector{file}, std::vector{folder.path(), file}, std::vector{file, folder.path()}}) {
      const auto found = discover(given);
      REQUIRE(found);
      CHECK(std::ranges::count_if(found->files, [&](const LogFile& one) {
              return one.path.filename() == name;
            }) == 1);
    }
    CHECK(find(*discover({folder.path()}), name) == nullptr);
    fs::remove(file);
  }
}

TEST_CASE("discover: UTF-16 is text, packed or random data is none") {
  const l4::test::TempFolder folder;
  std::string wide = "\xff\xfe", no_mark, noise;
  for (const char c : std::string("2026-11-20 a line of text\n")) {
    wide.append({c, '\0'});
    no_mark.append({'\0', c});
  }
  for (unsigned i = 0; i < 8192; ++i) noise += static_cast<char>((i * i * 2654435761u) >> 17);
  folder.file("a.log", wide);
  folder.file("b.log", no_mark);
  folder.file("c.log", noise);
  folder.file("d.log", "plain text\n" + wide.substr(2) + wide.substr(2));
  const auto found = discover({folder.path()});
  REQUIRE(found);
  CHECK(found->files.size() == 3);
  CHECK(std::ranges::count(found->warnings, "binary", &wire::Warning::kind) == 1);
}

TEST_CASE("discover: the private folder and what is above it names nothing") {
  const l4::test::TempFolder folder;
  folder.file("node-17/l4-x/job/rank0.log");
  Options options;
  options.private_folder = folder.path() / "node-17/l4-x";
  const auto found = discover({folder.path() / "node-17/l4-x/job"}, options);
  REQUIRE(found);
  CHECK(found->files.at(0).node == "job");
  CHECK(found->job == "job");
}

TEST_CASE("discover: two folders of one name stay apart in names") {
  const l4::test::TempFolder folder;
  folder.file("a/logs/rank0.log");
  folder.file("b/logs/rank1.log");
  const auto found = discover({folder.path() / "a/logs", folder.path() / "b/logs"});
  REQUIRE(found);
  REQUIRE(found->files.size() == 2);
  CHECK(find(*found, "logs/rank0.log") != nullptr);
  CHECK(find(*found, "logs/rank1.log") == nullptr);
}

}  // namespace
}  // namespace l4::discover
