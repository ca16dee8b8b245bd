#include "common/base/collapse.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/base/hash.h"

#if defined(__x86_64__)
#define L4_WIDE_COLLAPSE 1
#include <immintrin.h>
#endif

namespace l4 {
namespace {

constexpr std::size_t kStep = sizeof(ByteVector);

constexpr auto is_digit = [](auto byte) { return (byte >= '0') & (byte <= '9'); };

constexpr std::uint64_t ones(std::size_t count) {
  return ~std::uint64_t{0} >> (kByteBlock - count);
}

std::uint64_t with_digits(std::uint64_t hash, std::uint64_t digits) {
  return hashing::fold(digits ^ hashing::kB, hash ^ hashing::kA);
}

/// Appends `size` bytes in steps of 16; both sides have room for what is too much.
char* append(char* out, const char* from, std::size_t size) {
  std::memcpy(out, from, kStep);
  for (std::size_t done = kStep; done < size; done += kStep)
    std::memcpy(out + done, from + done, kStep);
  return out + size;
}

#ifdef L4_WIDE_COLLAPSE
__attribute__((target("avx512f,avx512bw,avx512vbmi2"))) CollapsedLine
collapse_widely(std::string_view line, CollapsedText& text) {
  char* out = text.data();
  std::uint64_t hash = 0, before = 0;
  for (std::size_t at = 0; at < line.size(); at += kByteBlock) {
    const std::uint64_t inside = ones(std::min(line.size() - at, kByteBlock));
    const __m512i bytes = _mm512_maskz_loadu_epi8(inside, line.data() + at);
    const __m512i above_zero = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));
    const std::uint64_t digits =
        _mm512_mask_cmplt_epu8_mask(inside, above_zero, _mm512_set1_epi8(10));
    const std::uint64_t begins = digits & ~(digits << 1 | before);
    before = digits >> (kByteBlock - 1);
    const std::uint64_t kept = (inside & ~digits) | begins;
    const __m512i signs = _mm512_maskz_mov_epi8(~begins, bytes);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, signs));
    out += std::popcount(kept);
    hash = with_digits(hash, digits);
  }
  return {static_cast<std::size_t>(out - text.data()), hash};
}

const bool kIsWide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
#endif

}  // namespace

CollapsedLine collapse_portably(std::string_view line, CollapsedText& text) {
  char* out = text.data();
  std::uint64_t hash = 0;
  bool in_digits = false;
  for (std::size_t at = 0; at < line.size(); at += kByteBlock) {
    std::array<char, kByteBlock + kStep> rest;
    const char* bytes = line.data() + at;
    const std::size_t size = std::min(line.size() - at, kByteBlock);
    if (line.size() - at < rest.size()) {
      std::memcpy(rest.data(), bytes, line.size() - at);
      bytes = rest.data();
    }
    const std::uint64_t inside = ones(size);
    const std::uint64_t digits = bits_of_block(bytes, is_digit) & inside;
    std::uint64_t turns = (digits ^ (digits << 1 | (in_digits ? 1 : 0))) & inside;
    std::size_t from = 0;  // in this block
    for (; turns != 0; turns &= turns - 1) {
      const auto turn = static_cast<std::size_t>(std::countr_zero(turns));
      if (!in_digits) {
        out = append(out, bytes + from, turn - from);
        *out++ = '\0';
      }
      from = turn;
      in_digits = !in_digits;
    }
    if (!in_digits) out = append(out, bytes + from, size - from);
    hash = with_digits(hash, digits);
  }
  return {static_cast<std::size_t>(out - text.data()), hash};
}

CollapsedLine collapse(std::string_view line, CollapsedText& text) {
#ifdef L4_WIDE_COLLAPSE
  if (kIsWide) return collapse_widely(line, text);
#endif
  return collapse_portably(line, text);
}

}  // namespace l4
