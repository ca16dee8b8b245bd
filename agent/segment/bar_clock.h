// Times of bars that are drawn without a stamp: the clock that a bar shows, "[1:02:03<..", goes on
// from the time that is known of it.
//
// Place in the flow: the segmenter asks it for each bar, and tells it each stamp of the source. A
// bar begins no earlier than the stamp before it, and is drawn no later than the stamp behind it;
// between them its clock says how much time has passed. Bars with different totals run side by
// side. Pure, no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/base/time.h"

namespace l4::segment {

class BarClock {
 public:
  /// A line printed `time`.
  void stamp(TimeMs time);
  /// When a bar of `total` was drawn that shows `clock`, and was drawn on its line for `on_line`;
  /// none before the first stamp.
  std::optional<TimeMs> drawn(std::int64_t total, Millis clock, Millis on_line = Millis{0});

 private:
  struct Bar {
    std::int64_t total = -1;
    Millis clock{0};  ///< as it was drawn last
    TimeMs time{};    ///< at that clock
  };
  static constexpr std::size_t kBars = 4;

  std::array<Bar, kBars> bars_;
  std::size_t next_ = 0;  ///< the place of the next bar with another total
  std::optional<TimeMs> newest_;
};

}  // namespace l4::segment
