// Matches lines by half while the input is a flood of lines that never repeat.
//
// Learning a row pays only for lines that come again. A flood begins when one line in 32 has had an
// unknown skeleton for some time, or one in 8 for a shorter time. During a flood a new line joins a
// known template if the two agree in all values and in two quarters of their words: this is Drain's
// similarity of one half, at the cost of six look-ups. The miner does not learn from such lines,
// and counts them. A line of warning or above joins only lines of that level. The flood ends when
// fewer than one line in 128 have been new for long. Bounded by `entries_max`; one thread.
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

  /// Counts a line; `repeated`: its skeleton was known.
  void note(bool repeated) {
    fresh_ += repeated ? 0 : 1;
    if (++lines_ == kWindow) judge();
  }
  bool on() const { return on_; }

  /// From now on find() gives `id` for lines that share half of their words with this one. A half
  /// that already has an id keeps it, unless `replace` is set because that id is gone.
  void remember(const MaskedLine& line, std::uint32_t id, bool alert, bool replace = false);
  /// The id whose lines agree with this one by half, if there is one.
  std::optional<std::uint32_t> find(const MaskedLine& line, bool alert) const;

  /// Changes whenever all halves are dropped for lack of room; never 0.
  std::uint8_t age() const { return age_; }
  /// Number of halves; 0 if there never was a flood.
  std::size_t size() const { return halves_.size() + frozen_size_; }
  /// Packs the halves; nothing may be remembered afterwards.
  void freeze();

 private:
  static constexpr std::uint32_t kWindow = 1024;  ///< lines

  /// A flood begins after `windows` windows in a row with one new line in `one_in` or more.
  struct Begin {
    std::uint32_t one_in, windows;
  };
  static constexpr std::array<Begin, 2> kBegins{{{32, 32}, {8, 10}}};
  static constexpr std::uint32_t kCalmShare = 128, kCalmWindows = 32;  ///< end a flood

  struct Half {
    std::uint32_t id = 0;
    bool claimed = false;
    bool alert = false;
  };

  void judge();

  std::size_t entries_max_;
  FlatTable<Half> halves_;
  SortedTable<std::uint64_t, Half> frozen_;
  std::size_t frozen_size_ = 0;
  std::uint32_t lines_ = 0, fresh_ = 0;                  // lines, and new lines, of this window
  std::array<std::uint32_t, kBegins.size()> windows_{};  // for each of kBegins: windows in a row
  std::uint32_t calm_ = 0;                               // calm windows in a row
  bool on_ = false;
  std::uint8_t age_ = 1;
};

}  // namespace l4::drain
