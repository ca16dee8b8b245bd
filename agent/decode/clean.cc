#include "agent/decode/clean.h"

#include <algorithm>

#include "agent/text/scan.h"
#include "common/base/find_bytes.h"

namespace l4::decode {
namespace {

constexpr char kEscape = '\x1b';

/// Length of a colour sequence without its ESC, `[93m`, `[1;31m` or `[38;5;208m`; 0 for other text.
std::size_t lost_colour(std::string_view text) {
  std::size_t i = 1;
  std::size_t digits = 0;
  int value = 0;
  bool any = false;
  bool palette = false;  // numbers of colours follow 38 or 48
  for (; i < text.size() && i < 24; ++i) {
    if (text::is_digit(text[i])) {
      value = value * 10 + (text[i] - '0');
      if (++digits > 3) return 0;
      any = true;
    } else if (text[i] == ';' && digits > 0) {
      palette = palette || value == 38 || value == 48;
      digits = 0;
      value = 0;
    } else {
      break;
    }
  }
  if (!any || digits == 0 || i >= text.size() || text[i] != 'm' || value > (palette ? 255 : 107))
    return 0;
  if (i + 1 < text.size() && text[i + 1] == ']' && value != 0) return 0;  // a range: [5m]
  return i + 1;
}

/// Forms that some writers print instead of ESC.
void drop_spelled_escape(std::string& out) {
  for (const std::string_view spelled :
       {"\\x1b", "\\x1B", "\\u001b", "\\u001B", "\\033", "\\e", "^["})
    if (out.ends_with(spelled)) {
      out.erase(out.size() - spelled.size());
      return;
    }
}

/// Position of the first byte to be handled: below 0x20 except tabs, from 0x7f on, or the bracket
/// of a colour without ESC.
std::size_t find_dirt(std::string_view text, std::size_t at) {
  const auto suspect = [](auto byte) { return (byte < 0x20) | (byte == 0x7f) | (byte == '['); };
  for (;; ++at) {
    at = find_kind(text, at, suspect);
    if (at == text.size()) return at;
    if (text[at] == '[') {
      if (at + 2 < text.size() && text::is_digit(text[at + 1]) && lost_colour(text.substr(at)) > 0)
        return at;
    } else if (text[at] != '\t') {
      return at;
    }
  }
}

/// Length of the sequence at the start of `text`, which begins with ESC.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == ']') {  // OSC: up to BEL or ESC backslash
    for (std::size_t i = 2; i < text.size(); ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == kEscape) return i + 1 < text.size() && text[i + 1] == '\\' ? i + 2 : i;
    }
    return text.size();
  }
  if (std::string_view{"()*+-./#%"}.find(text[1]) != std::string_view::npos)
    return std::min<std::size_t>(3, text.size());  // character sets
  if (text[1] != '[') return text[1] >= 0x20 && text[1] < 0x7f ? 2 : 1;
  std::size_t i = 2;
  while (i < text.size() && text[i] >= 0x20 && text[i] < 0x40) ++i;
  if (i < text.size() && text[i] >= 0x40 && text[i] < 0x7f) ++i;
  return i;
}

/// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0);
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

/// True if the invalid byte at the front of `text` is a letter of Latin-1 in a word: `caf\xe9`, not
/// half of a character that was cut or belongs to another encoding. `before`: the text before it.
bool is_latin1_letter(std::string_view text, std::string_view before) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0xC0 || byte == 0xD7 || byte == 0xF7) return false;
  const bool alone = text.size() == 1 || (text[1] & 0xC0) != 0x80;  // begins no sequence
  const bool in_word = (text.size() > 1 && text::is_alpha(text[1])) ||
                       (!before.empty() && text::is_alpha(before.back()));
  return alone && in_word;
}

/// Handles the dirty byte at the start of `text`; returns the number of bytes that were handled.
std::size_t rewrite(std::string_view text, std::string& out, Dirt& dirt) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte == '[') {
    drop_spelled_escape(out);
    return lost_colour(text);
  }
  if (text[0] == kEscape) return escape_length(text);
  if (byte >= 0x80) {
    const std::size_t n = utf8_length(text);
    if (n > 0) {
      out.append(text.substr(0, n));
      return n;
    }
    ++dirt.invalid_utf8;
    if (is_latin1_letter(text, out))
      out.append({'\xC3', static_cast<char>(byte - 0x40)});
    else
      out.append("\xEF\xBF\xBD");
    return 1;
  }
  if (byte == 0) {
    ++dirt.nul_bytes;
  } else if (byte == '\v' || byte == '\f' || byte == '\r') {
    out.push_back(' ');
  } else if (byte != '\b' && byte != '\a') {
    ++dirt.control_bytes;
  }
  return 1;
}

}  // namespace

std::string_view clean(std::string_view line, std::string& scratch, Dirt& dirt) {
  std::size_t dirt_at = find_dirt(line, 0);
  if (dirt_at == line.size()) return line;
  scratch.clear();
  std::size_t at = 0;
  while (dirt_at < line.size()) {
    scratch.append(line.substr(at, dirt_at - at));
    at = dirt_at + rewrite(line.substr(dirt_at), scratch, dirt);
    dirt_at = find_dirt(line, at);
  }
  return scratch.append(line.substr(at));
}

bool is_no_text(std::size_t bytes, const Dirt& dirt) {
  constexpr std::uint64_t kControlsMin = 4;  // fewer prove nothing in a short line
  if (dirt.control_bytes == 0) return false;
  const std::uint64_t left = bytes - std::min<std::uint64_t>(bytes, dirt.nul_bytes);
  if (dirt.control_bytes >= kControlsMin) return dirt.control_bytes * 20 > left;
  return (dirt.control_bytes + dirt.invalid_utf8) * 3 > left;
}

}  // namespace l4::decode
