#include "agent/segment/figures.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace l4;
using namespace l4::segment;
using wire::FigureKind;

namespace {

/// The numbers of a line, as "name=value", in order.
std::string numbers_of(std::string_view line) {
  std::string all;
  for (const Figure& figure : find_figures(line)) {
    const auto value = read_figure(line, figure, {});
    REQUIRE(value);
    all += (all.empty() ? "" : " ") + figure.name + "=" + std::to_string(*value).substr(0, 5);
  }
  return all;
}

}  // namespace

TEST_CASE("figures: each form reads its own example") {
  for (const FigureForm& form : figure_forms()) {
    INFO(std::string(form.example));
    bool found = false;
    for (const Figure& figure : find_figures(form.example)) {
      if (figure.name != form.name) continue;
      found = true;
      CHECK(figure.kind == form.kind);
      const auto value = read_figure(form.example, figure, {});
      REQUIRE(value);
      CHECK((*value == form.value || (std::isnan(*value) && std::isnan(form.value))));
    }
    CHECK(found);
  }
}

TEST_CASE("figures: lines of many frameworks") {
  CHECK(numbers_of(
            " iteration 1/ 2000 | consumed samples: 512 | learning rate: 1.0E-04 | lm loss: "
            "8.9477E+00 | loss scale: 1.0 | grad norm: 0.513 | number of nan iterations: 0 |") ==
        "lm loss=8.947 loss scale=1.000 grad norm=0.513");
  CHECK(numbers_of("{'loss': 1.25, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.1}") ==
        "loss=1.250 grad_norm=nan");
  CHECK(numbers_of("[default0]: steps: 12 loss: 2.5 iter time (s): 1.2 samples/sec: 213.3") ==
        "loss=2.500 samples/sec=213.3");
  CHECK(numbers_of("step 00009 (0.00%) | loss: nan | lrm: 1.00 | dt: 5.2ms | tok/sec: 24,595 |") ==
        "loss=nan tok/sec=24595");
  CHECK(numbers_of(R"(:::MLLOG {"key": "train_loss", "value": 3.25, "metadata": {}})") ==
        "train_loss=3.250");
  CHECK(numbers_of(R"({"epoch": 1, "train_loss": "5.5", "train_gnorm": "1.25"})") ==
        "train_loss=5.500 train_gnorm=1.250");
  CHECK(numbers_of("Train Epoch: 1 [640/60000 (1%)]\tLoss: -0.75") == "Loss=-0.75");
  CHECK(numbers_of("step:7 - actor/pg_loss:0.5 - actor/grad_norm:0.25 - mfu/actor:0.4") ==
        "actor/pg_loss=0.500 actor/grad_norm=0.250");
  CHECK(numbers_of("INFO loss: 2.5 LM loss: 3.5") == "loss=2.500 LM loss=3.500");
  CHECK(numbers_of("Epoch 199: Train Loss 0.5, Val Loss inf") == "Train Loss=0.500 Val Loss=inf");
}

TEST_CASE("figures: a loss that is a part, or of an evaluation, is told from the whole") {
  const auto kind_of = [](std::string_view line) { return find_figures(line).at(0).kind; };
  for (const std::string_view whole :
       {"loss: 1", "lm loss: 1", "reduced_train_loss=1", "train/loss = 1", "Training Loss: 1",
        "avg_loss: 1", "trainLoss=1", "epoch: 1, totalLoss: 1"})
    CHECK_MESSAGE(kind_of(whole) == FigureKind::loss, std::string(whole));
  for (const std::string_view part : {"kl_loss: 1", "eval_loss: 1", "val loss 1", "aux loss: 1",
                                      "actor/entropy_loss:1", "moe_z_loss=1", "valLoss=1"})
    CHECK_MESSAGE(kind_of(part) == FigureKind::loss_term, std::string(part));
}

TEST_CASE("figures: what only looks like one is none") {
  for (const std::string_view line :
       {"dynamic loss scale from 65536 to 32768", "gloss: 3", "loss scaler 0 reducing",
        "log_loss_scale_to_tensorboard: True", "Attempted loss scale: 2.5.1", "loss information: 3",
        "loss: 2026-03-04 10:00", "loss", "", "without loss of generality 3 times", "tokens/s: 12k",
        "loss_fn: 3", "loss = model[0].train", "the loss is 5"})
    CHECK_MESSAGE(find_figures(line).empty(), std::string(line));
}

TEST_CASE("figures: the end of a longer name is not taken for it") {
  const Figure loss = find_figures("step 1 loss: 2.5").at(0);
  CHECK(read_figure("val loss: 9.5 | step 12 loss: 2.25", loss, {}) == 2.25);
  CHECK_FALSE(read_figure("val_loss: 9.5", loss, {}));
}

TEST_CASE("figures: the number is found near the place of the last line") {
  const std::string first = "step 9 | lm loss: 2.5 | grad norm: 1.0 |";
  const Figure loss = find_figures(first).at(0);
  const Outline outline{7, 7};
  CHECK(read_figure(first, loss, outline) == 2.5);
  CHECK(loss.last.outline == outline.collapsed);
  CHECK(loss.last.at == first.find("lm loss"));
  CHECK(read_figure("step 1000 | lm loss: 2.125 | grad norm: 1.0 |", loss, outline) == 2.125);
  CHECK_FALSE(read_figure("st", loss, outline));
  CHECK_FALSE(read_figure("", loss, outline));
}

TEST_CASE("figures: the end of another name near that place is not taken for it") {
  const Figure loss = find_figures("step 9 | loss: 2.5 | aux loss: 1.5").at(0);
  REQUIRE(loss.name == "loss");
  CHECK(read_figure("step 9 | loss: 2.5 | aux loss: 1.5", loss, {}) == 2.5);
  CHECK(read_figure("s 9 aux loss: 1.25 and then | loss: 2.25", loss, {}) == 2.25);
}

TEST_CASE("figures: a name that comes first where it stood elsewhere is found by a search") {
  const Figure norm = find_figures("step 9 | lm loss: 2.5 | grad norm: 1.5").at(1);
  CHECK(read_figure("step 9 | lm loss: 2.5 | grad norm: 1.5", norm, {}) == 1.5);
  CHECK(read_figure("grad norm: 0.5", norm, {}) == 0.5);
  CHECK(read_figure(std::string(90, '-') + " grad norm: 0.25", norm, {}) == 0.25);
}
