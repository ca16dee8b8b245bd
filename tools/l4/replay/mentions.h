// Finds times in the text of lines, where the decoder looks for none: a report's
// `time : 2026-11-20_15:54:42`, a second stamp behind the first.
//
// A time is looked for where a line holds a year of the job, the first digits of its seconds since
// 1970, or the time of day of the line's own stamp, and only at the begin of a word: numbers within
// names of files and folders stay. Whether it is a time decides the decoder (FormProbe),
// once for each kind of text. Times far from the job's are no times of the job: they stay,
// uncounted. Bound: 20,000 kinds of text. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/time.h"
#include "tools/l4/replay/form_table.h"
#include "tools/l4/replay/moved_text.h"

namespace l4::replay {

class Mentions {
 public:
  Mentions(FormTable& forms, TimeMs first, TimeMs last);

  /// A line and the places that are known in it, relative to the line.
  struct InLine {
    std::string_view line;
    std::optional<TimeMs> time;
    std::string_view clock;  ///< `hh:mm:ss` of the line's own stamp; empty if it has none
  };
  /// Adds places to `places`, which stay ascending. False if a part of the line looks like the time
  /// of the line itself and could not be read.
  bool find(const InLine& in, std::vector<Place>& places);

 private:
  struct Kind {
    std::ptrdiff_t from = 0;  ///< begin of the stamp, from the hit
    std::optional<std::uint16_t> form;
  };
  bool hit(const InLine& in, std::size_t at, bool own_clock, std::vector<Place>& places);
  Kind learn(const InLine& in, std::size_t at);
  bool of_job(Printed printed) const;

  FormTable& forms_;
  TimeMs first_, last_;
  std::vector<std::string> marks_;  // years, digits of seconds since 1970
  std::unordered_map<std::string, Kind> kinds_;
  std::string key_;
};

}  // namespace l4::replay
