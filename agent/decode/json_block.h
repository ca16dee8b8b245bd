// A JSON object that is printed over several lines, gathered until its last brace.
//
// The decoder opens a block at a line that begins an object and does not end it, and gives it the
// next lines of the same voice, behind their envelopes and prefixes. A complete object becomes one
// line again; if it is none, the decoder takes the lines back as they were. Bounded by the
// decoder's `line_bytes_max` and `fold_lines_max`. One thread; keeps its capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/envelope.h"
#include "agent/decode/line_framer.h"

namespace l4::decode {

class JsonBlock {
 public:
  /// One of the lines, as the decoder was given it.
  struct Line {
    std::size_t from = 0, size = 0;  // its text
    RawLine raw;                     // without views
    std::optional<Envelope> envelope;
    std::size_t lines_from = 0, lines = 0;  // its physical lines
  };
  enum class State : std::uint8_t { open, complete, broken };

  /// True for a line that begins an object and does not end it.
  static bool begins(std::string_view text);
  /// True for a line that may continue an object.
  static bool continues(std::string_view text);

  bool is_open() const { return !lines_.empty(); }
  std::uint64_t voice() const { return voice_; }
  void open(std::uint64_t voice);
  void close() { lines_.clear(); }

  /// `given`: the line with its prefixes; `text`: the line behind them.
  State add(std::string_view given, std::string_view text, const RawLine& raw,
            std::span<const std::uint64_t> numbers, const Envelope* envelope);

  /// The whole object on one line, with the prefixes of its first line; and the object alone.
  std::string_view joined() const { return joined_; }
  std::string_view object() const { return std::string_view(joined_).substr(object_from_); }

  const std::vector<Line>& lines() const { return lines_; }
  std::string_view text_of(const Line& line) const {
    return std::string_view(texts_).substr(line.from, line.size);
  }
  std::span<const std::uint64_t> numbers_of(const Line& line) const {
    return std::span(numbers_).subspan(line.lines_from, line.lines);
  }
  std::span<const std::uint64_t> numbers() const { return numbers_; }
  wire::ByteRange bytes() const { return {lines_.front().raw.bytes.from, to_}; }
  std::size_t size() const { return texts_.size(); }

 private:
  State scan(std::string_view text);

  std::uint64_t voice_ = 0, to_ = 0;
  std::vector<Line> lines_;
  std::vector<std::uint64_t> numbers_;
  std::string texts_, joined_;
  std::size_t object_from_ = 0;
  int depth_ = 0;
};

}  // namespace l4::decode
