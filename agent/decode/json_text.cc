#include "agent/decode/json_text.h"

namespace l4::decode {
namespace {

int hex_value(std::string_view digits) {
  int value = 0;
  for (const char c : digits) {
    value *= 16;
    if (text::is_digit(c))
      value += c - '0';
    else if (c >= 'a' && c <= 'f')
      value += c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
      value += c - 'A' + 10;
    else
      return -1;
  }
  return value;
}

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

/// `\uXXXX`, surrogate pairs joined; the cursor stands behind the `u`.
bool parse_unicode(text::Cursor& cursor, std::string& out) {
  const int high = cursor.rest().size() < 4 ? -1 : hex_value(cursor.rest().substr(0, 4));
  if (high < 0) return false;
  cursor.at += 4;
  if (high < 0xD800 || high > 0xDBFF) {
    append_utf8(out, high >= 0xDC00 && high <= 0xDFFF ? 0xFFFDU : static_cast<unsigned>(high));
    return true;
  }
  const std::string_view rest = cursor.rest();
  const int low = rest.size() >= 6 && rest.starts_with("\\u") ? hex_value(rest.substr(2, 4)) : -1;
  if (low < 0xDC00 || low > 0xDFFF) {
    append_utf8(out, 0xFFFD);
    return true;
  }
  cursor.at += 6;
  append_utf8(out, 0x10000U + ((static_cast<unsigned>(high) - 0xD800U) << 10) +
                       (static_cast<unsigned>(low) - 0xDC00U));
  return true;
}

}  // namespace

/// A JSON string; the cursor stands behind the opening quote and ends behind the closing one.
bool parse_json_string(text::Cursor& cursor, std::string& out) {
  while (!cursor.done()) {
    const std::size_t stop = cursor.text.find_first_of("\"\\", cursor.at);
    if (stop == std::string_view::npos) return false;
    out.append(cursor.text.substr(cursor.at, stop - cursor.at));
    cursor.at = stop + 1;
    if (cursor.text[stop] == '"') return true;
    const char c = cursor.peek();
    ++cursor.at;
    switch (c) {
      case 'n':
        out.push_back('\n');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'u':
        if (!parse_unicode(cursor, out)) return false;
        break;
      default:
        out.push_back(c);
    }
  }
  return false;
}

bool skip_json_string(text::Cursor& cursor, std::string_view& raw) {
  const std::size_t from = cursor.at;
  while (!cursor.done()) {
    const std::size_t stop = cursor.text.find_first_of("\"\\", cursor.at);
    if (stop == std::string_view::npos) return false;
    cursor.at = stop + 1;
    if (cursor.text[stop] == '"') {
      raw = cursor.text.substr(from, stop - from);
      return true;
    }
    ++cursor.at;
  }
  return false;
}

}  // namespace l4::decode
