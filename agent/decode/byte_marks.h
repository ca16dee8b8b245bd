// Marks the line ends of a block, the bytes that are not plain text, each `%`, and the colons that
// may show a seam between the texts of two writers.
//
// The framer uses it for every block. One pass sets the marks, one bit for each byte. By them the
// framer finds lines, and sees which ones need cleaning or a search for a progress bar or for
// seams, without reading the bytes again. With AVX-512 the pass handles 64 bytes at a time. Bytes
// that are not plain are control characters except tabs, bytes from 0x7f on, and `[1;31m`, a colour
// whose ESC was lost (clean.h handles them). One thread; keeps its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace l4::decode {

class ByteMarks {
 public:
  void read(std::string_view block);

  /// The first LF from `at` on, else the block's size.
  std::size_t line_end(std::size_t at) const;
  /// The marks of [from, to), which lies within one line.
  struct Signs {
    bool plain = true;     ///< clean() would not change it
    bool percent = false;  ///< it holds a `%`
    bool seams = false;    ///< a colon from kSeamColumn on may show a seam
    bool clocks = true;    ///< two colons may stand three bytes apart, as in a clock
  };
  Signs signs(std::size_t from, std::size_t to) const;
  /// The first colon of [from, to) that may show a seam, else `to`.
  std::size_t seam_colon(std::size_t from, std::size_t to) const;
  /// True if some line has a CR, including one before its LF.
  bool holds_cr() const { return holds_cr_; }

 private:
  template <auto MarksOf>
  void read_with(std::string_view block);
  void read_widely(std::string_view block);

  std::vector<std::uint64_t> ends_, odd_, percents_, seams_;  // a bit for each byte
  std::size_t size_ = 0;
  bool holds_cr_ = false;
};

}  // namespace l4::decode
