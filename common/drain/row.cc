#include "common/drain/row.h"

#include <algorithm>
#include <span>

#include "common/base/ascii.h"

namespace l4::drain {
namespace {

constexpr std::string_view kShown = "<*>";
const std::string_view kWildBytes(&kWild, 1);

/// True for signs that, before a letter, make a token a value: `a.b`, `"name"`.
bool is_value_mark(char c) {
  return c == '/' || c == '_' || c == '.' || c == '@' || c == '"' || c == '\'' || c == '\\' ||
         c == '{';
}

bool is_word_letter(char c) {
  return static_cast<unsigned char>((c | 0x20) - 'a') < 26 || static_cast<unsigned char>(c) >= 128;
}

/// Length of the key of `key=value` or `key:value`, with the separator; 0 if there is none.
std::size_t key_size(std::string_view bytes) {
  for (std::size_t i = 1; i + 1 < bytes.size(); ++i) {
    if (is_word_letter(bytes[i])) continue;  // most bytes are
    if (bytes[i] == '.' || bytes[i] == '/') return 0;
    if (bytes[i] == '=') return i + 1;
    if (bytes[i] == ':' && bytes[i + 1] != ':' && bytes[i - 1] != ':') return i + 1;
  }
  return 0;
}

bool has_digit(std::string_view bytes) {
  return std::ranges::any_of(bytes, is_digit);
}

/// covers(Token, Token) for the bytes of the tokens.
bool covers(std::string_view general, std::string_view token) {
  if (general == token) return true;
  if (general.back() != kWild || has_digit(token)) return false;
  if (general == kWildBytes) return true;
  const std::size_t key = key_size(token);
  return key > 0 && general.size() == key + 1 && general.starts_with(token.substr(0, key)) &&
         token.substr(key) != kWildBytes;
}

}  // namespace

PackedRow::PackedRow(const Row& row) : size_(static_cast<std::uint32_t>(row.size())) {
  std::size_t size = 0;
  for (const Token& token : row) size += token.bytes.size() + 1 + token.bytes.size() / 128;
  tokens_.reserve(size);
  for (const Token& token : row) {
    std::size_t left = token.bytes.size();
    for (; left >= 128; left >>= 7U) tokens_ += static_cast<char>(left | 128U);
    tokens_ += static_cast<char>(left);
    tokens_ += token.bytes;
  }
}

std::string_view PackedRow::next(std::size_t& at) const {
  std::size_t size = 0;
  unsigned char digit = 128;
  for (unsigned shift = 0; (digit & 128U) != 0; shift += 7) {
    digit = static_cast<unsigned char>(tokens_[at++]);
    size |= std::size_t{digit & 127U} << shift;
  }
  const std::string_view token = std::string_view(tokens_).substr(at, size);
  at += size;
  return token;
}

Row PackedRow::row() const {
  Row row;
  row.reserve(size_);
  for (std::size_t at = 0; at < tokens_.size();) row.emplace_back(next(at));
  return row;
}

bool PackedRow::covered_by(const Row& general) const {
  if (general.size() != size_) return false;
  std::size_t at = 0;
  return std::ranges::all_of(general,
                             [&](const Token& token) { return covers(token.bytes, next(at)); });
}

std::uint64_t hash(const Row& row) {
  std::uint64_t sum = kRowSeed;
  for (std::size_t i = 0; i < row.size(); ++i) sum += placed(row[i].id, i);
  return sum;
}

Token parent(const Token& token) {
  const std::size_t key = key_size(token.bytes);
  if (key == 0) return Token(kWildBytes);
  const std::string_view value = std::string_view(token.bytes).substr(key);
  if (value == kWildBytes) return Token(kWildBytes);
  return Token(token.bytes.substr(0, key) + kWild);
}

bool is_general(const Token& token) {
  if (token.bytes.back() != kWild) return false;
  return token.wild() || key_size(token.bytes) + 1 == token.bytes.size();
}

unsigned evidence(const Token& token) {
  const std::size_t key = key_size(token.bytes);
  const std::string_view value = std::string_view(token.bytes).substr(key);
  const auto wilds = std::ranges::count(value, kWild);
  if (wilds == 0) return key > 0 ? 2 : 1;
  const bool stem =
      wilds == 1 && value.size() > 1 && value.find_first_of("_.-") == std::string_view::npos;
  return stem ? 1 : 4;
}

bool is_code(const Token& token) {
  return has_digit(token.bytes);
}

bool is_word(const Token& token) {
  return std::ranges::any_of(token.bytes, is_word_letter);
}

bool covers(const Token& general, const Token& token) {
  return general == token || covers(std::string_view(general.bytes), token.bytes);
}

bool covers(const Row& general, const Row& row) {
  return general.size() == row.size() &&
         std::ranges::equal(general, row,
                            [](const Token& a, const Token& b) { return covers(a, b); });
}

bool is_soft(const Token& token) {
  if (is_general(token) || is_code(token)) return false;
  const std::string_view bytes = token.bytes;
  if (key_size(bytes) > 0 || bytes.find(kWild) != std::string_view::npos) return true;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    if (is_value_mark(bytes[i]) && is_word_letter(bytes[i + 1])) return true;
  }
  return false;
}

bool has_enough_words(std::size_t words, std::size_t tokens) {
  return words >= 1 && words * 5 >= tokens * 2;
}

std::size_t words_of(const Row& row) {
  return static_cast<std::size_t>(std::ranges::count_if(row, is_word));
}

bool is_record_name(const Row& row, std::size_t position) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"\"key\":", "\"event\":", "\"event_type\":", "\"event_name\":", "'key':", "'event':",
       "'event_type':", "'event_name':"});
  constexpr std::string_view kMarked = ":::ML";  // MLPerf's log marks each of its lines
  if (position == 0) return false;
  const Token& before = row[position - 1];
  if (before.wild()) return row.front().bytes.starts_with(kMarked) && is_word(row[position]);
  std::string_view key = before.bytes;
  if (key.starts_with('{')) key.remove_prefix(1);
  return std::ranges::find(kKeys, key) != kKeys.end();
}

Row frame_of(const Row& row) {
  Row frame = row;
  for (std::size_t i = 0; i < frame.size(); ++i)
    if (is_soft(row[i]) && !is_record_name(row, i)) frame[i] = parent(row[i]);
  return has_enough_words(words_of(frame), frame.size()) ? frame : row;
}

Row join(const Row& a, const Row& b) {
  Row joined = a;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (covers(joined[i], b[i])) continue;
    if (covers(b[i], joined[i])) {
      joined[i] = b[i];
      continue;
    }
    const Token up = parent(a[i]);
    joined[i] = up == parent(b[i]) ? up : Token(kWildBytes);
  }
  return joined;
}

std::string text(const Row& row) {
  std::string shown;
  for (const Token& token : row) {
    if (!shown.empty()) shown += ' ';
    std::string_view rest = token.bytes;
    while (!rest.empty()) {
      const std::string_view constant = rest.substr(0, rest.find(kWild));
      shown += constant;
      if (constant.size() < rest.size()) shown += kShown;
      rest.remove_prefix(std::min(rest.size(), constant.size() + 1));
    }
  }
  return shown;
}

Row row_of_text(std::string_view text) {
  Row row;
  std::string bytes;
  while (!text.empty()) {
    bytes.clear();
    std::string_view token = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), token.size() + 1));
    while (!token.empty()) {
      const bool wild = token.starts_with(kShown);
      bytes += wild ? kWild : token.front();
      token.remove_prefix(wild ? kShown.size() : 1);
    }
    if (!bytes.empty()) row.emplace_back(bytes);
  }
  return row;
}

}  // namespace l4::drain
