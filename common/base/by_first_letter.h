// A short constant list of words, asked by the first letter of a text: most texts begin with a
// letter of none of them, and are done with at once.
//
// Place in the flow: word lists of common/wire and agent/segment. Built at compile time;
// immutable, no allocation. An entry's word is its member `low`, in lower case and not empty;
// entries of one letter keep their order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace l4 {

template <class Entry, std::size_t Size>
class ByFirstLetter {
 public:
  constexpr explicit ByFirstLetter(const std::array<Entry, Size>& list) {
    std::size_t placed = 0;
    for (char letter = 'a'; letter <= 'z'; ++letter) {
      const std::size_t first = placed;
      for (const Entry& entry : list)
        if (entry.low.front() == letter) entries_[placed++] = entry;
      const Part part{static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(placed - first)};
      parts_[static_cast<unsigned char>(letter)] = part;
      parts_[static_cast<unsigned char>(letter - 'a' + 'A')] = part;
    }
  }

  /// Entries whose word begins with this letter, of either case.
  constexpr std::span<const Entry> of(char letter) const {
    const Part part = parts_[static_cast<unsigned char>(letter)];
    return {entries_.data() + part.first, part.size};
  }

 private:
  static_assert(Size < 256);
  struct Part {
    std::uint8_t first = 0, size = 0;
  };
  std::array<Entry, Size> entries_{};
  std::array<Part, 256> parts_{};
};

}  // namespace l4
