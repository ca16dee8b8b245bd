// Forms of progress: what a number counts by the words, brackets and bars around it.
#include "agent/segment/progress_grammar.h"
#include "agent/segment/progress_words.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace l4::segment {
namespace {

struct Expected {
  std::int64_t value = 0, total = 0;
  Unit unit = Unit::iteration;
  std::optional<std::int64_t> epoch = {};
};

/// The counter with the strongest sign; empty if there is none.
std::optional<Counter> best_of(const Counters& counters) {
  const Counter* best = nullptr;
  for (std::size_t i = 0; i < counters.size; ++i) {
    const Counter& one = counters.items[i];
    const bool counts = one.sign != Sign::none || one.in_epoch;
    if (counts && (best == nullptr || one.sign > best->sign)) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

TEST_CASE("kind: the number in each form of a progress line, and its epoch") {
  struct Row {
    const char* line;
    Expected expected;
  };
  const std::vector<Row> rows{
      // an epoch, and the inner counter in brackets behind it
      {"Epoch:[1/4](180/2200), loss:2.1, lr: 0.0003", {180, 2200, Unit::unknown, 1}},
      {"Epoch: [0][511/1736]\tTime  0.31 ( 0.33)\tLoss 6.2", {511, 1736, Unit::unknown, 0}},
      {"Epoch: [ 3]  [3900/4571]  eta: 0:00:44", {3900, 4571, Unit::unknown, 3}},
      {"Train Epoch: 7 [25600/50000 (51%)]\tLoss: 0.41", {25600, 50000, Unit::unknown, 7}},
      {"Epoch(train)  [2][ 150/3757]  lr: 1e-4", {150, 3757, Unit::unknown, 2}},
      {"| epoch   2 |   600/ 2983 batches | ms/batch 11.2 | loss 5.1",
       {600, 2983, Unit::iteration, 2}},
      {"[4/25][300/1583]\tLoss_D: 0.91\tLoss_G: 2.30", {300, 1583, Unit::unknown, 4}},
      {"[12,   450] loss: 0.812", {450, 0, Unit::iteration, 12}},
      {"[1, 2000] - accuracy 0.31 (12 ms)", {2000, 0, Unit::iteration, 1}},
      {"net: [ 7,  90] | lr 0.01", {90, 0, Unit::iteration, 7}},
      {"===== Round 12 =====", {12, 0, Unit::iteration}},
      {"fit progress: [round=7/40] loss 0.4", {7, 40, Unit::iteration}},
      {"round_idx: 3", {3, 0, Unit::iteration}},
      {"Epoch [3/10], Step [100/600], Loss: 0.15", {100, 600, Unit::iteration, 3}},
      {"[Epoch 1/200] [Batch 37/938] [D loss: 0.5]", {37, 938, Unit::iteration, 1}},
      {"Epoch[2] Batch [40]\tSpeed: 1272.29 samples/sec", {40, 0, Unit::iteration, 2}},
      {"Epoch 0 batch 17 loss 7.7", {17, 0, Unit::iteration, 0}},
      {"[step=120/2500,epoch=0]", {120, 2500, Unit::iteration, 0}},
      {"epoch=0/micro_step=8/global_step=4, RunningAvgSamplesPerSec=12",
       {8, 0, Unit::iteration, 0}},
      // an epoch alone
      {"Epoch 199: Train Loss: 0.021", {199, 0, Unit::epoch}},
      {"epoch: 12/50, acc 0.71", {12, 50, Unit::epoch}},
      {":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 0.31, \"metadata\": {\"epoch_num\": 5}}",
       {5, 0, Unit::epoch}},
      // a row of a table
      {"|    iterations           | 245         |", {245, 0, Unit::iteration}},
      {"| step | 120 |", {120, 0, Unit::iteration}},
      {"|  train_epoch  |  7  |", {7, 0, Unit::epoch}},
      // rounded
      {"| step       | 2.2e+04  |", {22000, 0, Unit::iteration}},
      {"global_step: 1.05e+03, loss: 8.1e-01", {1050, 0, Unit::iteration}},
      {"iteration 3e+02 | nll 2.1e+00", {300, 0, Unit::iteration}},
      {"{'loss': 2.5e+01, 'num_updates': 1.234E+05}", {123400, 0, Unit::iteration}},
      // a word
      {"global_step: 31, interval_runtime: 2.5", {31, 0, Unit::iteration}},
      {"{\"epoch\": 1.25, \"loss\": \"3.1\", \"num_updates\": \"30\"}", {30, 0, Unit::iteration}},
      {":::MLLOG {\"value\": {\"train_loss\": 2.1}, \"metadata\": {\"step\": 64.0}}",
       {64, 0, Unit::iteration}},
      {"INFO:tensorflow:loss = 8.14, step = 300 (30.2 sec)", {300, 0, Unit::iteration}},
      {"completed step: 9, seconds: 3.1, TFLOP/s/device: 130", {9, 0, Unit::iteration}},
      {"trainStep=12 lr=0.1", {12, 0, Unit::iteration}},
      {"batch index 3 done", {3, 0, Unit::iteration}},
      {"iteration 7 of 1000 done", {7, 1000, Unit::iteration}},
      {"seen samples: 4096", {4096, 0, Unit::sample}},
      {"Tick 17: score 4.1, time 3m 12s", {17, 0, Unit::iteration}},
      // groups of three
      {"<epoch: 2, step:  12,000, lr:1e-4> loss: 0.2", {12000, 0, Unit::iteration, 2}},
      {"iteration 1,250,000: nll 2.1", {1250000, 0, Unit::iteration}},
      {"update 4,500/10,000 loss 1.2", {4500, 10000, Unit::iteration}},
      {"batch 7,31 loss 0.4", {7, 0, Unit::iteration}},
      // a bar
      {" 34%|###4      | 31/90 [00:31<00:59,  1.00s/it]", {31, 90, Unit::iteration}},
      {"12000it [35:34,  7.00s/it]", {12000, 0, Unit::iteration}},
      {"Epoch 3:  10%|#   | 50/500 [00:10<01:30,  5.00it/s, loss=0.3]",
       {50, 500, Unit::iteration, 3}},
      {"120/938 [==>...........] - ETA: 3s - loss: 0.21", {120, 938, Unit::iteration}},
      {"120/938 \u2501\u2501\u2501 3s 2ms/step - loss: 0.21", {120, 938, Unit::iteration}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    Counters counters;
    find_counters(row.line, counters);
    const auto found = best_of(counters);
    REQUIRE(found);
    CHECK(found->value == row.expected.value);
    CHECK(found->total == row.expected.total);
    CHECK(found->unit == row.expected.unit);
    CHECK(counters.epoch == row.expected.epoch);
  }
}

TEST_CASE("kind: numbers that count something else, or nothing") {
  for (const char* line : {"2026-11-27 15:04:05 ready",
                           "loss 2.131",
                           "connected to 10.0.0.7:29500",
                           "rank 3 is here",
                           "Killing subprocess 4100",
                           "uploaded 3/4MB",
                           "done: 45%",
                           "v2.11",
                           "epochs = 3",
                           "node-7 joined",
                           "checkpoint-500",
                           "time: 8000",
                           "shard 12",
                           "24/11/2026",
                           "layer4.conv",
                           "loss 1.2e+02",
                           "step 1.25e+01",
                           "lr 3e-05",
                           "samples/s: 2.1e+04",
                           "step: 2e-03",
                           "iter-3e+02"}) {
    CAPTURE(line);
    Counters counters;
    find_counters(line, counters);
    CHECK_FALSE(best_of(counters));
  }
}

TEST_CASE("kind: what a bar shows") {
  const auto kind = [](const char* line) {
    Counters counters;
    find_counters(line, counters);
    REQUIRE(counters.bar);
    return counters.bar_kind;
  };
  CHECK(kind("  5%|#   | 5/100 [00:05<01:35,  1.00s/it]") == BarKind::training);
  CHECK(kind("Train:   5%|#   | 5/100 [00:05<01:35,  1.00s/it]") == BarKind::training);
  CHECK(kind("Epoch 1:   5%|#   | 5/100 [00:05<01:35,  1.00s/it]") == BarKind::training);
  CHECK(kind("rollout:   5%|#   | 5/100 [00:05<01:35,  1.00s/it]") == BarKind::other);
  CHECK(kind("Validation DataLoader 0:   5%|#   | 5/100 [00:05<01:35,  1.00it/s]") ==
        BarKind::evaluation);
  CHECK(kind("Evaluating:   5%|#   | 5/100 [00:05<01:35,  1.00it/s]") == BarKind::evaluation);
  CHECK(kind("Loading checkpoint shards:  50%|#   | 2/4 [00:05<01:35,  1.00s/it]") ==
        BarKind::preparation);
  CHECK(kind("model.safetensors:  50%|#   | 2/4 [00:05<01:35,  1.00MB/s]") == BarKind::preparation);
  CHECK(kind("Map (num_proc=8):  50%|#  | 500/1000 [00:05<01:35, 90.00 examples/s]") ==
        BarKind::preparation);
  for (const char* front : {"Applying template to train dataset", "Sorting the training data",
                            "Deduplicating train split"}) {
    CAPTURE(front);
    const std::string line = std::string(front) + ":  50%|#  | 5/10 [00:05<01:35, 9.0 examples/s]";
    CHECK(kind(line.c_str()) == BarKind::preparation);
  }
}

TEST_CASE("kind: a bar of samples that names no training and no measure works on the data") {
  const auto kind = [](std::string_view line) {
    Counters counters;
    find_counters(line, counters);
    REQUIRE(counters.bar);
    return counters.bar_kind;
  };
  for (const std::string_view line :
       {"Applying chat template (num_proc=8):  40%|##  | 4000/10000 [00:07<00:10, 576.1 "
        "examples/s]",
        "Adding BOS (num_proc=4):  10%|#   | 300/3000 [00:01<00:09, 210.53 images/s]",
        "Flattening the indices:  70%|### | 70/100 [00:01<00:00, 51.0 samples/s]",
        "Rendering:  12%|#   | 12/100 [00:10<01:13, 1.20 sequences/s]"}) {
    CAPTURE(line);
    CHECK(kind(line) == BarKind::preparation);
  }
  CHECK(kind("Fit:  40%|##  | 400/1000 [00:10<00:15, 39.2 samples/s, loss=2.13]") ==
        BarKind::other);
  CHECK(kind("Epoch 2:  40%|##  | 400/1000 [00:10<00:15, 39.2 samples/s]") == BarKind::training);
  CHECK(kind(" 40%|##  | 400/1000 [00:10<00:15, 39.2 samples/s]") == BarKind::training);
  CHECK(kind("rollout:  40%|##  | 400/1000 [00:10<00:15, 39.2it/s]") == BarKind::other);
}

TEST_CASE("every word of the table says in its example what the table says") {
  for (const ProgressWord& word : progress_words()) {
    CAPTURE(word.low);
    CAPTURE(word.example);
    Counters counters;
    find_counters(word.example, counters);
    const auto found = best_of(counters);
    const Company company = company_of(word.example);
    switch (word.says) {
      case Says::iteration:
        REQUIRE(found);
        CHECK(found->unit == Unit::iteration);
        break;
      case Says::epoch:
        REQUIRE(found);
        CHECK(found->unit == Unit::epoch);
        break;
      case Says::sample:
        REQUIRE(found);
        CHECK(found->unit == Unit::sample);
        break;
      case Says::number:
        REQUIRE(found);
        CHECK(found->value == 3);
        break;
      case Says::other_thing:
        CHECK_FALSE(found);
        break;
      case Says::measure:
        CHECK(company.measured);
        break;
      case Says::evaluation:
        CHECK(company.evaluation);
        break;
      case Says::training:
        CHECK(company.training);
        break;
      case Says::preparation:
        CHECK(company.preparation);
        break;
    }
  }
}

TEST_CASE("a line about training that also names an evaluation is about training") {
  CHECK_FALSE(company_of("Epoch 3: Train Loss 0.3, Val Loss 0.4").evaluation);
  CHECK_FALSE(company_of("938/938 - loss: 0.2 - val_loss: 0.3").evaluation);
  CHECK(company_of("Epoch 3 valid_loss 0.4").evaluation);
}

TEST_CASE("any bytes can be read") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  constexpr std::string_view kSigns = "0123456789 [](){}/|%:=.,-_epochstbaniu\xE2\x94\x81\"'";
  for (int round = 0; round < 20'000; ++round) {
    std::string line(random() % 60, ' ');
    for (char& c : line) c = kSigns[random() % kSigns.size()];
    Counters counters;
    find_counters(line, counters);
    REQUIRE(counters.size <= Counters::kMax);
    if (counters.bar) REQUIRE(*counters.bar < counters.size);
    for (std::size_t i = 0; i < counters.size; ++i) {
      CHECK(counters.items[i].value >= 0);
      CHECK((counters.items[i].total == 0 || counters.items[i].total >= counters.items[i].value));
    }
    (void)epoch_in(line);
    (void)company_of(line);
  }
}

}  // namespace
}  // namespace l4::segment
