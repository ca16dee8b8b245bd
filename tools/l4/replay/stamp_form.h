// One way to print a time, as the characters of a line show it: which of them are the year, the
// month and so on, so that the same characters can print another time.
//
// Place in the flow: form_probe.h finds the forms by asking the decoder; stamp_finder.h notes their
// places in the logs; Replay writes the moved times. A form knows no zone: a moved time keeps the
// zone that is printed. Fractions of seconds are no fields, because times move by whole seconds.
// Values, no state.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace l4::replay {

enum class Part : std::uint8_t {
  year,
  year_of_century,
  month,
  month_name,
  day,
  day_name,
  hour,
  half_day,  ///< the first letter of AM and PM
  minute,
  second,
  epoch  ///< whole seconds since 1970
};

struct Field {
  Part part = Part::year;
  std::size_t at = 0, width = 0;
  char pad = '0';  ///< '0' or ' '; NUL: as many digits as the number has

  bool operator==(const Field&) const = default;
};

/// The time that a stamp prints, in its own zone, as if that were UTC.
using Printed = std::chrono::sys_seconds;

/// Day names and month names are found as the decoder's formats write them.
std::optional<int> month_named(std::string_view text);
std::optional<int> day_named(std::string_view text);

class StampForm {
 public:
  /// `fields` in the order of their places in `text`, which begins with the first field and ends
  /// with the last.
  StampForm(std::string_view text, std::vector<Field> fields);

  std::size_t size() const { return shape_.size(); }
  const std::string& shape() const { return shape_; }
  const std::vector<Field>& fields() const { return fields_; }
  bool has(Part part) const;
  bool has_date() const { return has(Part::day) || has(Part::epoch); }
  bool has_year() const {
    return has(Part::year) || has(Part::year_of_century) || has(Part::epoch);
  }

  /// True if `text` begins with a stamp of this form.
  bool matches(std::string_view text) const;
  /// The time of a stamp that matches. `day` completes what is not printed: the year, or the date.
  Printed read(std::string_view text, std::chrono::year_month_day day) const;
  /// Appends the stamp with the time moved.
  void write(std::string_view text, std::chrono::year_month_day day, std::chrono::seconds shift,
             std::string& out) const;

  bool operator==(const StampForm&) const = default;

 private:
  std::string shape_;  // see stamp_form.cc
  std::vector<Field> fields_;
};

/// Digits made equal, so that lines of one form compare equal.
void fold_digits(std::string_view text, std::string& out);
/// True if `text` begins with what `shape` describes: a folded text, or the shape of a form.
bool fits(std::string_view shape, std::string_view text);

}  // namespace l4::replay
