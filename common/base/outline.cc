#include "common/base/outline.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/base/ascii.h"
#include "common/base/collapse.h"
#include "common/base/find_bytes.h"
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

/// Writes other hexadecimal digits for a run of `size`: mixed ones, letters alone, or no letters.
/// Returns the end of what was written.
char* write_hex(std::size_t size, const DigitProbe& with, char* out) {
  const bool fixed = with.run.empty();
  for (std::size_t i = 0; i < (fixed ? size : with.run.size()); ++i) {
    const char digit = fixed ? with.digit : with.run[i];
    const bool letter = fixed && digit == '9' ? true : fixed && digit == '4' ? false : i % 2 == 1;
    *out++ = letter ? static_cast<char>('a' + (digit - '0') % 6) : digit;
  }
  return out;
}

constexpr std::size_t kProbeStep = sizeof(ByteVector);

/// Copies the text from `at` on up to its next digit, sixteen bytes at a time, so that some bytes
/// behind are written, too. `at` becomes the position of the digit, else the size of the text.
char* copy_to_digit(std::string_view text, std::size_t& at, char* out) {
  for (; at + kProbeStep <= text.size(); at += kProbeStep, out += kProbeStep) {
    ByteVector bytes;
    std::memcpy(&bytes, text.data() + at, kProbeStep);
    std::memcpy(out, &bytes, kProbeStep);
    const std::uint64_t digits = bits_of((bytes >= '0') & (bytes <= '9'));
    if (digits == 0) continue;
    const auto before = static_cast<std::size_t>(std::countr_zero(digits));
    at += before;
    return out + before;
  }
  for (; at < text.size() && !is_digit(text[at]); ++at) *out++ = text[at];
  return out;
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
  std::array<char, kProbeStep> run{}, digits{};
  const std::size_t run_size = with.run.copy(run.data(), run.size());
  digits.fill(with.digit);
  const auto write = [&](char* to) {
    for (std::size_t at = 0;;) {
      to = copy_to_digit(line, at, to);
      if (at >= line.size()) return to;
      const std::size_t from = at;
      while (at < line.size() && is_digit(line[at])) ++at;
      const std::size_t size = at - from;
      const bool marks_hex = size == 1 && line[from] == '0' && line.size() - at > 1 &&
                             line[at] == 'x' && is_hex_digit(line[at + 1]);
      if (marks_hex) {
        const std::size_t hex = ++at;
        while (at < line.size() && is_hex_digit(line[at])) ++at;
        *to++ = '0';
        *to++ = 'x';
        to = write_hex(at - hex, with, to);
      } else if (run_size > 0) {
        std::memcpy(to, run.data(), kProbeStep);
        to += run_size;
      } else {
        for (std::size_t done = 0; done < size; done += kProbeStep)
          std::memcpy(to + done, digits.data(), kProbeStep);
        to += size;
      }
    }
  };
  // Each digit becomes a run at most, and some bytes are written behind the last.
  const std::size_t most = line.size() * std::max<std::size_t>(run_size, 1) + 2 * kProbeStep;
  out.resize_and_overwrite(most, [&](char* begin, std::size_t) { return write(begin) - begin; });
  return out;
}

}  // namespace l4
