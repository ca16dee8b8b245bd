// The learner finds the marker of a framework without a rule pack.
#include "agent/segment/iteration_learner.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
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

TEST_CASE("the step line of a framework nobody knows is its marker") {
  struct Row {
    const char* name;
    LineOf line;
    std::int64_t step = 1;
  };
  const std::vector<Row> rows{
      {"keras", [](int i) { return fmt::format("step {} loss {:.4f}", i, 5.0 / i); }},
      {"equals",
       [](int i) { return fmt::format("global_step={} lr=0.0{} ppl={:.2f}", i, i % 7, 9.5 / i); }},
      {"colon", [](int i) { return fmt::format("Iter: {} | grad {:.3f}", i, 1.0 / i); }},
      {"bracket",
       [](int i) { return fmt::format("iteration [{}] took {:.1f} ms", i, 300 + i % 9 * .5); }},
      {"total",
       [](int i) { return fmt::format("iteration {} of 1000 done, loss {:.3f}", i, 4.0 / i); }},
      {"every tenth", [](int i) { return fmt::format("step {} loss {:.4f}", 10 * i, 5.0 / i); },
       10},
      {"batch",
       [](int i) { return fmt::format("batch {} finished, {:.2f} tokens/s", i, 9000.5 + i % 5); }},
      {"json", [](int i) { return fmt::format("{{\"step\": {}, \"loss\": {:.5f}}}", i, 3.0 / i); }},
      {"bare",
       [](int i) { return fmt::format("round {} ended with a score of {:.3f}", i, 1.0 / i); }},
      {"epochs alone", [](int i) { return fmt::format("Epoch {} begins", i); }},
      {"number and colon",
       [](int i) {
         return fmt::format("{}: {:.4f}, {:.4f} avg loss, 0.0026 rate, 6.1 seconds", i, 90.0 / i,
                            95.0 / i);
       }},
      {"boosting",
       [](int i) {
         return fmt::format("[{}]\ttrain-logloss:{:.5f}\ttrain-error:{:.5f}", i, 0.7 / i, 0.3 / i);
       }},
      {"number in brackets", [](int i) { return fmt::format("[{}] mse {:.3f}", 5 * i, 3.0 / i); },
       5},
      {"dots", [](int i) { return fmt::format("Step... ({} | Loss: {:.3f})", 500 * i, 5.0 / i); },
       500},
      {"bar without percent",
       [](int i) {
         return fmt::format("[{}/1230 00:{:02} < 2:52:41, 0.11 it/s, Epoch 0.08/1]", i, i % 60);
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.name));
    const Learned learned = learn(repeat(row.line, 60));
    CHECK_FALSE(learned.marker.empty());
    CHECK(learned.completed.size() >= 40);
    REQUIRE_FALSE(learned.completed.empty());
    CHECK(learned.completed.back() == 60 * row.step);
    CHECK(is_steady(learned.completed, row.step));
  }
}

TEST_CASE("frameworks with a pack are found without it") {
  const std::vector<std::pair<const char*, LineOf>> rows{
      {"megatron",
       [](int i) {
         return fmt::format(
             "iteration {:8}/    1000 | consumed samples: {:12} | elapsed time per iteration (ms): "
             "301.{} | lm loss: {:.6f}E+00 |",
             i, i * 32, i % 10, 5.0 / i);
       }},
      {"deepspeed",
       [](int i) {
         return fmt::format("step={} time (ms) | fwd: 40.{} | bwd_inner: 72.{} | step: 3.7", i,
                            i % 9, i % 8);
       }},
      {"torchtitan",
       [](int i) {
         return fmt::format("step: {}  loss: {:.4f}  memory: 30.99GiB(32.62%)  tps: 7,0{:02}", i,
                            10.0 / i, i % 97);
       }},
      {"nemo",
       [](int i) {
         return fmt::format("Training epoch 0, iteration {} | lr: 1.9e-06 | loss: {:.2f}", i,
                            9.0 / i);
       }},
      {"plain",
       [](int i) { return fmt::format("iter {}: loss {:.4f}, time 135.{}ms", i, 2.4 / i, i % 9); }},
  };
  for (const auto& [name, line] : rows) {
    CAPTURE(name);
    const Learned learned = learn(repeat(line, 60));
    CHECK(learned.completed.size() >= 40);
    REQUIRE_FALSE(learned.completed.empty());
    CHECK(learned.completed.back() == 60);
    CHECK(is_steady(learned.completed, 1));
  }
}

TEST_CASE("numbers that count other things are no marker") {
  const std::vector<std::pair<const char*, LineOf>> rows{
      {"date",
       [](int i) { return fmt::format("2026-11-{:02} backup of the day is ready", i % 28 + 1); }},
      {"clock",
       [](int i) { return fmt::format("heartbeat at 15:{:02}:{:02} is fine", i / 60, i % 60); }},
      {"loss", [](int i) { return fmt::format("loss {:.3f}", 5.0 - i * 0.001); }},
      {"loss that is whole", [](int i) { return fmt::format("loss {}.0", 1000 - i); }},
      {"size", [](int i) { return fmt::format("uploaded shard of {}MiB", 100 + i); }},
      {"address", [](int i) { return fmt::format("connected to 10.0.0.{}:29500", i); }},
      {"host", [](int i) { return fmt::format("node-{} joined", i); }},
      {"process", [](int i) { return fmt::format("Killing subprocess {}", 41000 + i); }},
      {"rank", [](int i) { return fmt::format("rank {} is here", i); }},
      {"share", [](int i) { return fmt::format("done: {}%", i); }},
      {"channel", [](int i) { return fmt::format("NCCL INFO Channel {:02}/32 : 0 1 2", i % 32); }},
      {"version", [](int i) { return fmt::format("loaded plugin v2.{}", i); }},
      {"random", [](int i) { return fmt::format("step took {} us", i * 7919 % 1000); }},
      {"falling", [](int i) { return fmt::format("{} batches left", 1000 - i); }},
      {"constant", [](int) { return std::string("waiting for step 7"); }},
  };
  for (const auto& [name, line] : rows) {
    CAPTURE(name);
    const Learned learned = learn(repeat(line, 80));
    CHECK(learned.marker == "");
    CHECK(learned.completed.empty());
  }
}

TEST_CASE("a checkpoint's iteration is not the marker where iterations are printed") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 200; ++i) {
    lines.push_back(fmt::format("step {} loss {:.4f}", i, 5.0 / i));
    if (i % 10 == 0) {
      lines.push_back(fmt::format("saving checkpoint at iteration {} to /mnt/ckpt", i));
      lines.push_back(fmt::format("saved checkpoint of iteration {} in 0.7 s", i));
    }
  }
  const Learned learned = learn(lines);
  CHECK(learned.marker.find("loss") != std::string::npos);
  CHECK(learned.completed.size() >= 150);
  CHECK(learned.completed.back() == 200);
  CHECK(is_steady(learned.completed, 1));
}

TEST_CASE("the finest step wins whichever line is convincing first") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 100; ++i) {
    if (i > 60) lines.push_back(fmt::format("iter {} took {:.1f} ms", i, 300 + i % 9 * .5));
    if (i % 5 == 0) lines.push_back(fmt::format("step {} loss {:.4f}", i, 5.0 / i));
  }
  const Learned learned = learn(lines);
  REQUIRE(learned.completed.size() > 30);
  CHECK(learned.completed.back() == 100);
  CHECK(is_steady({learned.completed.end() - 30, learned.completed.end()}, 1));
}

TEST_CASE("a restart from a checkpoint does not lose the marker") {
  std::vector<std::string> lines = repeat([](int i) { return fmt::format("step {} ok", i); }, 40);
  for (int i = 31; i <= 60; ++i) lines.push_back(fmt::format("step {} ok", i));
  const Learned learned = learn(lines);
  CHECK(learned.completed.back() == 60);
  CHECK(std::ranges::count(learned.completed, 35) == 2);
}

TEST_CASE(
    "kind: a bare number beside a loss is a marker without any time, and no other number is") {
  const std::vector<LineOf> forms{
      [](int i) { return fmt::format("{} | loss {:.4f} | lr 3.1e-4 | 165.11ms", i, 3.0 / i); },
      [](int i) { return fmt::format("{:06d}: loss={:.3f}", 10 * i, 3.0 / i); },
      [](int i) { return fmt::format("[{}] train_loss {:.3f} tok/s 9031", i, 3.0 / i); },
      [](int i) { return fmt::format("{{\"i\": {}, \"loss\": {:.3f}}}", i, 3.0 / i); }};
  for (const LineOf& form : forms) {
    CAPTURE(form(1));
    const Learned learned = learn(repeat(form, 60), kUntimed);
    CHECK(learned.completed.size() >= 40);
    CHECK(learn(repeat(form, 10), kUntimed).completed.empty());
  }
  const std::vector<LineOf> others{
      [](int i) { return fmt::format("{} | conv | {} params", i, 64 * i); },
      [](int i) { return fmt::format("{}: val_loss {:.3f}", i, 3.0 / i); },
      [](int i) { return fmt::format("{} of the files are loaded, time {:.2f}", i, 0.1 * i); },
      [](int i) { return fmt::format("{} | loss {:.4f}", i * 7919 % 1000, 3.0 / i); }};
  for (const LineOf& form : others) {
    CAPTURE(form(1));
    CHECK(learn(repeat(form, 60), kUntimed).completed.empty());
  }
}

TEST_CASE("few lines convince nobody") {
  CHECK(learn({"step 1 ok", "step 2 ok"}).completed.empty());
  CHECK(learn({}).completed.empty());
  CHECK(learn({"no number at all", "none here either"}).completed.empty());
}

TEST_CASE("a marker behind more templates than can be watched is found") {
  std::vector<std::string> lines;
  for (int i = 0; i < 400; ++i)
    lines.push_back(fmt::format("def function_{0}_of_{0}(self): return {1}",
                                std::string(1 + i % 7, 'a') + std::to_string(i), i % 3));
  for (int i = 1; i <= 200; ++i) lines.push_back(fmt::format("step {} loss {:.4f}", i, 5.0 / i));
  const Learned learned = learn(lines);
  REQUIRE_FALSE(learned.completed.empty());
  CHECK(learned.completed.back() == 200);
}

TEST_CASE("a step kept in a float, one that leaps, one that every rank prints") {
  const auto last = [](const LineOf& line) {
    const Learned learned = learn(repeat(line, 40));
    return learned.completed.empty() ? -1 : learned.completed.back();
  };
  CHECK(last([](int i) {
          return fmt::format("{{\"step\": {}.0, \"loss\": {:.4f}}}", i, 5.0 / i);
        }) == 40);
  CHECK(last([](int i) { return fmt::format("iter {} done in 2.{} s", i + i / 3, i); }) == 53);
  CHECK(last([](int i) { return fmt::format("step {} done in 2.{} s", i / 4, i); }) == 10);
}

TEST_CASE("all drawings of a bar are one marker; a loading bar is no marker") {
  const auto bar = [](const char* what, int i) {
    return fmt::format("{}{:3}%|{:<10}| {}/80 [00:0{}<00:09, 1.{}1it/s]", what, i * 100 / 80,
                       std::string(static_cast<std::size_t>(i) / 8, '#'), i, i % 9, i % 9);
  };
  const Learned training = learn(repeat([&](int i) { return bar("Fitting: ", i); }, 40));
  REQUIRE_FALSE(training.completed.empty());
  CHECK(training.completed.back() == 40);
  CHECK(learn(repeat([&](int i) { return bar("Loading weights: ", i); }, 40)).completed.empty());
}

TEST_CASE("a marker that takes over numbers anew") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 30; ++i) lines.push_back(fmt::format("copied block {:3} of the set", i));
  for (int i = 1; i <= 30; ++i) lines.push_back(fmt::format("step {} loss 1.{}", i, i));
  const Learned learned = learn(lines);
  CHECK(learned.numberings == 2);
  CHECK(learned.completed.back() == 30);
}

TEST_CASE("numbers too long to be counted do no harm") {
  const auto line = [](int i) { return fmt::format("step 99999999999999999999{} ok", i); };
  CHECK(learn(repeat(line, 30)).completed.empty());
}

}  // namespace
}  // namespace l4::segment
