// Bytes in, physical lines out: ends at LF, CRLF accepted, CR progress bars reduced.
//
// First stage of the decoder; one per file, one thread. A line that lies within the chunk and has
// no CR is handed out as a view into it; others are gathered in three buffers of at most
// `line_bytes_max`, so a line of any length runs in constant memory. What comes out depends on the
// bytes alone, not on how they were cut into chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/decode/byte_marks.h"
#include "common/wire/batch.h"

namespace l4::decode {

/// Views are valid until the next call of the framer.
struct RawLine {
  std::string_view head;  ///< up to the first CR: where an envelope stands
  std::string_view last;  ///< last CR state that is not blank; `head` if the line has no CR
  std::string_view bar;   ///< the state before `last`, empty if there is none
  std::uint64_t number = 0;
  wire::ByteRange bytes;
  std::uint32_t updates = 0;  ///< CR states that followed the first
  bool cut = false;
  bool plain = false;           ///< clean() would leave it as it is
  bool percent = true;          ///< `last` may hold a `%`
  std::uint64_t cut_bytes = 0;  ///< that were left out where it was cut
};

class LineFramer {
 public:
  explicit LineFramer(std::size_t line_bytes_max);

  void start_at(std::uint64_t line, std::uint64_t offset);
  /// `chunk` must outlive the calls of next() up to the one that returns false.
  void give(std::string_view chunk);
  bool next(RawLine& line);
  /// The unfinished last line, if there is one.
  bool finish(RawLine& line);
  /// The same, for a line that may go on: what follows of it comes under the same number.
  bool emit_unfinished(RawLine& line);

  /// Where the line begins that comes next, and how many came before it, one that was offered too.
  std::uint64_t offset() const { return offset_; }
  std::uint64_t lines() const { return number_ - 1 + (offered_ ? 1 : 0); }
  bool unfinished() const { return gathered_bytes_ > 0; }
  bool unfinished_bar() const { return gathered_bytes_ > 0 && (has_head_ || after_cr_); }

 private:
  struct State {  // one CR state
    std::string text;
    bool blank = true;
  };

  void absorb(std::string_view part);
  void append(std::string_view piece);
  void emit_view(std::string_view view, ByteMarks::Signs signs, RawLine& line);
  void emit_gathered(RawLine& line);
  void close(RawLine& line, std::uint64_t bytes);

  std::size_t line_bytes_max_;
  std::string_view given_;
  std::size_t at_ = 0;  // in it
  ByteMarks marks_;     // of it
  std::uint64_t number_ = 1;
  std::uint64_t offset_ = 0;
  bool emitted_gathered_ = false;
  bool offered_ = false;  // the line with this number

  State current_, previous_;
  std::string head_;
  std::uint64_t gathered_bytes_ = 0;
  std::uint32_t updates_ = 0;
  bool has_head_ = false;  // a CR state follows the head
  bool after_cr_ = false;
  bool cut_ = false;
  std::uint64_t dropped_ = 0;  // bytes beyond the limit
};

}  // namespace l4::decode
