// Finds the places of all times that the lines of a log print.
//
// Place in the flow: the text of a log, with the times that the decoder reads in its lines, in;
// places for MovedText out. FormProbe is asked for the first line of each kind; the following lines
// of that kind are recognised by their front (Recipe). Times in the text of a line
// (`time : 2026-11-20_15:54:42`) are found by Mentions. At last the whole text is moved and
// decoded again: a line that does not read as it should keeps its times, and is counted.
// One for all logs of a replay, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "tools/l4/replay/line_times.h"
#include "tools/l4/replay/moved_text.h"

namespace l4::replay {

/// Lines whose times stay as they are.
struct UnmovedLines {
  std::size_t count = 0;
  std::uint64_t first = 0;  ///< number of the first, from 1
};

class StampFinder {
 public:
  /// `first` and `last`: the time in which the job printed.
  StampFinder(TimeMs first, TimeMs last);
  ~StampFinder();

  /// `hint`: as the times were read. `shift`: with which the moved text is checked.
  std::vector<Place> find(std::string_view text, const LineTimes& times, std::optional<TimeMs> hint,
                          Millis shift, UnmovedLines& unmoved);
  /// Of the places; grows with each log.
  const std::vector<StampForm>& forms() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace l4::replay
