// Turns iteration numbers that begin anew in each epoch into one growing number.
//
// Place in the flow: the segmenter passes every record that names an epoch, and every iteration
// number. If the number falls after the epoch has grown, counting continues where the last epoch
// ended; an epoch that is named on a line of its own must have grown by exactly one. Any other fall
// is a restart, which RunWatch handles. One per source, one thread, no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace l4::segment {

/// Number of the epoch that a message names ("Epoch:[ 2/ 3]", "epoch 2", "Epoch(train) [2]");
/// "epochs" and 0.4 do not count.
std::optional<std::int64_t> epoch_in(std::string_view message);

class EpochCounter {
 public:
  /// Notes the epoch that a record names. `with_number`: the record is a marker line, which is
  /// passed here before its number is counted.
  void enter(std::int64_t epoch, bool with_number) {
    epoch_ = epoch;
    with_number_ = with_number;
  }

  /// The iteration number since the first epoch of the run. `total`: iterations of an epoch, if
  /// printed.
  std::int64_t count(std::int64_t number, std::optional<std::int64_t> total) {
    const std::int64_t grown = epoch_ && counted_in_ ? *epoch_ - *counted_in_ : 0;
    const bool next = grown == 1 || (grown > 1 && with_number_);
    if (number < last_ && next) before_ += total.value_or(last_);
    last_ = number;
    counted_in_ = epoch_;
    return before_ + number;
  }

 private:
  std::optional<std::int64_t> epoch_, counted_in_;
  bool with_number_ = false;
  std::int64_t last_ = 0;
  std::int64_t before_ = 0;  ///< iterations of earlier epochs
};

}  // namespace l4::segment
