// One list of what a class keeps on disk, for writing and for reading.
//
// A class has a function template persist(archive, self) that names its members once and in order.
// save() calls it with a Writer, load() with a Reader: both have the same calls, so a new
// member is one line. The bytes are those of byte_stream.h, chosen by the type of a member: bool
// and 8-bit numbers are a byte, other numbers varints, an optional is a byte and its value. Where
// only reading has work to do (indices to check, maps to rebuild), `if constexpr (Archive::kLoads)`
// says so. One thread.
#pragma once

#include <cstdint>

#include "common/base/time.h"
#include "common/saved/reader.h"
#include "common/saved/writer.h"

namespace l4::saved {

/// Times that lie close together: each is stored as its distance from the previous one. Each group
/// of times needs an object of its own.
template <class Archive>
class TimeDistances {
 public:
  explicit TimeDistances(Archive& archive) : archive_(archive) {}

  /// TimeMs, or something that holds one and is not empty.
  template <class Time>
  void operator()(Time& time) {
    std::int64_t distance = 0;
    if constexpr (!Archive::kLoads) distance = static_cast<std::int64_t>(number(time) - last_);
    archive_(distance);
    last_ += static_cast<std::uint64_t>(distance);  // wraps around: any two times have a distance
    if constexpr (Archive::kLoads) time = TimeMs{Millis{static_cast<std::int64_t>(last_)}};
  }
  /// An optional time: a byte says whether it has a value.
  template <class Time>
  void optional(Time& time) {
    bool some = time.has_value();
    archive_(some);
    if (some) (*this)(time);
  }

 private:
  static std::uint64_t number(TimeMs time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
  }
  template <class Time>
  static std::uint64_t number(const Time& time) {
    return number(*time);
  }

  Archive& archive_;
  std::uint64_t last_ = 0;
};

}  // namespace l4::saved
