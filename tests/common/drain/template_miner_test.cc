#include "common/drain/template_miner.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace l4::drain {
namespace {

/// Lines of few words, so that holes, patterns and merges are frequent.
std::vector<std::string> lines_of(std::uint32_t seed, std::size_t count, std::size_t words) {
  std::mt19937 random(seed);
  std::vector<std::string> lines(count);
  for (std::string& line : lines) {
    const std::size_t size = 1 + random() % 6;
    for (std::size_t i = 0; i < size; ++i) {
      if (!line.empty()) line += ' ';
      const std::size_t number = random() % words;
      switch (random() % 8) {
        case 0:
          line += std::to_string(number);
          break;
        case 1:
          line += "key=" + std::string(1 + number % 7, 'v');
          break;
        case 2:
          line += "id_" + std::to_string(number) + "_x";
          break;
        default:
          line += static_cast<char>('a' + i) + std::string(1 + number % 9, 'w');
      }
    }
  }
  return lines;
}

/// The first line of its group, for each line.
std::vector<std::size_t> partition(const TemplateMiner& miner,
                                   const std::vector<std::string>& lines) {
  std::map<LocalTemplateId, std::size_t> first;
  std::vector<std::size_t> groups;
  for (const std::string& line : lines) {
    const auto id = miner.find(line);
    REQUIRE(id);
    groups.push_back(first.try_emplace(*id, groups.size()).first->second);
  }
  return groups;
}

TEST_CASE("a word becomes a parameter after five distinct values") {
  TemplateMiner miner;
  LocalTemplateId last;
  for (const char* user : {"alice", "bob", "carol", "dave"}) {
    last = miner.learn("session opened for user " + std::string(user)).id;
  }
  CHECK(miner.size() == 4);
  const TemplateMatch match = miner.learn("session opened for user erin");
  CHECK(match.changed);
  CHECK_FALSE(match.created);
  CHECK(miner.size() == 1);
  CHECK(miner.canonical(last) == match.id);
  CHECK(miner.at(last).alias_of);
  CHECK(miner.at(match.id).text == "session opened for user <*>");
  CHECK(miner.at(match.id).count == 5);
  CHECK(miner.at(match.id).skeletons.size() == 5);
  CHECK(miner.find("session opened for user frank") == match.id);
  CHECK_FALSE(miner.find("another line altogether"));
}

TEST_CASE("a word that changes twice is no parameter") {
  TemplateMiner miner;
  for (const char* line : {"instance 5 VM Resumed now", "instance 6 VM Paused now"})
    miner.learn(line);
  CHECK(miner.size() == 2);
}

TEST_CASE("two words that vary together are parameters") {
  TemplateMiner miner;
  for (int i = 0; i < 8; ++i) {
    const std::string value(static_cast<std::size_t>(i) + 1, 'x');
    miner.learn(fmt::format("release lock tag={0} name=n{0} of the pool", value));
  }
  CHECK(miner.size() == 1);
  CHECK(miner.at(miner.learn("release lock tag=a name=b of the pool").id).text ==
        "release lock tag=<*> name=<*> of the pool");
}

TEST_CASE("codes are never generalised") {
  TemplateMiner miner;
  for (int code = 1; code <= 40; ++code) {
    miner.learn("process failed with exit code " + std::to_string(code));
  }
  CHECK(miner.size() == 40);
}

TEST_CASE("definitions that change are told once") {
  TemplateMiner miner;
  const TemplateMatch first = miner.learn("alpha beta gamma");
  CHECK(first.created);
  CHECK(miner.poll_changed() == std::vector{first.id});
  CHECK_FALSE(miner.learn("alpha beta gamma").changed);
  CHECK(miner.poll_changed().empty());
  const std::uint32_t generation = miner.at(first.id).generation;
  for (const char* word : {"one", "two", "three", "four"})
    miner.learn("alpha beta " + std::string(word));
  CHECK(miner.at(first.id).generation > generation);
  CHECK(miner.poll_changed().size() == 4);
}

TEST_CASE("memo and tree never disagree") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  TemplateMiner with;
  TemplateMiner without({.memo_entries_max = 16});
  std::vector<std::string> lines = lines_of(seed, 6'000, 12);
  for (const std::string& line : lines) {
    const TemplateMatch a = with.learn(line);
    const TemplateMatch b = without.learn(line);
    REQUIRE(a.id == b.id);
    REQUIRE(a.skeleton == skeleton_of(line));
    REQUIRE(with.find(line) == a.id);
  }
  CHECK(without.stats().evicted_memo > 0);
  CHECK(with.stats().memo_hits > without.stats().memo_hits);
  CHECK(with.size() == without.size());
}

TEST_CASE("groups depend on the lines, not on their order") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  for (const std::size_t words : {6U, 12U, 40U}) {
    const std::vector<std::string> lines = lines_of(seed, 4'000, words);
    std::vector<std::string> shuffled = lines;
    std::mt19937 random(seed);
    std::vector<std::size_t> expected;
    for (int round = 0; round < 4; ++round) {
      TemplateMiner miner;
      for (const std::string& line : shuffled) miner.learn(line);
      const auto groups = partition(miner, lines);
      if (round == 0) expected = groups;
      CHECK(groups == expected);
      std::ranges::shuffle(shuffled, random);
    }
  }
}

TEST_CASE("counts sum to the lines, whatever merges") {
  TemplateMiner miner;
  std::set<LocalTemplateId> ids;
  const auto lines = lines_of(5, 5'000, 20);
  for (const std::string& line : lines) ids.insert(miner.learn(line).id);
  std::uint64_t sum = 0;
  for (const LocalTemplateId id : ids) sum += miner.at(id).count;
  CHECK(sum == lines.size());
  CHECK(miner.stats().lines == lines.size());
}

TEST_CASE("templates and memo are bounded, the least recently used go first") {
  TemplateMiner miner({.templates_max = 64, .memo_entries_max = 32});
  const TemplateMatch kept = miner.learn("this line comes again and again");
  std::mt19937 random(3);
  for (int i = 0; i < 5'000; ++i) {
    std::string line;
    for (int k = 0; k < 4; ++k) {
      for (int c = 0; c < 6; ++c) line += static_cast<char>('a' + random() % 26);
      line += ' ';
    }
    miner.learn(line);
    CHECK(miner.size() <= 64);
    if (i % 10 == 0) CHECK(miner.learn("this line comes again and again").id == kept.id);
  }
  CHECK(miner.stats().evicted_templates > 4'000);
  CHECK(miner.stats().evicted_memo > 0);
  CHECK(miner.at(kept.id).count == 501);
  CHECK(miner.at(LocalTemplateId(1)).text.empty());
}

TEST_CASE("forgotten templates are reported once, with their aliases, and never return") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  TemplateMiner miner({.templates_max = 70, .memo_entries_max = 500});
  std::set<LocalTemplateId> given, gone;
  for (int i = 0; i < 30'000; ++i) {
    std::string line = "kind";
    for (int k = 0; k < 2; ++k) line += static_cast<char>('a' + random() % 16);
    for (int k = 0; k < 4; ++k)
      line += std::string(" word") + static_cast<char>('a' + random() % 12);
    const LocalTemplateId id = miner.learn(line).id;
    REQUIRE_FALSE(gone.contains(id));
    given.insert(id);
    if (i % 100 != 0) continue;
    const auto forgotten = miner.poll_forgotten();
    CHECK(std::ranges::is_sorted(forgotten));
    for (const LocalTemplateId lost : forgotten) REQUIRE(gone.insert(lost).second);
  }
  for (const LocalTemplateId lost : miner.poll_forgotten()) REQUIRE(gone.insert(lost).second);
  CHECK(miner.stats().evicted_templates > 0);
  CHECK(gone.size() >= miner.stats().evicted_templates);
  for (const LocalTemplateId id : given) {
    if (gone.contains(id)) CHECK(miner.at(id).text.empty());
  }
}

TEST_CASE("long lines work and texts stay short") {
  TemplateMiner miner;
  std::string line;
  while (line.size() < 16'384) line += "word" + std::string(line.size() % 5, 'x') + " 17 ";
  const TemplateMatch match = miner.learn(line);
  CHECK(miner.at(match.id).text.size() <= 4096);
  CHECK(miner.learn(line).id == match.id);
  CHECK(miner.at(miner.learn(std::string(16'384, 'y')).id).text.size() <= 4096);
  CHECK(miner.at(miner.learn(std::string(16'384, '7')).id).text == "<*>");
}

TEST_CASE("similar texts") {
  CHECK(similar("a b", "a b"));
  CHECK(similar("session for user <*>", "session for user bob"));
  CHECK(similar("session for user=<*> ok", "session for user=bob ok"));
  CHECK_FALSE(similar("session for user=<*> ok", "session for uid=bob ok"));
  CHECK_FALSE(similar("session for user alice", "session for user bob"));
  CHECK_FALSE(similar("session for <*>", "session for user bob"));
  CHECK_FALSE(similar("exit code <*> given", "exit code 9 given"));
  CHECK_FALSE(similar("<*> <*>", "any thing"));
}

/// A line of a form in which `#` is some digits and `%` a hexadecimal digit.
std::string line_of(std::string_view form, std::mt19937& random) {
  std::string line;
  for (const char c : form) {
    const std::size_t digits = random() % 4 == 0 ? 1 + random() % 17 : 1 + random() % 4;
    if (c == '%')
      line += "0123456789abcdef"[random() % 16];
    else if (c != '#')
      line += c;
    else
      for (std::size_t i = 0; i < digits; ++i) line += static_cast<char>('0' + random() % 10);
  }
  return line;
}

TEST_CASE("a miner learns the same with outlines as without") {
  constexpr std::string_view kForms[] = {
      "iteration #/ # | loss #.#E-# | time (ms): #.# | lr -#.#e-#",
      "Xid (PCI:#:#:#): #, pid=#",
      "worker # died, exit code #, signal -#",
      "at 0x%%%%%%%%%%%% of 0x#",
      "task %%%%%%%%-%%%%-%%%%-%%%%-%%%%%%%%%%%%",
      "EI#: inner error",
      "ERR# of 3",
      "error code: # (event id #)",
      "mac %%:%%:%%:%%:%%:%%",
      "mac 4#:#:#b:2#:#:#",
      "add:#:# bad:#",
      "ended #:# with exit_code=#:#",
      "on #-#-# #:#:#,# UTC",
      "took (#) [#] {#} <#>",
      "v#.#.#-rc# a#.#",
      "eth#/mlx5_# is up",
      "e# E# abc# 12ab#",
      "shard_#_of_#x#y#z#",
      "+# -# ~# >#",
      "\"GET /v#/x HTTP/1.#\" # # bytes",
      "# MB of # GiB, #ms #s #th",
      "/data/#/x_#.bin: #",
      "node#:#:# [#] comm 0x% rank #",
      "# 0x#",
      "a=#,b=#;c=#|d=#",
      "Aug # #:#:# 20#",
      "errno: # (Xid #)",
      "fault code #  8C#",
      "dead#beef face#cafe",
      "12345678-#-#-#-#",
      "ab#-#",
      "0x%% 10x% a0x%%% 0x%g 0x%%.%% 00x% 0x",
      "error 0x%% (code 0x#), exit code 0x%%%%",
      "errno: 0x% Xid 0x%% EI0x%%",
      "at [0x%%%%%%%%%%%%%%%%%%%%%%%%] <0x%>, (0x%%%%)",
      "0x%%%%:0x%%%%-0x%%%% 0x%%%%_%% 0x%%%%h",
      "flags=0x%%%%,0x%% size 0x%%KB"};
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  TemplateMiner with, without;
  for (int i = 0; i < 60'000; ++i) {
    const std::string line = line_of(kForms[random() % std::size(kForms)], random);
    CAPTURE(line);
    const TemplateMatch by_outline = with.learn(line, false, outline_of(line));
    const TemplateMatch by_line = without.learn(line);
    REQUIRE(by_outline.skeleton == by_line.skeleton);
    REQUIRE(by_outline.id == by_line.id);
  }
}

}  // namespace
}  // namespace l4::drain
