// Bytes in, physical lines out: ends at LF, CRLF accepted, CR progress bars reduced.
//
// First stage of the decoder; one per file, one thread. A line that lies within a chunk and has no
// CR is returned as a view into the chunk; other lines are gathered in three buffers of at most
// `line_bytes_max`, so that a line of any length needs constant memory. What a CR overwrites is
// dropped where the next state draws the same again; other text before a CR is a piece of the line,
// which is returned for itself with its own bytes. The lines depend on the bytes alone, not on the
// sizes of the chunks.
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
  /// Text up to the first CR that has one before it, where an envelope begins.
  std::string_view head;
  std::string_view last;  ///< text after the last CR that is not blank; `head` without a CR
  std::string_view bar;   ///< the text between the CRs before `last`; empty if there is none
  std::uint64_t number = 0;
  wire::ByteRange bytes;
  std::uint64_t last_from = 0;  ///< offset of `last` in the file
  std::uint32_t updates = 0;    ///< CR states that followed the first
  bool cut = false;
  bool plain = false;           ///< clean() would not change it
  bool percent = true;          ///< `last` may hold a `%`
  bool seams = true;            ///< `last` may hold a seam (seams.h), shown by a colon
  bool clocks = true;           ///< `last` may hold two colons as in a clock, if it is plain
  bool first = true;            ///< no piece of the same line came before
  bool more = false;            ///< another piece of the same line follows
  std::uint64_t cut_bytes = 0;  ///< bytes that were left out of a cut line
};

class LineFramer {
 public:
  explicit LineFramer(std::size_t line_bytes_max);

  void start_at(std::uint64_t line, std::uint64_t offset);
  /// `chunk` must live until next() returns false.
  void give(std::string_view chunk);
  bool next(RawLine& line);
  /// The unfinished last line, if there is one; to be called until it returns false.
  bool finish(RawLine& line);
  /// Like finish(), for a line that may grow: its further bytes come as a line of the same number.
  bool emit_unfinished(RawLine& line);

  /// False if no marked colon of `text`, a part of `line.last`, shows a seam; where bars may stand,
  /// if there is no such colon. The line is the last one.
  bool may_hold_seam(const RawLine& line, std::string_view text) const;

  /// The offset of the next line, and the number of lines before it, including one that was emitted
  /// unfinished.
  std::uint64_t offset() const { return offset_; }
  std::uint64_t lines() const { return number_ - 1 + (offered_ ? 1 : 0); }
  bool unfinished() const { return gathered_bytes_ > 0; }
  bool unfinished_bar() const { return gathered_bytes_ > 0 && (has_head_ || after_cr_); }

 private:
  struct State {  // one CR state
    std::string text;
    bool blank = true;
    std::uint64_t from = 0, to = 0;  // its bytes, counted from offset_; behind a hole, with its CR
  };

  bool absorb(std::size_t end);
  void append(std::string_view piece);
  bool has_piece() const;
  void emit_view(std::string_view view, ByteMarks::Signs signs, RawLine& line);
  void emit_gathered(RawLine& line);
  void emit_piece(RawLine& line);
  void emit_state(const State& state, RawLine& line);
  void close(RawLine& line, std::uint64_t bytes);

  std::size_t line_bytes_max_;
  std::string_view given_;
  std::size_t at_ = 0;                       // position in given_
  std::size_t view_from_ = 0, view_to_ = 0;  // the last line in given_; empty if it was gathered
  ByteMarks marks_;                          // marks of given_
  std::uint64_t number_ = 1;
  std::uint64_t offset_ = 0;
  bool emitted_gathered_ = false;
  bool offered_ = false;  // the line `number_` was emitted unfinished
  bool begun_ = false;    // a piece of the line `number_` was emitted

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
