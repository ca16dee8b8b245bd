#include "aggregator/serve/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace l4::serve {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Range {
  char32_t first, last;
};

constexpr std::array kWide{
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
    Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD},
};

/// C1, zero width and direction marks, line and paragraph separators, overrides, isolates, BOM.
constexpr std::array kActing{
    Range{0x7F, 0x9F},     Range{0x061C, 0x061C}, Range{0x200B, 0x200F},   Range{0x2028, 0x202E},
    Range{0x2060, 0x206F}, Range{0xFEFF, 0xFEFF}, Range{0xE0000, 0xE007F},
};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, char32_t value) {
  return std::ranges::any_of(ranges, [&](Range r) { return value >= r.first && value <= r.last; });
}

/// The length of the sequence that `lead` begins and the smallest value that needs it; 0 if none.
struct Lead {
  std::size_t bytes;
  char32_t smallest;
  std::uint8_t mask;
};

Lead lead_of(std::uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0x1F};
  if (byte >= 0xE0 && byte <= 0xEF) return {3, 0x800, 0x0F};
  if (byte >= 0xF0 && byte <= 0xF4) return {4, 0x10000, 0x07};
  return {0, 0, 0};
}

/// The replacement of a character on a terminal; 0 keeps it.
char32_t shown_for(char32_t value) {
  if (value == '\t' || value == '\n' || value == '\r') return ' ';
  if (value < 0x20) return 0x2400 + value;
  if (value == 0x7F) return 0x2421;
  return is_control(value) ? kReplacement : 0;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const Lead lead = lead_of(byte(0));
  if (lead.bytes == 0 || text.size() < lead.bytes) return {};
  char32_t value = byte(0) & lead.mask;
  for (std::size_t i = 1; i < lead.bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < lead.smallest || value > 0x10FFFF || surrogate) return {};
  return {value, lead.bytes};
}

void append_code_point(std::string& out, char32_t value) {
  const auto append = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (value < 0x80) return append(value);
  if (value < 0x800) {
    append(0xC0 | (value >> 6));
  } else {
    if (value < 0x10000) {
      append(0xE0 | (value >> 12));
    } else {
      append(0xF0 | (value >> 18));
      append(0x80 | ((value >> 12) & 0x3F));
    }
    append(0x80 | ((value >> 6) & 0x3F));
  }
  append(0x80 | (value & 0x3F));
}

bool is_control(char32_t value) {
  return value < 0x20 || in(kActing, value);
}

std::size_t cells(char32_t value) {
  return value >= 0x1100 && in(kWide, value) ? 2 : 1;
}

std::size_t cells(std::string_view text) {
  std::size_t sum = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    sum += cells(point.value);
    text.remove_prefix(point.bytes);
  }
  return sum;
}

std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const char32_t shown = shown_for(point.value);
    append_code_point(out, shown != 0 ? shown : point.value);
    text.remove_prefix(point.bytes);
  }
  return out;
}

std::string cut(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t kept = 0;  // bytes that leave room for the ellipsis
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    used += cells(point.value);
    if (used > width) return width == 0 ? "" : std::string(text.substr(0, kept)) + "…";
    at += point.bytes;
    if (used < width) kept = at;
  }
  return std::string(text);
}

}  // namespace l4::serve
