#include "common/drain/mask.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "common/base/find_bytes.h"
#include "common/drain/packed_words.h"
#include "common/drain/token_masker.h"

namespace l4::drain {
namespace {

/// Adds up the skeleton and its quarters.
class HashSink {
 public:
  void token(const char* bytes, std::size_t size) {
    const std::uint64_t hash = placed(hash_token(bytes, size), line_.tokens++);
    if (size == 1 && bytes[0] == kWild) {
      line_.values += hash;
      return;
    }
    MaskedLine::Part& quarter = line_.quarters[words_++ % line_.quarters.size()];
    quarter.sum += hash;
    ++quarter.words;
  }
  MaskedLine take() {
    std::uint64_t sum = kRowSeed + line_.values;
    for (const MaskedLine::Part& quarter : line_.quarters) sum += quarter.sum;
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
  Row take() { return std::move(row_); }

 private:
  Row row_;
};

/// True if a masked token is `(<*>)` or `()`: a remark that may be missing.
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

const char* find_class(const char* at, const char* end, std::uint8_t bits) {
  return std::find_if(at, end, [bits](char c) { return has(c, bits); });
}

/// The next blank, for tokens of which no more needs to be known: mostly paths.
const char* token_end(const char* at, const char* end) {
  const auto blank = [](auto byte) { return (byte == ' ') | ((byte >= '\t') & (byte <= '\r')); };
  return at + find_kind({at, end}, 0, blank);
}

/// Splits a line at blanks, masks tokens that need it, and joins runs of bare values.
template <class Sink>
class LineMasker {
 public:
  LineMasker(std::string_view line, const CodeList& codes, Sink& sink)
      : at_(line.data()), end_(line.data() + line.size()), masker_(line, codes), sink_(sink) {}

  void run() {
    while (shown_ <= kTextMax) {
      while (at_ != end_ && has(*at_, kBlank)) ++at_;
      if (at_ == end_) return;
      const char* const begin = at_;
      at_ = find_class(at_, end_, kBlank | kSuspect);
      if (at_token_end()) {  // as most tokens: a word
        literal(begin, static_cast<std::size_t>(at_ - begin));
        continue;
      }
      if (at_ == begin) at_ = find_class(at_, end_, kOther);
      const bool plain = at_token_end();
      if (!plain) at_ = token_end(at_, end_);
      if (plain && masker_.plain(begin, at_)) {
        literal_ = false;
        if (!after_value_) emit(&kWild, 1, true);
      } else {
        masked(begin);
      }
    }
  }

  /// True if nothing was masked and nothing left out.
  bool is_literal() const { return literal_; }

 private:
  bool at_token_end() const { return at_ == end_ || has(*at_, kBlank); }

  void masked(const char* begin) {
    literal_ = false;
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
      literal_ = false;
      if (!after_value_) emit(&kWild, 1, true);
      return;
    }
    emit(begin, size < kTokenMax ? size : kTokenMax, false);
  }

  void emit(const char* bytes, std::size_t size, bool value) {
    shown_ += size + 3;
    if (shown_ > kTextMax || size == kTokenMax) literal_ = false;
    if (shown_ > kTextMax) return;
    sink_.token(bytes, size);
    after_value_ = value;
  }

  const char* at_;
  const char* end_;
  TokenMasker masker_;
  Sink& sink_;
  std::size_t shown_ = 0;
  bool after_value_ = false;
  bool literal_ = true;
};

}  // namespace

MaskedLine masked_line(std::string_view message, const CodeList& codes) {
  HashSink sink;
  LineMasker<HashSink> masker(message, codes, sink);
  masker.run();
  MaskedLine line = sink.take();
  line.literal = masker.is_literal();
  return line;
}

Skeleton masked_skeleton(std::string_view message, const CodeList& codes) {
  return masked_line(message, codes).skeleton;
}

Row masked_row(std::string_view message, const CodeList& codes) {
  RowSink sink;
  LineMasker<RowSink>(message, codes, sink).run();
  return sink.take();
}

}  // namespace l4::drain
