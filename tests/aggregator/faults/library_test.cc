// The answers of the shipped library, the reader's errors, and the order of answers.
// self_test_test.cc has the rules of every entry.
#include "aggregator/faults/library.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/parameters/parameters.h"
#include "tests/temp_folder.h"

namespace l4::faults {
namespace {

const Library& library() {
  static const Library loaded = [] {
    auto result = Library::load(L4_SOURCE_DIR "/config/faults");
    if (!result) FAIL(result.error().text());
    return std::move(*result);
  }();
  return loaded;
}

TEST_CASE("the library covers causes and consequences") {
  const auto faults = library().faults();
  const auto causes = std::ranges::count(faults, false, &Fault::consequence);
  CHECK(causes >= 40);
  CHECK(std::ranges::count(faults, true, &Fault::timeout) >= 8);
  CHECK(std::ranges::count(faults, true, &Fault::accuses_peer) >= 8);
  CHECK(library().find("xid_off_the_bus") != nullptr);
  CHECK(library().find("nothing") == nullptr);
}

TEST_CASE("ordinary lines are no faults") {
  for (const char* line : {
           " iteration  10/ 150 | consumed samples: 320 | lm loss: 5.5E+00 | grad norm: 0.2 |",
           "step=68 data_ms=0.2 fwd_ms=47.0 bwd_ms=130.1 allreduce_ms=13.9 opt_ms=1.5",
           "push to 10.0.0.1:9091 failed: ConnectionRefusedError: [Errno 111] Connection refused "
           "(attempt 1), next try in 5s",
           "sample doc-0-0-23: 1 token ids out of vocabulary, replaced by <unk>",
           "slow batch: data loading took 112 ms (threshold 100 ms) at iteration 56",
           "sudo: cpupower: command not found",
           "no checkpoint found in /mnt/ckpt, training from scratch",
           "[c10d - trace] The server socket on [::ffff:10.77.0.10]:29400 is not yet listening "
           "(errno: 111 - Connection refused), will retry.",
           "[Service thread] Accept failed Resource temporarily unavailable",
           "found 0 shards, 0 errors in manifest, shuffle seed 3",
       }) {
    const auto found = library().match(line);
    CHECK_MESSAGE(found.empty(), line, " -> ", found.empty() ? "" : found.front()->id);
  }
}

TEST_CASE("a code given as a parameter decides, else the text does") {
  const std::string text = "NVRM: Xid (PCI:<*>): <*>, pid=<*>, name=<*>, GPU state <*>";
  CHECK(library().match(text).empty());
  const std::vector<wire::Parameter> lost{{wire::ParameterKind::code, "Xid 79"}};
  const auto found = library().match(text, lost);
  REQUIRE(found.size() == 1);
  CHECK(found.front()->id == "xid_off_the_bus");
  CHECK(library().match("NVRM: Xid (PCI:0000:65:00): 79, pid=1", lost).front()->id ==
        "xid_off_the_bus");
}

TEST_CASE("causes stand before consequences") {
  const auto found = library().match(
      "Memory cgroup out of memory: Killed process 4 (python3); Killing subprocess 5; Out of "
      "memory: Killed process 4");
  REQUIRE(found.size() == 3);
  CHECK_FALSE(found[0]->consequence);
  CHECK_FALSE(found[1]->consequence);
  CHECK(found[2]->id == "launcher_kill");
  CHECK(Library().match("CUDA out of memory").empty());
}

TEST_CASE("one library and more: an equal id replaces, and confirmed faults win a tie") {
  Fault mine = *library().find("xid_off_the_bus");
  mine.id = "mine";
  mine.severity = Level::warning;  // otherwise the graver fault would come first
  const std::string line = "NVRM: Xid (PCI:0000:65:00): 79, pid=1";
  CHECK(library().with({mine}).match(line).front()->id == "xid_off_the_bus");
  mine.confirmed = Confirmation{"ops", TimeMs{}, "i"};
  const Library more = library().with({mine});
  CHECK(more.match(line).front()->id == "mine");
  CHECK(more.match(line).size() == 2);
  CHECK(more.faults().size() == library().faults().size() + 1);
  mine.id = "xid_off_the_bus";
  mine.title = "Ours";
  const Library other = library().with({mine});
  CHECK(other.faults().size() == library().faults().size());
  CHECK(other.match(line).front()->title == "Ours");
  CHECK(library().find("xid_off_the_bus")->title != "Ours");
}

constexpr const char* kEntry =
    "[[fault]]\nid = \"a\"\ntitle = \"t\"\ncategory = \"user\"\nsubcategory = \"program\"\n"
    "scope = \"rank\"\nseverity = \"error\"\npatterns = ['x{n}y']\ncause = \"c\"\nfix = \"f\"\n"
    "action = \"d\"\nmatches = ['x1y']\nrejects = ['xy']\n";

/// `content` with `to` in the place of the first `from`.
std::string with(std::string content, std::string_view from, std::string_view to) {
  if (const auto at = content.find(from); at != std::string::npos)
    content.replace(at, from.size(), to);
  return content;
}

TEST_CASE("a bad entry names file, line and key") {
  const l4::test::TempFolder folder;
  const std::string entry = kEntry;
  std::string file;
  const auto load = [&](const std::string& content) {
    file = folder.file("bad.toml", content).string();
    auto loaded = Library::load(folder.path());
    return loaded ? std::string("loaded") : loaded.error().text();
  };
  const auto load_with = [&](std::string_view from, std::string_view to) {
    return load(with(entry, from, to));
  };
  CHECK(load(entry) == "loaded");
  CHECK(load_with("'x{n}y'", "'x('").starts_with(file + ":8: patterns: x(:"));
  CHECK(load_with("'x{n}y'", "'xy',\n'b('").starts_with(file + ":9: patterns: b(:"));
  CHECK(load_with("'x{n}y'", "'x*'").starts_with(file + ":8: patterns: x*: matches every line"));
  CHECK(load_with("'x{n}y'", "'(?:\\pL{99}x){9}'").starts_with(file + ":8: patterns: "));
  CHECK(load_with("\"user\"", "\"weather\"").starts_with(file + ":4: category: must be one of"));
  CHECK(load_with("\"program\"", "\"node\"") ==
        file + ":5: subcategory: must be one of config program incompatibility misoperation");
  CHECK(load_with("cause", "unless = ['(']\ncause").starts_with(file + ":9: unless: (:"));
  CHECK(load_with("scope", "scop").starts_with(file + ":1: scope: missing"));
  CHECK(load_with("cause = \"c\"", "cause = 3").starts_with(file + ":9: cause: must be a text"));
  CHECK(load_with("cause", "wit = 1\ncause").starts_with(file + ":9: wit: unknown key"));
  CHECK(load(entry + entry).starts_with(file + ":15: id: a stands twice"));
  folder.file("also.toml", entry);
  CHECK(load(entry).starts_with(file + ":2: id: a stands twice"));
  std::filesystem::remove_all(folder.path());
  CHECK_FALSE(Library::load(folder.path()).has_value());
}

TEST_CASE("answers are in the order of their rank") {
  const l4::test::TempFolder folder;
  const std::string entry = kEntry;
  const auto named = [&](const char* id, const char* pattern, const char* more) {
    return with(with(entry, "\"a\"", '"' + std::string(id) + '"'), "['x{n}y']",
                std::string(pattern) + "\n" + more);
  };
  folder.file("ordered.toml",
              named("echo", "['link of mlx5_0 went down with errno {n}']", "consequence = true") +
                  named("later", "['link .* down']", "") + named("same", "['link .* down']", "") +
                  named("specific", "['went down', 'link of {w} went down']", "") +
                  named("coded", "['errno {n}']", "parameters = { errno = [\"19\"] }") +
                  with(named("grave", "['went .* with']", ""), "\"error\"", "\"fatal\"") +
                  named("forbidden", "['link']", "unless = ['mlx5_{n} went']") +
                  named("other_code", "['errno {n}']", "parameters = { errno = [\"2\"] }"));
  const auto loaded = Library::load(folder.path());
  REQUIRE_MESSAGE(loaded.has_value(), loaded.error().text());
  std::vector<std::string> ids;
  for (const Fault* fault : loaded->match("link of mlx5_0 went down with errno 19"))
    ids.push_back(fault->id);
  CHECK(ids == std::vector<std::string>{"coded", "specific", "grave", "later", "same", "echo"});
  CHECK(loaded->find("coded")->family == "ordered");
}

}  // namespace
}  // namespace l4::faults
