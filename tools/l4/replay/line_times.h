// The times of the lines of a log, as the decoder reads them: one line after another, no folds.
//
// A stamp without a year or a date is completed by a hint, as an agent does by the time of the
// file. Pure functions over a text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/decode/decoder.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"

namespace l4::replay {

struct Line {
  std::uint64_t end = 0;  ///< behind the line end
  std::optional<TimeMs> time = {};
  Level level = Level::unknown;
};

struct LineTimes {
  std::vector<Line> lines;
  std::string_view format;  ///< the decoder's name of the most frequent format; "none"
};

/// Takes a text in parts of any size.
class TimesReader {
 public:
  explicit TimesReader(std::optional<TimeMs> hint);

  void feed(std::string_view part);
  LineTimes finish();

 private:
  std::unique_ptr<LineTimes> found_;  // at a fixed address, because the decoder writes to it
  std::uint64_t fed_ = 0;
  bool part_of_line_ = false;  // the last line may go on
  decode::Decoder decoder_;
};

LineTimes read_times(std::string_view text, std::optional<TimeMs> hint);

/// The latest time near the beginning of the text that is printed with its year.
std::optional<TimeMs> latest_full_time(std::string_view text);

}  // namespace l4::replay
