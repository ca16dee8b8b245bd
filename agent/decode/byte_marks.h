// Where the lines of a block end, and where something stands that is no plain text.
//
// Used by the framer for every block. One pass over the bytes marks both, and each `%`, a bit for
// each byte, so that lines are found and need not be cleaned, or searched for a progress bar,
// without being looked at again. Where the processor can (AVX-512), 64 bytes at a time. Not plain:
// control characters but tabs, bytes from 0x7f on, and `[1;31m`, a colour whose ESC was lost
// (clean.h says what becomes of them). One thread; keeps its room.
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
  /// Of [from, to), all of it in one line.
  struct Signs {
    bool plain = true;     ///< clean() would leave it as it is
    bool percent = false;  ///< a `%` stands in it
  };
  Signs signs(std::size_t from, std::size_t to) const;
  /// Some line has a CR, maybe the one before its LF.
  bool holds_cr() const { return holds_cr_; }

 private:
  template <auto MarksOf>
  void read_with(std::string_view block);
  void read_widely(std::string_view block);

  std::vector<std::uint64_t> ends_, odd_, percents_;  // a bit for each byte
  std::size_t size_ = 0;
  bool holds_cr_ = false;
};

}  // namespace l4::decode
