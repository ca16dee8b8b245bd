#include "common/drain/mask.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "common/base/find_bytes.h"
#include "common/drain/packed_words.h"
#include "common/drain/token_masker.h"

namespace l4::drain {
namespace {

/// Sums up the hashes of the skeleton and its quarters.
class HashSink {
 public:
  void token(const char* bytes, std::size_t size) {
    const std::uint64_t hash = placed(hash_token(bytes, size), line_.tokens++);
    if (size == 1 && bytes[0] == kWild) {
      line_.values += hash;
      return;
    }
    MaskedLine::Quarter& quarter = line_.quarters[words_++ % line_.quarters.size()];
    quarter.sum += hash;
    ++quarter.words;
  }
  MaskedLine finish() {
    std::uint64_t sum = kRowSeed + line_.values;
    for (const MaskedLine::Quarter& quarter : line_.quarters) sum += quarter.sum;
    line_.skeleton = Skeleton(sum);
    return line_;
  }

 private:
  MaskedLine line_;
  std::uint32_t words_ = 0;
};

class RowSink {
 public:
  void token(const char* bytes, std::size_t size) {
    row_.emplace_back(std::string_view(bytes, size));
  }
  Row finish() { return std::move(row_); }

 private:
  Row row_;
};

/// True if a masked token is `(<*>)` or `()`: an optional remark.
bool is_remark(const char* bytes, std::size_t size) {
  if (bytes[0] != '(') return false;
  while (size > 2 && (bytes[size - 1] == ',' || bytes[size - 1] == ':' || bytes[size - 1] == '.' ||
                      bytes[size - 1] == ';')) {
    --size;
  }
  return size >= 2 && bytes[size - 1] == ')';
}

constexpr PackedWords kWeekdays({"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"});
constexpr PackedWords kMonths({"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
                               "Nov", "Dec"});
constexpr PackedWords kZones({"UTC", "GMT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT",
                              "CET", "CEST", "BST", "IST", "JST", "KST", "AEST"});

/// True if `word` is a part of a written-out date or time: `Thu Aug 4 15:29:45 PDT 2005`.
bool is_date_word(std::string_view word, std::string_view rest, bool after_value) {
  if (word[0] < 'A' || word[0] > 'Z') return false;
  if (word[1] <= 'Z') return after_value && kZones.contain(word);
  while (!rest.empty() && has(rest.front(), kBlank)) rest.remove_prefix(1);
  if (kMonths.contain(word)) return !rest.empty() && has(rest.front(), kDigit);
  return kWeekdays.contain(word) && rest.size() > 3 && kMonths.contain(rest.substr(0, 3));
}

/// Tests for kBlank and kSuspect on many bytes at once.
constexpr auto is_blank = [](auto byte) {
  return (byte == ' ') | ((byte >= '\t') & (byte <= '\r'));
};
constexpr auto is_suspect = [](auto byte) {
  return ((byte >= '/') & (byte <= '9')) | (byte == '<') | (byte == '=') | (byte == '\\') |
         (byte == kWild);
};
static_assert([] {
  for (int byte = -128; byte < 128; ++byte) {
    const auto sign = static_cast<signed char>(byte);
    const auto c = static_cast<char>(byte);
    if (has(c, kBlank) != (is_blank(sign) != 0) || has(c, kSuspect) != (is_suspect(sign) != 0))
      return false;
  }
  return true;
}());

/// Positions of blanks and suspect bytes in a line, found in blocks of 64 bytes.
class ByteMap {
 public:
  explicit ByteMap(std::string_view line) : line_(line) {}

  std::size_t word(std::size_t at) {  ///< position of the first non-blank from `at` on
    return find(at, [](const Block& block) { return ~block.blanks; });
  }
  std::size_t blank(std::size_t at) {
    return find(at, [](const Block& block) { return block.blanks; });
  }
  std::size_t blank_or_suspect(std::size_t at) {
    return find(at, [](const Block& block) { return block.blanks | block.suspects; });
  }

 private:
  struct Block {
    std::uint64_t blanks = 0, suspects = 0;
  };

  template <class Bits>
  std::size_t find(std::size_t at, const Bits& bits) {
    while (at < line_.size()) {
      const std::uint64_t found = bits(block_of(at)) >> (at % kByteBlock);
      if (found != 0)
        return std::min(at + static_cast<std::size_t>(std::countr_zero(found)), line_.size());
      at = (at / kByteBlock + 1) * kByteBlock;
    }
    return line_.size();
  }

  const Block& block_of(std::size_t at) {
    const std::size_t from = at / kByteBlock * kByteBlock;
    if (from == from_) return block_;
    from_ = from;
    std::array<char, kByteBlock> last;
    const char* bytes = line_.data() + from;
    if (line_.size() - from < kByteBlock) {
      last.fill('\0');
      std::memcpy(last.data(), bytes, line_.size() - from);
      bytes = last.data();
    }
    block_ = {bits_of_block(bytes, is_blank), bits_of_block(bytes, is_suspect)};
    return block_;
  }

  std::string_view line_;
  std::size_t from_ = std::string_view::npos;
  Block block_;
};

/// Splits a line at blanks, masks tokens that need it, and joins runs of bare values.
template <class Sink>
class LineMasker {
 public:
  LineMasker(std::string_view line, const CodeList& codes, Sink& sink)
      : begin_(line.data()),
        at_(begin_),
        end_(line.data() + line.size()),
        map_(line),
        masker_(line, codes),
        sink_(sink) {}

  void run() {
    while (shown_ <= kTextMax) {
      at_ = begin_ + map_.word(offset());
      if (at_ == end_) return;
      const char* const begin = at_;
      at_ = begin_ + map_.blank_or_suspect(offset());
      if (at_token_end()) {  // a plain word, as most tokens are
        literal(begin, static_cast<std::size_t>(at_ - begin));
        continue;
      }
      if (at_ == begin) at_ = std::find_if(at_, end_, [](char c) { return has(c, kOther); });
      const bool plain = at_token_end();
      if (!plain) at_ = begin_ + map_.blank(offset());
      if (plain && masker_.plain(begin, at_)) {
        if (!after_value_) emit(&kWild, 1, true);
      } else {
        masked(begin);
      }
    }
  }

 private:
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  bool at_token_end() const { return at_ == end_ || has(*at_, kBlank); }

  void masked(const char* begin) {
    at_ = masker_.mask(begin, at_);
    const char* bytes = masker_.bytes();
    const std::size_t size = masker_.size();
    shown_ += 2 * masker_.wilds();
    if (!masker_.bare()) return emit(bytes, size, false);
    if (is_remark(bytes, size) || after_value_) return;
    emit(&kWild, 1, true);
  }

  void literal(const char* begin, std::size_t size) {
    if (size <= 3 && size >= 2 && begin[0] == '(' && begin[1] == ')' &&
        (size == 2 || !has(begin[2], kLetter))) {
      return;
    }
    if (size <= 4 && size >= 3 && is_date_word({begin, size}, {at_, end_}, after_value_)) {
      if (!after_value_) emit(&kWild, 1, true);
      return;
    }
    emit(begin, size < kTokenMax ? size : kTokenMax, false);
  }

  void emit(const char* bytes, std::size_t size, bool value) {
    shown_ += size + 3;
    if (shown_ > kTextMax) return;
    sink_.token(bytes, size);
    after_value_ = value;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  ByteMap map_;
  TokenMasker masker_;
  Sink& sink_;
  std::size_t shown_ = 0;
  bool after_value_ = false;
};

}  // namespace

MaskedLine masked_line(std::string_view message, const CodeList& codes) {
  HashSink sink;
  LineMasker<HashSink> masker(message, codes, sink);
  masker.run();
  return sink.finish();
}

bool may_hold_code(std::string_view message, const CodeList& codes) {
  bool in_run = false;
  for (std::size_t at = 0; at < message.size(); ++at) {
    const bool begins = !in_run && has(message[at], kDigit);
    in_run = has(message[at], kDigit);
    if (!begins) continue;
    const bool sign = at > 0 && (message[at - 1] == '-' || message[at - 1] == '+');
    if (codes.may_precede(message.substr(0, at)) ||
        (sign && codes.may_precede(message.substr(0, at - 1))))
      return true;
  }
  return false;
}

Skeleton masked_skeleton(std::string_view message, const CodeList& codes) {
  return masked_line(message, codes).skeleton;
}

Row masked_row(std::string_view message, const CodeList& codes) {
  RowSink sink;
  LineMasker<RowSink>(message, codes, sink).run();
  return sink.finish();
}

}  // namespace l4::drain
