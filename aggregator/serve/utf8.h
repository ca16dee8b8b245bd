// Code points of arbitrary bytes, such as log lines.
//
// Used by both renderings of a report. Thread-safe, no state; every byte sequence is accepted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace l4::serve {

struct CodePoint {
  char32_t value = 0xFFFD;  ///< U+FFFD if the bytes are no UTF-8
  std::size_t bytes = 1;    ///< its length, at least 1
};

/// First code point of `text`, which must not be empty. Overlong forms and surrogates are wrong.
CodePoint first_code_point(std::string_view text);

void append_code_point(std::string& out, char32_t value);

/// True for characters that control instead of showing: C0, DEL, C1, line separators, and those
/// that change the direction of writing.
bool is_control(char32_t value);

/// Cells on a terminal: 2 for East Asian wide characters and emoji, else 1.
std::size_t cells(char32_t value);
std::size_t cells(std::string_view text);

/// One line that is safe on a terminal: blanks for tabs and line ends, a visible sign for every
/// other control character (U+241B for ESC), U+FFFD for bytes that are no UTF-8.
std::string harmless(std::string_view text);

/// At most `width` cells, with an ellipsis in the last if something was cut.
std::string cut(std::string_view text, std::size_t width);

}  // namespace l4::serve
