// What a miner falls back on while its input is a flood of lines that never repeat.
//
// Learning a row is for lines that come again. Where for some time one line in 32 had a skeleton
// that nobody has seen (where it is one in 8, for a shorter time), a new line that agrees with a
// known one in all values and in two quarters of its words is taken for the same event: Drain's
// similarity of one half, at the price of six look-ups. Such lines teach nothing and are counted. A
// line of warning or above only ever joins another such. It ends when for long fewer than one in
// 128 are new. Bounded by `entries_max`; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/base/flat_table.h"
#include "common/drain/mask.h"
#include "common/drain/sorted_table.h"

namespace l4::drain {

class Flood {
 public:
  explicit Flood(std::size_t entries_max) : entries_max_(entries_max) {}

  /// Every line is noted, `repeated` if its skeleton was known.
  void note(bool repeated) {
    fresh_ += repeated ? 0 : 1;
    if (++lines_ == kWindow) judge();
  }
  bool on() const { return on_; }

  /// Lines that agree with this one by half belong to `id` from now on. A half that is taken stays
  /// so unless `replace`: who took it is gone.
  void remember(const MaskedLine& line, std::uint32_t id, bool alert, bool replace = false);
  /// The id whose lines agree with this one by half.
  std::optional<std::uint32_t> find(const MaskedLine& line, bool alert) const;

  /// Another number, but 0, whenever all halves were let go for lack of room.
  std::uint8_t age() const { return age_; }
  /// Halves remembered; 0 if there never was a flood.
  std::size_t size() const { return halves_.size() + frozen_size_; }
  /// Nothing more will be remembered: takes no more room than it must.
  void freeze();

 private:
  static constexpr std::uint32_t kWindow = 1024;  ///< lines

  /// So many windows in a row in which one line in `one_in` was new begin a flood.
  struct Begin {
    std::uint32_t one_in, windows;
  };
  static constexpr std::array<Begin, 2> kBegins{{{32, 32}, {8, 10}}};
  static constexpr std::uint32_t kCalmShare = 128, kCalmWindows = 32;  ///< fewer end it

  struct Half {
    std::uint32_t id = 0;
    bool taken = false;
    bool alert = false;
  };

  void judge();

  std::size_t entries_max_;
  FlatTable<Half> halves_;
  SortedTable<std::uint64_t, Half> frozen_;
  std::size_t frozen_size_ = 0;
  std::uint32_t lines_ = 0, fresh_ = 0;                  // of the window
  std::array<std::uint32_t, kBegins.size()> windows_{};  // in a row that speak for a beginning
  std::uint32_t calm_ = 0;                               // in a row that speak for an end
  bool on_ = false;
  std::uint8_t age_ = 1;
};

}  // namespace l4::drain
