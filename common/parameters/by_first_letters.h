// A short constant list of words, looked up by the first two letters of a text: most texts begin
// with the letters of no word and are rejected at once.
//
// Place in the flow: word lists of this room and of agent/segment. Built at compile time;
// immutable, no allocation. An entry's word is its member `low`, in lower case and of at least two
// bytes; entries with the same first two keep their order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace l4::parameters {

template <class Entry, std::size_t Size>
class ByFirstLetters {
 public:
  constexpr explicit ByFirstLetters(const std::array<Entry, Size>& list) {
    std::size_t placed = 0;
    for (const Entry& begin : list) {
      Part& part = parts_[slot(begin.low)];
      if (part.size != 0) continue;
      part.first = static_cast<std::uint8_t>(placed);
      for (const Entry& entry : list)
        if (slot(entry.low) == slot(begin.low)) entries_[placed++] = entry;
      part.size = static_cast<std::uint8_t>(placed - part.first);
    }
  }

  /// Candidates: entries whose word may begin the text, in either case.
  constexpr std::span<const Entry> of(std::string_view text) const {
    if (text.size() < 2) return {};
    const Part part = parts_[slot(text)];
    return {entries_.data() + part.first, part.size};
  }

 private:
  static_assert(Size < 256);
  struct Part {
    std::uint8_t first = 0, size = 0;
  };
  /// Different letters differ in their lower five bits; both cases of one letter agree in them.
  static constexpr std::size_t slot(std::string_view text) {
    return (static_cast<std::size_t>(text[0]) & 31) * 32 + (static_cast<std::size_t>(text[1]) & 31);
  }

  std::array<Entry, Size> entries_{};
  std::array<Part, 32 * 32> parts_{};
};

}  // namespace l4::parameters
