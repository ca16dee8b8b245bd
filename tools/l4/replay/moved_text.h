// The text of a log with the places of its printed times, from which the same text with moved times
// is made, a part at a time.
//
// A place is the position of a stamp and its form (stamp_form.h). Moved stamps may be longer or
// shorter than the printed ones; a part that ends within a stamp ends within the moved one as well.
// One per log; forms are shared by all logs of a replay and must outlive them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/l4/replay/stamp_form.h"

namespace l4::replay {

struct Place {
  std::uint32_t at = 0;
  std::uint16_t form = 0;
  std::int16_t year = 0;  ///< for a form that prints none
};

class MovedText {
 public:
  MovedText() = default;
  /// `places` ascending, without overlaps.
  MovedText(std::string_view text, std::vector<Place> places, const std::vector<StampForm>& forms)
      : text_(text), places_(std::move(places)), forms_(&forms) {}

  /// Appends the bytes [from, to) of the text, with times moved by `shift`.
  void append(std::uint64_t from, std::uint64_t to, std::chrono::seconds shift,
              std::string& out) const;

  std::string_view text() const { return text_; }
  const std::vector<Place>& places() const { return places_; }

 private:
  std::string_view text_;
  std::vector<Place> places_;
  const std::vector<StampForm>* forms_ = nullptr;
};

/// The day that completes what a form does not print: January 1 of the year of the place.
std::chrono::year_month_day day_of(const Place& place);

}  // namespace l4::replay
