#include "agent/decode/byte_marks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "agent/decode/seams.h"
#include "common/base/find_bytes.h"

#if defined(__x86_64__)
#define L4_WIDE_MARKS 1
#include <immintrin.h>
#endif

namespace l4::decode {
namespace {

/// The marks of 64 bytes, one bit for each.
struct Marks {
  std::uint64_t ends = 0, returns = 0;
  std::uint64_t odd = 0;       ///< control characters and bytes from 0x7f on, without tabs and LF
  std::uint64_t brackets = 0;  ///< `[`
  std::uint64_t numbers = 0;   ///< digits and `;`
  std::uint64_t closers = 0;   ///< `m`
  std::uint64_t percents = 0;  ///< `%`
  std::uint64_t colons = 0;    ///< `:`
  std::uint64_t tag_ends = 0;  ///< `]`, `>` and other signs that rarely stand before a colon
};

/// True for `<=>?`, `\\]^_` and `|}~`.
constexpr signed char kTagEndBits = static_cast<signed char>(0x9C), kTagEnd = 0x1C;

Marks marks_portably(const char* bytes) {
  Marks marks;
  marks.odd = bits_of_block(bytes, [](auto byte) { return (byte < 0x20) | (byte == 0x7f); });
  if (marks.odd != 0) {
    const auto all_of = [&](signed char sign) {
      return bits_of_block(bytes, [sign](auto byte) { return byte == sign; });
    };
    marks.ends = all_of('\n');
    marks.returns = all_of('\r');
    marks.odd &= ~(marks.ends | all_of('\t'));
  }
  marks.brackets = bits_of_block(bytes, [](auto byte) { return byte == '['; });
  marks.numbers = bits_of_block(
      bytes, [](auto byte) { return ((byte >= '0') & (byte <= '9')) | (byte == ';'); });
  marks.closers = bits_of_block(bytes, [](auto byte) { return byte == 'm'; });
  marks.percents = bits_of_block(bytes, [](auto byte) { return byte == '%'; });
  marks.colons = bits_of_block(bytes, [](auto byte) { return byte == ':'; });
  marks.tag_ends = bits_of_block(bytes, [](auto byte) { return (byte & kTagEndBits) == kTagEnd; });
  return marks;
}

#ifdef L4_WIDE_MARKS
#define L4_WIDE __attribute__((target("avx512f,avx512bw")))

L4_WIDE std::uint64_t all_of(__m512i text, char sign) {
  return _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(sign));
}

L4_WIDE inline Marks marks_widely(const char* bytes) {
  const __m512i text = _mm512_loadu_si512(bytes);
  Marks marks;
  marks.ends = all_of(text, '\n');
  marks.returns = all_of(text, '\r');
  marks.odd = (_mm512_cmplt_epi8_mask(text, _mm512_set1_epi8(0x20)) | all_of(text, 0x7f)) &
              ~(marks.ends | all_of(text, '\t'));
  marks.brackets = all_of(text, '[');
  const __m512i above_zero = _mm512_sub_epi8(text, _mm512_set1_epi8('0'));
  marks.numbers = _mm512_cmplt_epu8_mask(above_zero, _mm512_set1_epi8(10)) | all_of(text, ';');
  marks.closers = all_of(text, 'm');
  marks.percents = all_of(text, '%');
  marks.colons = all_of(text, ':');
  marks.tag_ends = _mm512_cmpeq_epi8_mask(_mm512_and_si512(text, _mm512_set1_epi8(kTagEndBits)),
                                          _mm512_set1_epi8(kTagEnd));
  return marks;
}

const bool kIsWide = __builtin_cpu_supports("avx512bw");
#endif

}  // namespace

/// `bits` shifted by `n`, with the last bits of the block before.
[[gnu::always_inline]] inline std::uint64_t behind(std::uint64_t bits, std::uint64_t before,
                                                   int n) {
  return bits << n | before >> (64 - n);
}

/// Colons that may show a seam (seams.h): three bytes behind another, as in a clock, or directly
/// behind `]` or `>`.
[[gnu::always_inline]] inline std::uint64_t seams_of(const Marks& now, std::uint64_t colons_before,
                                                     std::uint64_t tag_ends_before) {
  return now.colons &
         (behind(now.colons, colons_before, 3) | behind(now.tag_ends, tag_ends_before, 1));
}

/// Bytes that are fetched ahead, because the processor itself does so within a page only.
constexpr std::size_t kAhead = 2048;

/// Inlined, so that its loop is built for the same processor as `MarksOf`.
template <auto MarksOf>
[[gnu::always_inline]] inline void ByteMarks::read_with(std::string_view block) {
  size_ = block.size();
  const std::size_t words = (size_ + kByteBlock - 1) / kByteBlock;
  ends_.resize(words);
  odd_.resize(words);
  percents_.resize(words);
  seams_.resize(words);
  std::uint64_t colons_before = 0, tag_ends_before = 0;
  std::uint64_t returns = 0;
  std::uint64_t bracket = 0, in_run = 0;  // carried from one block of 64 bytes to the next
  for (std::size_t i = 0; i < words; ++i) {
    const std::size_t at = i * kByteBlock;
    std::array<char, kByteBlock> last;
    const char* bytes = block.data() + at;
    if (size_ - at < kByteBlock) {
      last.fill(' ');
      std::memcpy(last.data(), bytes, size_ - at);
      bytes = last.data();
    }
    if (at + kAhead < size_) __builtin_prefetch(block.data() + at + kAhead);
    const Marks marks = MarksOf(bytes);
    // Adding one to each run of digits behind a bracket carries a bit to the sign behind the run.
    const std::uint64_t begins = (marks.numbers & (marks.brackets << 1 | bracket)) | in_run;
    const std::uint64_t carried = marks.numbers + begins;
    in_run = carried < begins ? 1 : 0;
    bracket = marks.brackets >> (kByteBlock - 1);
    const std::uint64_t colours = carried & ~marks.numbers & marks.closers;
    ends_[i] = marks.ends;
    odd_[i] = marks.odd | colours;
    percents_[i] = marks.percents;
    seams_[i] = seams_of(marks, colons_before, tag_ends_before);
    colons_before = marks.colons;
    tag_ends_before = marks.tag_ends;
    returns |= marks.returns;
  }
  holds_cr_ = returns != 0;
}

#ifdef L4_WIDE_MARKS
L4_WIDE void ByteMarks::read_widely(std::string_view block) {
  read_with<marks_widely>(block);
}
#endif

void ByteMarks::read(std::string_view block) {
#ifdef L4_WIDE_MARKS
  if (kIsWide) return read_widely(block);
#endif
  read_with<marks_portably>(block);
}

std::size_t ByteMarks::line_end(std::size_t at) const {
  std::size_t i = at / kByteBlock;
  if (i >= ends_.size()) return size_;
  std::uint64_t bits = ends_[i] & ~std::uint64_t{0} << at % kByteBlock;
  while (bits == 0) {
    if (++i == ends_.size()) return size_;
    bits = ends_[i];
  }
  return i * kByteBlock + static_cast<std::size_t>(std::countr_zero(bits));
}

/// True if a bit of [from, to) is set.
[[gnu::always_inline]] inline bool any_of_bits(const std::vector<std::uint64_t>& bits,
                                               std::size_t from, std::size_t to) {
  if (from >= to) return false;
  const std::size_t first = from / kByteBlock, last = (to - 1) / kByteBlock;
  std::uint64_t word = bits[first] >> from % kByteBlock << from % kByteBlock;
  for (std::size_t i = first; i < last; word = bits[++i])
    if (word != 0) return true;
  return word << (kByteBlock - 1 - (to - 1) % kByteBlock) != 0;
}

ByteMarks::Signs ByteMarks::signs(std::size_t from, std::size_t to) const {
  if (from >= to) return {.clocks = false};
  const std::size_t first = from / kByteBlock, last = (to - 1) / kByteBlock;
  const std::uint64_t behind_from = ~std::uint64_t{0} << from % kByteBlock;
  const std::uint64_t before_to = ~std::uint64_t{0} >> (kByteBlock - 1 - (to - 1) % kByteBlock);
  const std::uint64_t head = first == last ? behind_from & before_to : behind_from;
  std::uint64_t odd = odd_[first] & head;
  std::uint64_t percents = percents_[first] & head;
  std::uint64_t seams = seams_[first] & head;
  if (first != last) {
    odd |= odd_[last] & before_to;
    percents |= percents_[last] & before_to;
    seams |= seams_[last] & before_to;
  }
  for (std::size_t i = first + 1; i < last; ++i) {
    odd |= odd_[i];
    percents |= percents_[i];
    seams |= seams_[i];
  }
  return {odd == 0, percents != 0, seams != 0 && any_of_bits(seams_, from + kSeamColumn, to),
          seams != 0};
}

std::size_t ByteMarks::seam_colon(std::size_t from, std::size_t to) const {
  if (from >= to) return to;
  std::size_t i = from / kByteBlock;
  const std::size_t last = (to - 1) / kByteBlock;
  std::uint64_t bits = seams_[i] >> from % kByteBlock << from % kByteBlock;
  while (bits == 0 && i < last) bits = seams_[++i];
  return bits == 0
             ? to
             : std::min(to, i * kByteBlock + static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace l4::decode
