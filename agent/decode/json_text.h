// Strings of JSON: unescaped, or stepped over.
//
// The cursor stands behind the opening quote and ends behind the closing one; false if the string
// is broken or never ends. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "agent/text/scan.h"

namespace l4::decode {

/// Appends the text to `out`. Lone surrogates become U+FFFD.
bool parse_json_string(text::Cursor& cursor, std::string& out);

/// `raw` keeps its escapes.
bool skip_json_string(text::Cursor& cursor, std::string_view& raw);

}  // namespace l4::decode
