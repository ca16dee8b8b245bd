// The head of a table whose rows are the progress of a training.
//
// Place in the flow: IterationLearner reads with it what notebooks and loggers of tables print,
// once the names and then rows of numbers alone: "Step\tTraining Loss", "epoch  train_loss  time",
// "step,loss,lr", "| iter | loss |". Of a head that names both, iterations count. A line is a head
// if it has no digit, one cell names an iteration or an epoch, and another one a measure. Cells are
// parted by tabs, bars, commas, or blanks; among blanks only the first cell can be the counter,
// since names may be of several words. Pure; no allocation; any bytes may be given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/segment/progress_grammar.h"

namespace l4::segment {

class TableHead {
 public:
  /// The head that `line` is; nothing if it is none.
  static std::optional<TableHead> read(std::string_view line);
  /// The counter of a row: a whole number in the counter's cell, numbers in all others.
  std::optional<Counter> counter_of(std::string_view row) const;

 private:
  char separator_ = ' ';
  std::uint8_t cells_ = 0, counter_ = 0;
  Unit unit_ = Unit::unknown;
  std::uint32_t name_ = 0;
};

}  // namespace l4::segment
