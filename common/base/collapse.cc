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

constexpr auto is_decimal = [](auto byte) { return (byte >= '0') & (byte <= '9'); };
constexpr auto is_zero = [](auto byte) { return byte == '0'; };
constexpr auto is_x = [](auto byte) { return byte == 'x'; };
constexpr auto is_hex_letter = [](auto byte) {
  return ((byte >= 'a') & (byte <= 'f')) | ((byte >= 'A') & (byte <= 'F'));
};
constexpr char kDigitRun = '\0', kHexRun = '\n';

constexpr std::uint64_t ones(std::size_t count) {
  return ~std::uint64_t{0} >> (kByteBlock - count);
}

std::uint64_t with_digits(std::uint64_t hash, std::uint64_t digits) {
  return hashing::fold(digits ^ hashing::kB, hash ^ hashing::kA);
}

/// Finds the hexadecimal digits behind `0x` of a line, block by block.
class HexRuns {
 public:
  /// The positions where runs may begin: behind the `x` of each `0x`, and at the first byte if the
  /// run of the previous block may continue. Called for each block.
  std::uint64_t begins(std::uint64_t digits, std::uint64_t zeros, std::uint64_t xs) {
    const std::uint64_t alone = zeros & ~(digits << 1 | digit_before_);
    const std::uint64_t marks = xs & (alone << 1 | zero_before_);
    const std::uint64_t begins = marks << 1 | mark_before_ | run_before_;
    digit_before_ = digits >> kLast;
    zero_before_ = alone >> kLast;
    mark_before_ = marks >> kLast;
    if (begins == 0) runs_before_ = 0;
    return begins;
  }

  /// The bits of the runs that begin at `begins`; `all`: all hexadecimal digits of the block.
  /// Called only if a run may begin.
  std::uint64_t runs(std::uint64_t all, std::uint64_t begins) {
    std::uint64_t runs = 0;
    for (; begins != 0; begins &= begins - 1) {
      const std::uint64_t first = begins & -begins;
      const bool goes_on = first == run_before_;
      const bool zero_in_run = ((runs << 2 | runs_before_) & first) != 0;
      // The carry marks the run to its end.
      if (goes_on || !zero_in_run) runs |= all & ~(all + (first & all));
    }
    runs_before_ = runs >> (kLast - 1);
    run_before_ = runs >> kLast;
    return runs;
  }

 private:
  static constexpr std::size_t kLast = kByteBlock - 1;
  // How the previous block ended.
  std::uint64_t digit_before_ = 0, zero_before_ = 0, mark_before_ = 0, run_before_ = 0;
  std::uint64_t runs_before_ = 0;  // two bits
};

/// Appends `size` bytes in steps of 16; both buffers have room for the surplus.
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
  HexRuns hex_runs;
  for (std::size_t at = 0; at < line.size(); at += kByteBlock) {
    const std::uint64_t inside = ones(std::min(line.size() - at, kByteBlock));
    const __m512i bytes = _mm512_maskz_loadu_epi8(inside, line.data() + at);
    const __m512i above_zero = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));
    std::uint64_t digits = _mm512_mask_cmplt_epu8_mask(inside, above_zero, _mm512_set1_epi8(10));
    const std::uint64_t hex_begins =
        hex_runs.begins(digits, _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('0')),
                        _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('x')));
    std::uint64_t hex = 0;
    if (hex_begins != 0) {
      const __m512i lower = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
      const __m512i above_a = _mm512_sub_epi8(lower, _mm512_set1_epi8('a'));
      const std::uint64_t letters = _mm512_cmplt_epu8_mask(above_a, _mm512_set1_epi8(6));
      hex = hex_runs.runs(digits | letters, hex_begins);
    }
    digits |= hex;
    const std::uint64_t begins = digits & ~(digits << 1 | before);
    before = digits >> (kByteBlock - 1);
    const std::uint64_t kept = (inside & ~digits) | begins;
    const __m512i marked = _mm512_mask_mov_epi8(bytes, hex, _mm512_set1_epi8(kHexRun));
    const __m512i signs = _mm512_maskz_mov_epi8(~begins | hex, marked);
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
  HexRuns hex_runs;
  for (std::size_t at = 0; at < line.size(); at += kByteBlock) {
    std::array<char, kByteBlock + kStep> rest;
    const char* bytes = line.data() + at;
    const std::size_t size = std::min(line.size() - at, kByteBlock);
    if (line.size() - at < rest.size()) {
      std::memcpy(rest.data(), bytes, line.size() - at);
      bytes = rest.data();
    }
    const std::uint64_t inside = ones(size);
    std::uint64_t digits = bits_of_block(bytes, is_decimal) & inside;
    const std::uint64_t hex_begins = hex_runs.begins(digits, bits_of_block(bytes, is_zero) & inside,
                                                     bits_of_block(bytes, is_x) & inside);
    const std::uint64_t hex =
        hex_begins == 0
            ? 0
            : hex_runs.runs(digits | (bits_of_block(bytes, is_hex_letter) & inside), hex_begins);
    digits |= hex;
    std::uint64_t turns = (digits ^ (digits << 1 | (in_digits ? 1 : 0))) & inside;
    std::size_t from = 0;  // in this block
    for (; turns != 0; turns &= turns - 1) {
      const auto turn = static_cast<std::size_t>(std::countr_zero(turns));
      if (!in_digits) {
        out = append(out, bytes + from, turn - from);
        *out++ = (hex >> turn & 1) != 0 ? kHexRun : kDigitRun;
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
