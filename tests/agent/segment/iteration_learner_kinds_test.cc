// The learner finds the marker of a framework without a rule pack: kinds of counters that were
// taken for the marker, or not, and should not have been.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/agent/segment/learning.h"

namespace l4::segment {
namespace {

using test::is_steady;
using test::kUntimed;
using test::learn;
using test::Learned;
using test::LineOf;
using test::repeat;

/// Lines of training, each followed by what `beside` adds to line i.
std::vector<std::string> training(const LineOf& line,
                                  const std::function<std::vector<std::string>(int)>& beside) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 100; ++i) {
    lines.push_back(line(i));
    for (std::string& more : beside(i)) lines.push_back(std::move(more));
  }
  return lines;
}

TEST_CASE("a table of a notebook counts by its head, and a line that looks like a row does not") {
  std::vector<std::string> lines{"Step\tTraining Loss"};
  for (int i = 1; i <= 40; ++i) lines.push_back(fmt::format("{}\t{:.6f}", i, 2.0 / i));
  lines.insert(lines.end(), {"KeyboardInterrupt", "449", "451"});
  const Learned learned = learn(lines);
  REQUIRE_FALSE(learned.completed.empty());
  CHECK(learned.completed.back() == 40);
  CHECK(is_steady(learned.completed, 1));
}

TEST_CASE("a loss that is no number any more goes on as the marker") {
  const Learned learned = learn(repeat(
      [](int i) {
        return i < 30 ? fmt::format(" {}: {:.3f}, 5.1 avg loss, {} images", i, 9.0 / i, 64 * i)
                      : fmt::format(" {}: -nan, -nan avg loss, {} images", i, 64 * i);
      },
      60));
  REQUIRE_FALSE(learned.completed.empty());
  CHECK(learned.completed.back() == 60);
}

TEST_CASE("kind: the first line of training counts behind hundreds of lines of settings") {
  for (const char* marker :
       {"Epoch [1][50/9870]\tlr: 1e-3, time: 0.5, loss: 0.3",
        "E: 1 iter 20/400 loss 2.71 grad_norm 1.2", "[Epoch 3] step 7 / 90 loss=0.12 lr=3e-4"}) {
    std::vector<std::string> lines;
    for (int i = 0; i < 400; ++i)
      lines.push_back(fmt::format("key_{}_{} = dict(size={}, ratio={})",
                                  std::string(1 + i % 7, 'a'), std::string(1 + i / 7, 'b'),
                                  i * 7919 % 97, i % 9));
    lines.emplace_back(marker);
    CAPTURE(marker);
    CHECK(learn(lines).completed.size() == 1);
  }
}

TEST_CASE("kind: a table that is printed at each iteration, a number a row") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 30; ++i) {
    lines.emplace_back("-----------------------------");
    lines.push_back(fmt::format("| time/              | {:<7}|", ""));
    lines.push_back(fmt::format("|    fps             | {:<7}|", 700 + i % 7));
    lines.push_back(fmt::format("|    iterations      | {:<7}|", i));
    lines.push_back(fmt::format("|    total_timesteps | {:<7}|", 2048 * i));
    lines.push_back(fmt::format("|    loss            | {:<7}|", 2.0 / i));
    lines.push_back(fmt::format("|    n_updates       | {:<7}|", 10 * i));
    lines.emplace_back("-----------------------------");
  }
  const Learned learned = learn(lines);
  REQUIRE(learned.completed.size() >= 25);
  CHECK(learned.completed.back() == 30);
  CHECK(is_steady(learned.completed, 1));
}

TEST_CASE("kind: the training's counter wins whatever else counts beside it") {
  const std::vector<std::pair<const char*, LineOf>> clocks{
      {"step", [](int i) { return fmt::format("step {} loss {:.4f} lr 3e-4", i, 5.0 / i); }},
      {"update", [](int i) { return fmt::format("num_updates: {} | gnorm 0.{}", i, i); }},
      {"brackets",
       [](int i) { return fmt::format("Epoch: [2][{:4}/100]  Time 0.{}  Loss 1.{}", i, i, i); }},
  };
  using Beside = std::function<std::vector<std::string>(int)>;
  const std::vector<std::pair<const char*, Beside>> others{
      {"an evaluation every 25 steps",
       [](int i) {
         std::vector<std::string> lines;
         for (int k = 1; i % 25 == 0 && k <= 40; ++k)
           lines.push_back(fmt::format("Test: [{}/40]  Time 0.1  Loss 1.5", k));
         return lines;
       }},
      {"samples that were written",
       [](int i) { return std::vector{fmt::format("wrote sample {} to disk", 7 * i)}; }},
      {"a shard counter",
       [](int i) { return std::vector{fmt::format("opened shard {}/900 of the data", i)}; }},
      {"a tokenizer",
       [](int i) { return std::vector{fmt::format("tokenized {}/90000 documents", 50 * i)}; }},
  };
  for (const auto& [clock, line] : clocks)
    for (const auto& [other, beside] : others) {
      CAPTURE(clock);
      CAPTURE(other);
      const Learned learned = learn(training(line, beside));
      CHECK(learned.completed.size() >= 90);
      REQUIRE_FALSE(learned.completed.empty());
      CHECK(learned.completed.back() == 100);
      CHECK(is_steady(learned.completed, 1));
    }
}

TEST_CASE("kind: what loads before training loses to the training that follows") {
  for (const char* before : {"Downloading data: {0}%|#   | {0}/100 [00:{0}<00:09, 1.1MB/s]",
                             "Tokenizing train dataset: {0}%|#  | {0}/100 [00:{0}<00:09, 99it/s]",
                             "prefill: {0}%|#   | {0}/100 [00:{0}<00:09, 2.1it/s]"}) {
    CAPTURE(before);
    std::vector<std::string> lines;
    for (int i = 10; i < 100; i += 10) lines.push_back(fmt::format(fmt::runtime(before), i));
    for (int i = 1; i <= 400; ++i)
      lines.push_back(
          fmt::format(" {}%|#   | {}/400 [{:02}:00<01:00, 60.0s/it]", i / 4, i, i % 60));
    const Learned learned = learn(lines);
    REQUIRE(learned.completed.size() > 200);
    CHECK(learned.completed.back() == 400);
    CHECK(is_steady({learned.completed.end() - 200, learned.completed.end()}, 1));
  }
}

TEST_CASE("kind: a bar of many counts that takes no time does not outlast the training's") {
  for (const char* name : {"", "rows: ", "hashes of files: "})
    for (const bool quick : {true, false}) {
      CAPTURE(name);
      CAPTURE(quick);
      IterationLearner learner;
      std::optional<std::int64_t> last;
      std::uint64_t line = 0;
      const auto draw = [&](const std::string& bar) {
        if (const auto read =
                learner.observe(LocalTemplateId{7}, bar, {++line, std::nullopt}, {.drawn = true}))
          last = read->progress.number;
      };
      for (int i = 1; i <= 60; ++i)
        draw(fmt::format(" {}%|##   | {}/60 [{:02}:00<00:30,  1.00s/it]", i * 100 / 60, i, i / 2));
      for (int i = 1; i <= 40; ++i)
        draw(fmt::format("{}{}%|##   | {}/20000 [{}<00:30,  90.0it/s]", name, i * 100 / 40, i * 500,
                         quick ? "00:01" : fmt::format("{}:00:00", i)));
      CHECK((last == 60) == quick);
    }
}

TEST_CASE("kind: a counter goes on where its digits fill the room before it") {
  const std::vector<std::pair<const char*, LineOf>> forms{
      {"in an epoch",
       [](int i) { return fmt::format("Epoch: [3] [{:4}/1200] loss: {}.1 eta: 0:01", 10 * i, i); }},
      {"after a word",
       [](int i) { return fmt::format("iteration [{:4}/1200] loss {}.1 time 3.1", 10 * i, i); }},
      {"alone", [](int i) { return fmt::format("train | {:4}/1200 | loss {}.1", 10 * i, i); }},
  };
  for (const auto& [what, line] : forms) {
    CAPTURE(what);
    const Learned learned = learn(repeat(line, 115));
    REQUIRE_FALSE(learned.completed.empty());
    CHECK(learned.printed_last == 1150);
    CHECK(learned.numberings == 1);
  }
}

TEST_CASE("kind: a counter goes on in another epoch, on lines of another template") {
  const std::vector<std::pair<const char*, LineOf>> forms{
      {"with a field more",
       [](int i) {
         return fmt::format("Epoch: [{}][{}/50] loss: {}.1{}", i / 50, i % 50, i,
                            i < 100 ? "" : " etc: 3 mem: 12 of all kinds");
       }},
      {"with blanks",
       [](int i) {
         return fmt::format("Epoch [{:2}] [{:2}/50] loss {}.1 time 3.1", 5 + i / 50, i % 50, i);
       }},
      {"by words",
       [](int i) {
         return fmt::format("epoch {}, step {}/50, loss {}.1{}", i / 50, i % 50, i,
                            i < 100 ? "" : ", lr reduced once now");
       }},
  };
  for (const auto& [what, line] : forms) {
    CAPTURE(what);
    const Learned learned = learn(repeat(line, 148));
    REQUIRE_FALSE(learned.completed.empty());
    CHECK(learned.printed_last == 48);
    CHECK(learned.completed.back() >= 148);
  }
}

TEST_CASE("kind: an inner counter that begins again in each epoch goes on") {
  const std::vector<std::function<std::string(int, int)>> forms{
      [](int e, int i) { return fmt::format("Epoch:[{}/3]({}/50), loss:1.{}", e, i, i); },
      [](int e, int i) {
        return fmt::format("Train Epoch: {} [{}/3200 (1%)] Loss: 1.{}", e, i * 64, i);
      },
      [](int e, int i) {
        return fmt::format("[{}/3][{}/50] Loss_D: 0.{} Loss_G: 2.{}", e, i, i, i);
      },
      [](int e, int i) {
        return fmt::format("epoch {} | {:3}/ 50 batches | ms/batch 3.{}", e, i, i);
      },
      [](int e, int i) { return fmt::format("[step={}/50,epoch={}]", i, e); },
  };
  for (const auto& form : forms) {
    std::vector<std::string> lines;
    for (int e = 1; e <= 3; ++e)
      for (int i = 1; i <= 50; ++i) lines.push_back(form(e, i));
    CAPTURE(lines.front());
    const Learned learned = learn(lines);
    REQUIRE(learned.completed.size() >= 148);
    CHECK(std::ranges::is_sorted(learned.completed));
    const std::int64_t stride = learned.completed[5] - learned.completed[4];
    CHECK(learned.completed.back() == 150 * stride);
    CHECK(learned.printed_last == 50 * stride);
    CHECK(learned.numberings == 1);
  }
}

TEST_CASE("kind: a marker whose line changes its words goes on, over epochs, too") {
  using Form = std::function<std::string(int, int, bool)>;
  for (const Form& form : {
           Form([](int e, int i, bool late) {
             return fmt::format("Epoch: [{}] [{:5}/5000] lr: 0.1 loss: 1.{} eta: {}", e, 100 * i, i,
                                late ? "21:10:05" : "1 day, 3:10:05");
           }),
           Form([](int e, int i, bool late) {
             return fmt::format("Epoch[{}][{}/5000]: loss 0.{}, {}", e, 100 * i, i,
                                late ? "3 h left" : "2 days and 3 h left");
           }),
           Form([](int e, int i, bool late) {
             return fmt::format("epoch {} ({}/5000) loss=1.{}{}", e, 100 * i, i,
                                late ? "" : " (warming up)");
           }),
       }) {
    std::vector<std::string> lines;
    for (int e = 1; e <= 6; ++e)
      for (int i = 0; i < 50; ++i) lines.push_back(form(e, i, e > 3 || (e == 3 && i > 20)));
    CAPTURE(lines.front());
    const Learned learned = learn(lines);
    REQUIRE(learned.completed.size() >= 290);
    CHECK(std::ranges::is_sorted(learned.completed));
    CHECK(learned.printed_last == 4900);
    CHECK(learned.numberings == 1);
  }
}

TEST_CASE("kind: a bar that is drawn again with its number completes nothing") {
  using Bar = std::function<std::string(int, const char*)>;
  for (const Bar& bar : {
           Bar([](int n, const char* took) {
             return fmt::format("{:3}%|##        | {}/40 [{}<?, ?it/s]", n * 100 / 40, n, took);
           }),
           Bar([](int n, const char* took) {
             return fmt::format("Training: {}%|█         | {}/40 [{}<09:00, 3.1s/it]", n * 100 / 40,
                                n, took);
           }),
           Bar([](int n, const char* took) {
             return fmt::format("epoch 1: {}%|▏    | {}/40 [{}<09:00, 3.1s/it, loss=2.1]",
                                n * 100 / 40, n, took);
           }),
       }) {
    std::vector<std::string> lines;
    for (int i = 0; i <= 7; ++i) lines.push_back(bar(i, "00:10"));
    CAPTURE(lines.front());
    const auto before = learn(lines).completed;
    REQUIRE(!before.empty());
    CHECK(before.back() == 7);
    lines.emplace_back("torch.OutOfMemoryError: out of memory");
    lines.push_back(bar(7, "00:41"));
    CHECK(learn(lines).completed == before);
    lines = {bar(0, "00:00"), "torch.OutOfMemoryError: out of memory", bar(0, "00:29")};
    CHECK(learn(lines).completed == learn({lines.front()}).completed);
  }
}

TEST_CASE("kind: an evaluation that counts steps by the same word does not go on the training") {
  struct Row {
    const char* training;
    const char* evaluation;
  };
  for (const Row& row :
       {Row{"[train][1] progress: 1/1 step: {}, time: 45.8, speed: 2.1 steps/s",
            "step {}:loss: 9.8, acc: 0.41"},
        Row{"iter {} loss 2.1 lr 0.1", "iter {} | loss 2.2 | ppl 9.1"},
        Row{"update: {}, loss: 0.3, wps: 900", "update {} of the set, loss 0.4"}}) {
    CAPTURE(row.training);
    std::vector<std::string> lines;
    for (int i = 1; i <= 30; ++i) {
      lines.push_back(fmt::format(fmt::runtime(row.training), 100 * i));
      if (i % 10 != 0) continue;
      for (int k = 1; k <= 70; ++k)
        lines.push_back(fmt::format(fmt::runtime(row.evaluation), 100 * k));
    }
    const Learned learned = learn(lines);
    CHECK(learned.printed_last == 3000);
    CHECK(learned.numberings <= 3);  // the first evaluation may outlast what was seen of training
    REQUIRE(learned.completed.size() > 20);
    CHECK(is_steady({learned.completed.end() - 20, learned.completed.end()}, 100));
  }
}

TEST_CASE("kind: a number that falls as often as it grows counts nothing") {
  // The length of a queue: it grows four times in a row now and then.
  std::mt19937 random(7);
  std::vector<std::string> lines;
  for (int i = 0; i < 400; ++i)
    lines.push_back(fmt::format("prefetch queue holds {} batches", random() % 8));
  for (int i = 0; i < 6; ++i) lines.push_back(fmt::format("prefetch queue holds {} batches", i));
  CHECK(learn(lines).completed.empty());
  // A counter that begins again now and then, as that of a short evaluation, is still one.
  lines.clear();
  for (int i = 0; i < 60; ++i) lines.push_back(fmt::format("processed batch {}", i % 12));
  CHECK_FALSE(learn(lines).completed.empty());
}

TEST_CASE("kind: a number that mostly has a fraction counts nothing") {
  std::vector<std::string> lines;
  for (int i = 0; i < 400; ++i)
    lines.push_back(fmt::format("time (ms) | fwd_step: {}.{:02}", 600 + i, i * 37 % 100));
  CHECK(learn(lines).completed.empty());
  // A program may keep the number of its step in a float.
  lines.clear();
  for (int i = 0; i < 40; ++i) lines.push_back(fmt::format("time (ms) | step: {}.0", i));
  CHECK_FALSE(learn(lines).completed.empty());
}

}  // namespace
}  // namespace l4::segment
