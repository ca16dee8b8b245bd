// Turns iteration numbers that begin anew in each epoch into one growing number.
//
// Place in the flow: the segmenter passes every record that names an epoch, and every iteration
// number. If the number falls after the epoch has grown, counting continues where the last epoch
// ended; an epoch that is named on a line of its own must have grown by exactly one. Where no epoch
// is named, a number that had reached its total, or whose next print would be beyond it, begins the
// next pass, unless a start of the program lies between. If the epoch itself falls back to the
// first, or far, all is counted from the beginning. Such a fall and any other is a restart, which
// RunWatch handles.
// A number is at the end of its total if the next print would be beyond it: many programs print
// each tenth or hundredth number alone. What counts from 0 ends one below the total; that is so if
// the run's first number, or epoch, is 0. Where no total is printed beside the counter, the
// announced one holds (announced_totals.h), and the numbers of earlier epochs tell how many there
// are in one. An announced total never says that a number is before the end: it may be another
// program's setting. One per source, one thread, no allocation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "agent/segment/announced_totals.h"
#include "common/wire/segment.h"

namespace l4::segment {

/// What a marker's number is, besides its value.
struct MarkerKind {
  bool drawn = false;   ///< by a bar, which shows each number and counts what is done
  bool epochs = false;  ///< epochs are counted, and nothing within them
};

class EpochCounter {
 public:
  /// Notes the epoch that a record names. `with_number`: the record is a marker line, which is
  /// passed here before its number is counted. `total`: number of epochs, 0 if it is not printed.
  void enter(std::int64_t epoch, bool with_number, std::int64_t total = 0) {
    epoch_ = epoch;
    with_number_ = with_number;
    if (total > 0) epochs_ = total;
  }

  /// Other numbers follow, which do not continue these; the epoch stays.
  void restart() {
    last_ = before_ = step_ = 0;
    in_epoch_ = 0;
    through_ = false;
    first_.reset();
    total_.reset();
    counted_in_.reset();
  }
  /// A line showed that the program starts.
  void start() { started_ = true; }

  /// The iteration number since the first epoch of the run. `total`: iterations of an epoch, if
  /// printed.
  std::int64_t count(std::int64_t number, std::optional<std::int64_t> total) {
    const std::int64_t grown = epoch_ && counted_in_ ? *epoch_ - *counted_in_ : 0;
    const bool next = grown == 1 || (grown > 1 && with_number_) || passed(number, total);
    if (falls_back(number, grown)) {
      before_ = 0;
    } else if (number < last_ && next) {
      before_ += total.value_or(last_);
      in_epoch_ = std::max(in_epoch_, last_);
    }
    if (!first_) first_ = First{number, epoch_};
    if (number > last_) step_ = number - last_;
    through_ = (through_ || (grown > 0 && number > last_)) && before_ == 0;
    last_ = number;
    total_ = total;
    counted_in_ = epoch_;
    started_ = false;
    return before_ + number;
  }
  /// Iterations of the epochs before the one that was counted last.
  std::int64_t before() const { return before_; }
  /// The number that was counted last, as printed.
  std::int64_t last() const { return last_; }

  /// How far the number that was counted last is on the way to its total. At the end of an epoch it
  /// is not known, unless this is the last epoch.
  wire::Reach reach(std::int64_t number, std::optional<std::int64_t> total,
                    const AnnouncedTotals& announced = {}, MarkerKind kind = {}) const {
    if (kind.epochs && !total) return announced_reach(number, announced.epochs, kind);
    if (!total && !epoch_) return announced_reach(number, announced.iterations, kind);
    const bool done = total ? is_done(number, *total, kind) : in_epoch_ > 0 && number >= in_epoch_;
    if (!done) return total ? wire::Reach::before : wire::Reach::unknown;
    return is_last_epoch(announced) ? wire::Reach::total : wire::Reach::pass;
  }

 private:
  bool is_done(std::int64_t number, std::int64_t total, MarkerKind kind) const {
    if (number >= total || kind.drawn) return number >= total;
    const std::int64_t next = number + step_;
    return next > total || (first_ && first_->number == 0 && step_ > 0 && next == total);
  }
  wire::Reach announced_reach(std::int64_t number, std::optional<std::int64_t> total,
                              MarkerKind kind) const {
    const bool done = total && number <= *total && is_done(number, *total, kind);
    return done ? wire::Reach::total : wire::Reach::unknown;
  }
  bool is_last_epoch(const AnnouncedTotals& announced) const {
    if (!epoch_ || through_) return true;
    const bool from_zero = first_ && first_->epoch == 0;
    if (epochs_) return *epoch_ + (from_zero ? 1 : 0) >= *epochs_;
    return announced.epochs && *epoch_ + (from_zero ? 1 : 0) == *announced.epochs;
  }
  /// Without an epoch: the numbers have come to their total, and begin again.
  bool passed(std::int64_t number, std::optional<std::int64_t> total) const {
    if (counted_in_ || started_ || !total || total != total_) return false;
    return last_ >= *total || (last_ + step_ > *total && number <= step_);
  }
  /// Epochs begin anew. Ranks that are an epoch behind print its last numbers.
  bool falls_back(std::int64_t number, std::int64_t grown) const {
    constexpr std::int64_t kBehindMax = 2;
    if (grown >= 0 || !first_) return false;
    const bool at_first = epoch_ == first_->epoch && number <= first_->number + step_;
    return at_first || (with_number_ && -grown > kBehindMax);
  }

  struct First {
    std::int64_t number = 0;
    std::optional<std::int64_t> epoch;
  };
  std::optional<First> first_;  ///< what was counted first
  std::optional<std::int64_t> epoch_, counted_in_;
  std::optional<std::int64_t> epochs_;  ///< how many there are
  std::optional<std::int64_t> total_;
  bool with_number_ = false;
  bool through_ = false;  ///< numbers go on over epochs, so their total is that of the run
  bool started_ = false;  ///< since the last number
  std::int64_t last_ = 0, step_ = 0;
  std::int64_t before_ = 0;    ///< iterations of earlier epochs
  std::int64_t in_epoch_ = 0;  ///< the greatest number with which an epoch ended; 0: none has
};

}  // namespace l4::segment
