// A table of words, grouped by their first character: only the rows with a line's first character
// are compared.
//
// Built at compile time from an array of rows, whose texts must not be empty. Constant, no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace l4::text {

template <class Row, std::size_t N>
class RowsByFirst {
  static_assert(N < 256);

 public:
  consteval RowsByFirst(const std::array<Row, N>& rows, std::string_view Row::* text) {
    std::uint8_t n = 0;
    for (std::size_t c = 0; c < 256; ++c) {
      begins_[c] = n;
      for (const Row& row : rows)
        if (static_cast<unsigned char>((row.*text)[0]) == c) rows_[n++] = row;
    }
    begins_[256] = n;
  }
  /// Rows whose texts begin with `first`, in the order of the array.
  std::span<const Row> of(char first) const {
    const auto c = static_cast<unsigned char>(first);
    return {rows_.data() + begins_[c], rows_.data() + begins_[c + 1]};
  }

 private:
  std::array<Row, N> rows_{};
  std::array<std::uint8_t, 257> begins_{};
};

}  // namespace l4::text
