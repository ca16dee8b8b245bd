// Progress bars: ` 10%|###  | 10/100 [00:05<00:45,  2.00it/s]`, and what other writers print into
// one.
//
// A bar is drawn again and again on one line, which has no end until the loop is over. Text of
// other processes therefore stands behind a bar, or in the middle of one. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/time.h"

namespace l4::decode {

struct Bar {
  std::optional<std::int64_t> done, total;  ///< `done` alone: a bar without a total
  std::optional<int> percent;
  std::size_t begin = 0;    ///< where the percentage, or else the count, begins
  std::string_view behind;  ///< text of others behind the bar or in it, trimmed
  bool broken = false;      ///< the text stands in the bar
};

/// Empty if the line does not begin with a bar, which may have a description.
std::optional<Bar> find_bar(std::string_view line);

/// True if the text before the percentage is a description of the bar, which a colon ends, or none.
bool is_description(std::string_view front);

/// True for bars with other totals and other descriptions, `front` and `other_front`: the text
/// before them. (The description of one loop may change, and an epoch may be shorter.)
bool are_of_two_loops(const Bar& one, std::string_view front, const Bar& other,
                      std::string_view other_front);

/// True if `newer`, printed behind a CR over `older`, is the same drawing, or `older` holds no
/// text and no bar of another loop.
bool redraws(std::string_view newer, std::string_view older);

/// The bars of a line, and what stands behind the last of them.
struct BarLine {
  std::optional<std::int64_t> done, total;
  std::string_view text;      ///< what others printed behind the bars; else the last bar
  bool behind = false;        ///< others printed it
  std::string_view bar;       ///< what shows the count, if that is not `text`
  std::uint32_t redrawn = 0;  ///< bars that stand before the last one
  bool text_between = false;  ///< others printed between two bars; the line was read so far
};
/// `before`: what the line showed before `line` was drawn over it; empty if nothing.
BarLine read_bar_line(std::string_view line, std::string_view before);

/// How long the loop of a bar has run, by the clock that it shows, "[1:02:03<.."; none if there is
/// no clock with an end.
std::optional<Millis> clock_of_bar(std::string_view bar);

/// For how long a bar was drawn, by its clock; 0 if it shows none. `first` and `last`: the bar as
/// it was drawn first and last.
Millis time_drawn(std::string_view first, std::string_view last);

/// The count behind a percentage, if only one count of `total` is printed with it.
std::optional<std::int64_t> count_of_percent(int percent, std::int64_t total);

}  // namespace l4::decode
