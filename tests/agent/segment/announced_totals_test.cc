// What a run's settings announce, and what is no total of the run.
#include "agent/segment/announced_totals.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "agent/segment/epoch_counter.h"

namespace l4::segment {
namespace {

TEST_CASE("kind: settings that print how many epochs or iterations a run will have") {
  for (const auto& [line, epochs] : std::vector<std::pair<std::string, std::int64_t>>{
           {"Namespace(batch=8, n_epochs=14, lr=0.1)", 14},
           {"  EPOCHS: 60", 60},
           {"TRAIN.MAX_EPOCH: 90", 90},
           {"{\"optimizer\": \"lamb\", \"epochs\": 45}", 45},
           {"args = ['--data', 'x', '--epochs', '7']", 7},
           {"python train.py --epochs 7 --lr 0.1", 7},
           {"| num_train_epochs | 3.0 |", 3},
           {"  Num Epochs = 12", 12},
           {"maxEpochs: 25,", 25},
           {"runner - INFO - max: 18 epochs", 18},
           {"Start training for 300 epochs", 300},
           {"Total epochs: 11", 11}}) {
    CAPTURE(line);
    CHECK(find_announced(line).epochs == epochs);
    CHECK_FALSE(find_announced(line).iterations.has_value());
  }
  for (const auto& [line, iterations] :
       std::vector<std::pair<std::string, std::int64_t>>{{"max_steps: 2500", 2500},
                                                         {"trainer.max_iters=90000", 90000},
                                                         {"  Total optimization steps = 8,", 8},
                                                         {"'num_train_steps': 750}", 750},
                                                         {"train_iters ................. 500", 0},
                                                         {"max_update=40", 40}}) {
    CAPTURE(line);
    CHECK(find_announced(line).iterations.value_or(0) == iterations);
  }
}

TEST_CASE("kind: settings and lines that count something else announce nothing") {
  for (const char* line : {"warmup_epochs=5",
                           "save_every_n_epochs: 10",
                           "lr_decay_epochs = 30",
                           "start_epoch=7",
                           "No improvement for 5 epochs",
                           "epochs_per_eval: 4",
                           "Train step: 120, loss 2.1",
                           "Train Epoch: 7 [640/60000 (1%)]",
                           "Training epoch = 7",
                           "epochs: 0.5",
                           "epochs=-1",
                           "Completed epochs: 5",
                           "logging_steps=10",
                           "gradient accumulation steps: 8",
                           "num_inference_steps=50",
                           "last 5 epochs",
                           "step 7: max 9",
                           "max_steps=-1",
                           "epochs",
                           "epochs:",
                           "steps = 30",
                           "after 40 epochs",
                           "resume at epochs=2e3",
                           ""})
    CHECK_MESSAGE(!find_announced(line).any(), line);
}

/// The reach of the last of the numbers, each of an epoch.
wire::Reach last_reach(const std::vector<std::pair<std::int64_t, std::int64_t>>& numbers,
                       std::optional<std::int64_t> total, const AnnouncedTotals& announced,
                       MarkerKind kind = {}) {
  EpochCounter counter;
  wire::Reach reach = wire::Reach::unknown;
  for (const auto& [epoch, number] : numbers) {
    if (epoch >= 0) counter.enter(epoch, true);
    counter.count(number, total);
    reach = counter.reach(number, total, announced, kind);
  }
  return reach;
}

TEST_CASE("kind: the last printed number of the last epoch, where each tenth is printed") {
  using enum wire::Reach;
  const AnnouncedTotals two{2, std::nullopt};
  CHECK(last_reach({{1, 10}, {1, 20}, {2, 10}, {2, 20}}, 27, two) == total);
  CHECK(last_reach({{1, 10}, {1, 20}, {2, 10}}, 27, two) == before);
  CHECK(last_reach({{1, 10}, {1, 20}}, 27, two) == pass);
  CHECK(last_reach({{0, 10}, {0, 20}, {1, 10}, {1, 20}}, 27, two) == total);  // epochs from 0
  // Numbers that go on over epochs: the total beside them is that of the run.
  CHECK(last_reach({{1, 10}, {1, 20}, {2, 30}, {3, 40}}, 40, {}) == total);
  CHECK(last_reach({{1, 10}, {1, 20}, {2, 30}}, 40, {}) == before);
  CHECK(last_reach({{0, 10}, {0, 20}, {1, 10}, {1, 20}}, 27, {}) == pass);
  // Without a printed total the epochs before tell it.
  CHECK(last_reach({{1, 10}, {1, 20}, {2, 10}, {2, 20}}, std::nullopt, two) == total);
  CHECK(last_reach({{1, 10}, {1, 20}, {2, 10}}, std::nullopt, two) == unknown);
  // Numbers from 0 end one below their total; a bar shows each number.
  CHECK(last_reach({{-1, 0}, {-1, 1}, {-1, 2}}, 3, {}) == total);
  CHECK(last_reach({{-1, 1}, {-1, 2}}, 3, {}) == before);
  CHECK(last_reach({{-1, 0}, {-1, 1}, {-1, 2}}, 3, {}, {.drawn = true}) == before);
}

TEST_CASE("kind: a counter without a total comes to the announced one, and never short of it") {
  using enum wire::Reach;
  const AnnouncedTotals announced{5, 120};
  CHECK(last_reach({{-1, 100}, {-1, 120}}, std::nullopt, announced) == total);
  CHECK(last_reach({{-1, 50}, {-1, 100}}, std::nullopt, announced) == total);  // next: 150
  CHECK(last_reach({{-1, 20}, {-1, 40}}, std::nullopt, announced) == unknown);
  CHECK(last_reach({{-1, 120}, {-1, 140}}, std::nullopt, announced) == unknown);
  CHECK(last_reach({{-1, 3}, {-1, 4}}, std::nullopt, announced, {.epochs = true}) == unknown);
  CHECK(last_reach({{-1, 4}, {-1, 5}}, std::nullopt, announced, {.epochs = true}) == total);
  CHECK(last_reach({{-1, 0}, {-1, 4}}, std::nullopt, {}, {.epochs = true}) == unknown);
}

}  // namespace
}  // namespace l4::segment
