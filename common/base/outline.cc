#include "common/base/outline.h"

#include <algorithm>
#include <cstring>

#include "common/base/ascii.h"
#include "common/base/collapse.h"
#include "common/base/hash.h"
#include "common/base/outline_memo.h"

namespace l4 {
namespace {

/// Like hashing::of_bytes, but in two lanes, so that half as many steps wait for each other.
std::uint64_t hash_of(CollapsedText& text, std::size_t size) {
  constexpr std::size_t kHashStep = 32;
  static_assert(kHashStep <= kByteBlock, "zeros follow the text");
  std::memset(text.data() + size, 0, kHashStep);
  std::uint64_t one = size * hashing::kA, other = hashing::kC;
  for (std::size_t at = 0; at < size; at += kHashStep) {
    const auto word = [&](std::size_t i) {
      return hashing::load<std::uint64_t>(text.data() + at + i * sizeof(std::uint64_t));
    };
    one = hashing::fold(word(0) ^ hashing::kB, word(1) ^ one);
    other = hashing::fold(word(2) ^ hashing::kB, word(3) ^ other);
  }
  return hashing::fold(one ^ hashing::kB, other);
}

bool is_hex_digit(char c) {
  return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/// Appends other hexadecimal digits for a run of `size`: mixed ones, letters alone, or no letters.
void append_hex(std::size_t size, const DigitProbe& with, std::string& out) {
  const bool fixed = with.run.empty();
  for (std::size_t i = 0; i < (fixed ? size : with.run.size()); ++i) {
    const char digit = fixed ? with.digit : with.run[i];
    const bool letter = fixed && digit == '9' ? true : fixed && digit == '4' ? false : i % 2 == 1;
    out += letter ? static_cast<char>('a' + (digit - '0') % 6) : digit;
  }
}

}  // namespace

Outline outline_of(std::string_view line) {
  if (line.empty() || line.size() > Outline::kBytesMax) return {};
  CollapsedText text;
  const CollapsedLine collapsed = collapse(line, text);
  const std::uint64_t hash = hash_of(text, collapsed.size);
  return {hash != 0 ? hash : 1, hashing::fold(collapsed.digits ^ hash, hashing::kC) | 1};
}

std::string_view probe(std::string_view line, const DigitProbe& with, std::string& out) {
  out.clear();
  for (auto at = line.begin(); at != line.end();) {
    const auto digits = std::find_if(at, line.end(), is_digit);
    out.append(at, digits);
    at = std::find_if_not(digits, line.end(), is_digit);
    const auto size = static_cast<std::size_t>(at - digits);
    const bool marks_hex = size == 1 && *digits == '0' && line.end() - at > 1 && *at == 'x';
    if (marks_hex && is_hex_digit(at[1])) {
      const auto behind = std::find_if_not(at + 1, line.end(), is_hex_digit);
      out.append(digits, at + 1);
      append_hex(static_cast<std::size_t>(behind - at - 1), with, out);
      at = behind;
    } else if (with.run.empty()) {
      out.append(size, with.digit);
    } else if (size > 0) {
      out.append(with.run);
    }
  }
  return out;
}

}  // namespace l4
