// Finds how a line prints its time, by asking the decoder.
//
// The decoder is a black box here: one character of the line is changed at a time, and by how much
// the time changes that the decoder reads tells what the character means. So every format of the
// decoder can be moved, in every envelope and behind every prefix, without a second table of
// formats. A form is accepted only if the decoder reads the line right after it was moved by some
// spans of different kinds. A line may hold several stamps (an envelope's and a logger's): a stamp
// that was found is hidden, and the decoder is asked again.
//
// Costs some 0.2 ms a line, so that stamp_finder.h asks for few lines of a log. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "tools/l4/replay/stamp_form.h"

namespace l4::replay {

/// Stamps of one line lie so far apart at most, a day and zones: others are not of the same time.
inline constexpr Millis kStampsApartMax = std::chrono::hours{26};

struct FoundStamp {
  std::size_t at = 0;
  StampForm form;
  TimeMs time;  ///< as the decoder reads it; the date may be wrong if none is printed
};

class FormProbe {
 public:
  /// `before`: text before the line, of which the decoder learns the prefixes of the log.
  explicit FormProbe(std::string_view before) : before_(before) {}

  /// The stamps of a line, first the one by which the decoder times it. Stamps whose time is more
  /// than a day from the first are left out. Empty if the first cannot be moved. `year`: the year
  /// of stamps that print none.
  std::vector<FoundStamp> find(std::string_view line, std::chrono::year year) const;

  /// The times of lines, each read by itself; `hint` completes those that print no date.
  std::vector<std::optional<TimeMs>> read(const std::vector<std::string>& lines, TimeMs hint) const;

 private:
  std::string_view before_;
};

/// The year, of those near `time`, in which a stamp without a year is nearest to it.
std::chrono::year nearest_year(const StampForm& form, std::string_view text, TimeMs time);

}  // namespace l4::replay
