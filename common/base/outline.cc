#include "common/base/outline.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/base/find_bytes.h"
#include "common/base/hash.h"
#include "common/base/outline_memo.h"

namespace l4 {
namespace {

constexpr std::size_t kBlock = kByteBlock, kStep = sizeof(ByteVector);
constexpr std::uint64_t kLengthFactor = 257;

constexpr auto is_digit = [](auto byte) { return (byte >= '0') & (byte <= '9'); };

/// Appends `size` bytes in steps of 16; both sides have room for what is too much.
char* append(char* out, const char* from, std::size_t size) {
  std::memcpy(out, from, kStep);
  for (std::size_t done = kStep; done < size; done += kStep)
    std::memcpy(out + done, from + done, kStep);
  return out + size;
}

}  // namespace

Outline outline_of(std::string_view line) {
  if (line.empty() || line.size() > Outline::kBytesMax) return {};
  std::array<char, Outline::kBytesMax + kBlock> text;  // each run of digits is one NUL in it
  char* out = text.data();
  std::uint64_t lengths = 0;  // of the runs
  bool in_digits = false;
  std::size_t run = 0;  // where it began
  for (std::size_t at = 0; at < line.size(); at += kBlock) {
    std::array<char, kBlock + kStep> rest;
    const char* bytes = line.data() + at;
    const std::size_t size = std::min(line.size() - at, kBlock);
    if (line.size() - at < kBlock + kStep) {
      std::memcpy(rest.data(), bytes, std::min(line.size() - at, rest.size()));
      bytes = rest.data();
    }
    const std::uint64_t inside = ~std::uint64_t{0} >> (kBlock - size);
    const std::uint64_t digits = bits_of_block(bytes, is_digit) & inside;
    std::uint64_t turns = (digits ^ (digits << 1 | (in_digits ? 1 : 0))) & inside;
    std::size_t from = 0;  // in this block
    for (; turns != 0; turns &= turns - 1) {
      const auto turn = static_cast<std::size_t>(std::countr_zero(turns));
      if (in_digits) {
        lengths = lengths * kLengthFactor + (at + turn - run);
      } else {
        out = append(out, bytes + from, turn - from);
        *out++ = '\0';
        run = at + turn;
      }
      from = turn;
      in_digits = !in_digits;
    }
    if (!in_digits) out = append(out, bytes + from, size - from);
  }
  if (in_digits) lengths = lengths * kLengthFactor + (line.size() - run);
  const std::uint64_t hash =
      hashing::of_bytes(text.data(), static_cast<std::size_t>(out - text.data()));
  return {hash != 0 ? hash : 1, hashing::fold(lengths ^ hash, hashing::kC) | 1};
}

std::string_view probe(std::string_view line, const DigitProbe& with, std::string& out) {
  out.clear();
  bool in_run = false;
  for (const char c : line) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      out += c;
    else if (with.run.empty())
      out += with.digit;
    else if (!in_run)
      out += with.run;
    in_run = digit;
  }
  return out;
}

}  // namespace l4
