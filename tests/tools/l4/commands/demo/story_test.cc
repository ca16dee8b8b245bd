#include "tools/l4/commands/demo/story.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "aggregator/serve/utf8.h"

namespace l4::commands::demo {
namespace {

constexpr serve::TextStyle kNarrow{.color = false, .width = 80};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) most = std::max(most, serve::cells(line));
  return most;
}

Progress progress(std::size_t nodes) {
  Progress made;
  made.elapsed = Millis{12'400};
  made.length = Millis{34'650};
  for (std::size_t i = 0; i < nodes; ++i)
    made.nodes.push_back(
        {"node-" + std::to_string(i), 120, "INFO \x1b[2Jline " + std::string(200, 'x')});
  made.written = 1'412;
  made.taken = 1'400;
  ask::JobRow job;
  job.id = "job-7";
  job.state = "healthy";
  job.iteration = 41;
  job.ranks = 8;
  made.job = job;
  return made;
}

TEST_CASE("demo story: the block fits the page, and lines of logs cannot act on it") {
  const std::string block = progress_block(progress(4), kNarrow);
  CHECK(has(block, "12 s of 35 s · 1,412 lines, 1,400 read"));
  CHECK(has(block, "job-7 healthy · iteration 41 · 8 ranks"));
  CHECK(has(block, "node-3    120  INFO"));
  CHECK_FALSE(has(block, "\x1b"));
  CHECK(widest(block) <= kNarrow.width);
  const std::string many = progress_block(progress(40), kNarrow);
  CHECK(std::ranges::count(many, '\n') == 15);
  CHECK(has(many, "and 28 more"));
  CHECK(std::ranges::count(progress_row(progress(40), kNarrow), '\n') == 1);
}

TEST_CASE("demo story: an alert says what, where, and how soon") {
  ask::ChangeRow change;
  change.kind = "opened";
  change.job = "job-7";
  change.state = "crashed";
  change.summary = "A rank was killed.";
  change.first_node = "node-2";
  change.first_rank = 4;
  change.at = TimeMs{Millis{1'500}};
  const std::string text =
      alert(change, {{Millis{1'250}, "the first line"}, {Millis{1'900}, "a kill"}}, kNarrow);
  CHECK(text ==
        "ALERT     00:00:01.500 UTC · job-7 crashed · first node-2, rank 4\n"
        "          A rank was killed.\n"
        "          1.2 s after the first line\n"
        "          1.9 s after a kill\n\n");
  change.kind = "changed";
  change.first_rank.reset();
  CHECK(has(alert(change, {}, kNarrow),
            "CHANGED   00:00:01.500 UTC · job-7 crashed · first node-2\n"));
  change.kind = "resolved";
  change.first_node.clear();
  CHECK(has(alert(change, {}, kNarrow), "RESOLVED "));
}

TEST_CASE("demo story: commands can be pasted, whatever stands in names") {
  CHECK(shell_word("/tmp/l4-demo-x/client.toml") == "/tmp/l4-demo-x/client.toml");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's; rm *") == "'it'\\''s; rm *'");
  CHECK(shell_word("~/x") == "'~/x'");
  Questions what;
  what.l4 = "./l4";
  what.client_settings = "/tmp/a folder/client.toml";
  what.hiding = {"L4_ADDRESS"};
  what.job = "job 7";
  what.incident = "job.0.1";
  what.rank = 4;
  what.node = "node-2";
  what.kept = true;
  what.page = "http://127.0.0.1:4712";
  what.token = "/tmp/a folder/token";
  const std::string kept = questions(what, kNarrow);
  CHECK(has(kept, "Open http://127.0.0.1:4712/ and sign in"));
  CHECK(has(kept, "            /tmp/a folder/token\n"));
  for (const char* line : {"unset L4_ADDRESS\n", "export L4_CLIENT='/tmp/a folder/client.toml'\n",
                           "./l4 watch 'job 7'\n", "./l4 lines 'job 7' --rank 4\n",
                           "./l4 lines 'job 7' --node node-2\n", "./l4 incidents job.0.1\n"})
    CHECK_MESSAGE(has(kept, line), line);
  what.kept = false;
  const std::string gone = questions(what, kNarrow);
  CHECK(has(gone, "./l4 demo --keep\n"));
  CHECK_FALSE(has(gone, "L4_CLIENT"));
  CHECK_FALSE(has(gone, "4712"));
  what.logs = "/logs/a job";
  what.speed = 20;
  CHECK(has(questions(what, kNarrow), "./l4 demo --logs '/logs/a job' --speed 20 --keep\n"));
}

TEST_CASE("demo story: the opening says what is written, and how fast") {
  CHECK(has(opening({"/s/crash-rank4", true, 4, Millis{34'650}, 1}, kNarrow), "on 4 nodes"));
  const std::string own = opening({"/logs/job-7", false, 2, Millis{10'000}, 20}, kNarrow);
  CHECK(has(own, "The logs in /logs/job-7"));
  CHECK(has(own, "20 times as fast"));
  CHECK_FALSE(has(own, "--speed"));
  const std::string day = opening({"/logs/job-7", false, 2, std::chrono::hours{25}, 1}, kNarrow);
  CHECK(has(day, "25 h 0 min (--speed 1000: 90 s)"));
  const std::string half =
      opening({"/logs/job-7", false, 2, std::chrono::minutes{24}, 20}, kNarrow);
  CHECK(has(half, "24 min 0 s (--speed 500: 58 s)"));
  CHECK_FALSE(
      has(opening({"/logs/job-7", false, 2, std::chrono::hours{2}, 1000}, kNarrow), "--speed"));
}

TEST_CASE("demo story: without printed times none was moved") {
  CHECK(has(remarks(Millis{60'000}, {}, kNarrow), "were moved by 1 min 0 s"));
  CHECK_FALSE(has(remarks(std::nullopt, {}, kNarrow), "times  "));
  const std::string spread = remarks(std::nullopt, {"a.log prints no times"}, kNarrow);
  CHECK(has(spread, "times     a.log prints no times"));
}

}  // namespace
}  // namespace l4::commands::demo
