// Parses or skips a JSON string.
//
// The cursor begins behind the opening quote and ends behind the closing one; false if the string
// is invalid or has no end. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "agent/text/scan.h"

namespace l4::decode {

/// Appends the unescaped text to `out`. Lone surrogates become U+FFFD.
bool parse_json_string(text::Cursor& cursor, std::string& out);

/// Skips the string; `raw` is its text with the escapes.
bool skip_json_string(text::Cursor& cursor, std::string_view& raw);

}  // namespace l4::decode
