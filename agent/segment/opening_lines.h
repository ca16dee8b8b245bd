// The lines with which the first run of a file begins, and whether they come again.
//
// Place in the flow: RunWatch notes the lines before the first iteration, and asks for each later
// line whether it is one of them; most lines are answered by a few bits. A start of the program
// prints many of these lines, once each and in the same order. Lines that come more often say
// nothing: several processes print them, or each epoch does. One per file, one thread, no
// allocation; kMax lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/base/ids.h"

namespace l4::segment {

class OpeningLines {
 public:
  static constexpr std::size_t kMax = 24;

  /// A line that stands before the first iteration.
  void note(LocalTemplateId id);
  bool full() const { return size_ == kMax; }

  /// False for nearly all lines that are none of the opening.
  bool may_hold(LocalTemplateId id) const { return (bits_[word(id)] & bit(id)) != 0; }
  /// The line came after the opening. `record`: its number in the file, which grows. Lines that
  /// stand too far apart are no start of a program.
  void again(LocalTemplateId id, std::uint64_t record);

  /// Lines that came again, one after another, in the order of the opening.
  std::size_t repeated() const { return repeated_; }
  /// The first lines of the opening are among them.
  bool from_the_top() const { return from_the_top_; }
  /// Lines that would have to come again. `ended`: something else shows that the run is over.
  /// More than there are if so few lines are known that they tell nothing.
  std::size_t needed(bool ended) const;

  /// A new run begins with the lines that came again.
  void begin() { forget(false); }
  /// No run began there: lines that came again belong to what a run does more often than once.
  void go_on() {
    if (repeated_ > 0) forget(true);
  }

 private:
  struct Line {
    LocalTemplateId id;
    bool common = false;    ///< comes more often than once in a run
    bool repeated = false;  ///< came again
  };
  static std::size_t word(LocalTemplateId id) { return (id.value() >> 6) % kWords; }
  static std::uint64_t bit(LocalTemplateId id) { return std::uint64_t{1} << (id.value() & 63); }
  std::size_t find(LocalTemplateId id) const;
  void forget(bool common);

  static constexpr std::size_t kWords = 4;
  std::array<std::uint64_t, kWords> bits_{};
  std::array<Line, kMax> lines_{};
  std::size_t size_ = 0, telling_ = 0;  ///< lines; those that are not common
  std::size_t noted_ = kMax;            ///< place of the line that was noted last
  std::size_t repeated_ = 0, place_ = 0;
  std::uint64_t record_ = 0;  ///< of the line that came again last
  bool from_the_top_ = false;
};

}  // namespace l4::segment
