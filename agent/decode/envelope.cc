#include "agent/decode/envelope.h"

#include "agent/decode/scan.h"

namespace l4::decode {
namespace {

bool take_stream(Cursor& cursor, Stream& stream) {
  if (cursor.take("stdout")) {
    stream = Stream::out;
    return true;
  }
  if (cursor.take("stderr")) {
    stream = Stream::err;
    return true;
  }
  return false;
}

std::optional<Envelope> open_cri(std::string_view line) {
  if (line.size() < 30 || line[4] != '-' || line[10] != 'T') return std::nullopt;
  const std::size_t blank = line.substr(0, 48).find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  Envelope envelope;
  Cursor cursor{line, blank + 1};
  if (!take_stream(cursor, envelope.stream) || !cursor.take(' ')) return std::nullopt;
  const char tag = cursor.peek();
  if (tag != 'F' && tag != 'P') return std::nullopt;
  envelope.partial = tag == 'P';
  ++cursor.at;
  if (cursor.peek() == ':') {  // further tags
    while (!cursor.done() && cursor.peek() != ' ') ++cursor.at;
  }
  if (!cursor.done() && !cursor.take(' ')) return std::nullopt;
  envelope.time = parse_time(line.substr(0, blank));
  if (!envelope.time) return std::nullopt;
  envelope.content = cursor.rest();
  return envelope;
}

int hex_value(std::string_view digits) {
  int value = 0;
  for (const char c : digits) {
    value *= 16;
    if (is_digit(c))
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
bool take_unicode(Cursor& cursor, std::string& out) {
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

/// A JSON string; the cursor stands behind the opening quote and ends behind the closing one.
bool take_string(Cursor& cursor, std::string& out) {
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
        if (!take_unicode(cursor, out)) return false;
        break;
      default:
        out.push_back(c);
    }
  }
  return false;
}

/// Keeps the last CR state, as the framer does for bare lines.
std::string_view last_state(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  const std::size_t cr = text.rfind('\r');
  return cr == std::string_view::npos ? text : text.substr(cr + 1);
}

std::optional<Envelope> open_docker(std::string_view line, std::string& scratch) {
  Cursor cursor{line};
  if (!cursor.take("{\"log\":\"")) return std::nullopt;
  scratch.clear();
  if (!take_string(cursor, scratch)) return std::nullopt;
  Envelope envelope;
  const std::string_view tail = cursor.rest();
  const auto value_of = [&](std::string_view key) {
    const std::size_t at = tail.find(key);
    if (at == std::string_view::npos) return std::string_view{};
    const std::string_view value = tail.substr(at + key.size());
    return value.substr(0, value.find('"'));
  };
  Cursor stream{value_of("\"stream\":\"")};
  if (!take_stream(stream, envelope.stream)) return std::nullopt;
  envelope.time = parse_time(value_of("\"time\":\""));
  envelope.partial = !scratch.ends_with('\n');
  envelope.content = last_state(scratch);
  return envelope;
}

}  // namespace

std::optional<Envelope> open_envelope(std::string_view line, std::string& scratch) {
  if (line.empty()) return std::nullopt;
  if (line[0] == '2' || line[0] == '1') return open_cri(line);
  if (line[0] == '{') return open_docker(line, scratch);
  return std::nullopt;
}

}  // namespace l4::decode
