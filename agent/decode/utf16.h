// UTF-16 to UTF-8: what PowerShell and some Windows tools write.
//
// Place in the flow: last stage of discover::FileReader, which knows the encoding of a whole file
// by its byte order mark, else by NUL in every second byte; and in the decoder for single lines,
// where a file is read as it grows or another tool has appended to it. Lone surrogates and a last
// odd byte become U+FFFD; the mark itself is dropped. One per text, one thread; keeps at most three
// bytes between calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace l4::decode {

enum class ByteOrder : std::uint8_t { little, big };

/// The byte order if a file that begins with `head` is UTF-16.
std::optional<ByteOrder> utf16_order(std::string_view head);

/// Decodes a line of UTF-16 whose end was found byte by byte. False: the line is none; it is if NUL
/// stands in at least a quarter of its units, and in the same half of each.
bool decode_utf16_line(std::string_view line, std::string& out);

class Utf16Decoder {
 public:
  explicit Utf16Decoder(ByteOrder order) : order_(order) {}

  /// Appends the text of `bytes` to `out`.
  void decode(std::string_view bytes, std::string& out);
  /// Appends U+FFFD for an unfinished last character.
  void finish(std::string& out);

 private:
  void unit(std::uint16_t value, std::string& out);

  ByteOrder order_;
  std::optional<unsigned char> half_;       // first byte of a unit
  std::optional<std::uint16_t> surrogate_;  // waits for its second unit
  bool first_ = true;
};

}  // namespace l4::decode
