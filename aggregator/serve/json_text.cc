#include "aggregator/serve/json_text.h"

#include <fmt/format.h>

#include <cmath>

#include "aggregator/serve/utf8.h"

namespace l4::serve {
namespace {

void append_escaped(std::string& out, char32_t value) {
  switch (value) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  if (!is_control(value)) return append_code_point(out, value);
  if (value < 0x10000) {
    out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(value));
    return;
  }
  const auto rest = static_cast<std::uint32_t>(value) - 0x10000;
  out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    append_escaped(out, point.value);
    text.remove_prefix(point.bytes);
  }
  out += '"';
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "0";
  if (std::abs(value) >= 1e12) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.4f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

JsonWriter& JsonWriter::start() {
  if (!first_) out_ += ", ";
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::write_bracket(char bracket, bool opens) {
  out_ += bracket;
  first_ = opens;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  start();
  append_json_text(out_, name);
  out_ += ": ";
  first_ = true;  // no comma comes before the value
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  start();
  append_json_text(out_, text);
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  start();
  out_ += json;
  return *this;
}

}  // namespace l4::serve
