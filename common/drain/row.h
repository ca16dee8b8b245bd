// A row: the tokens of a masked line or of a template, and the lattice a token generalises in.
//
// A token is literal (`user=root`), generalised behind its key (`user=<*>`) or wild (`<*>`). Each
// token has one parent, so the join of two rows of equal length is unique and independent of order.
// Rows hold kWild bytes, which text() writes as `<*>`. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/drain/hash.h"

namespace l4::drain {

struct Token {
  std::uint64_t id = 0;
  std::string bytes;

  explicit Token(std::string_view masked)
      : id(hash_token(masked.data(), masked.size())), bytes(masked) {}
  bool wild() const { return bytes.size() == 1 && bytes[0] == kWild; }
  bool operator==(const Token& other) const { return id == other.id; }
};

using Row = std::vector<Token>;

/// A row with its tokens in one piece of memory; it takes a fifth of a Row's.
class PackedRow {
 public:
  explicit PackedRow(const Row& row);
  Row row() const;
  bool covered_by(const Row& general) const;

 private:
  /// Returns the token at `at`, and moves `at` to the next one.
  std::string_view next(std::size_t& at) const;

  std::uint32_t size_ = 0;
  std::string tokens_;  // each after its length, a varint
};

std::uint64_t hash(const Row& row);

/// The next more general token; a wild token is its own parent.
Token parent(const Token& token);

/// True if `general` is `token` or one of its ancestors. A code has no ancestors.
bool covers(const Token& general, const Token& token);
bool covers(const Row& general, const Row& row);

/// True for `<*>` and `key=<*>`.
bool is_general(const Token& token);

/// The weight of a distinct value at a position: a word 1, a word behind a key 2, a masked value 4
/// (names such as `eth<*>` count as words). A total of five makes the position a parameter.
unsigned evidence(const Token& token);

/// True for a token that holds a code (everything else that has digits was masked).
bool is_code(const Token& token);

/// True for a token that has a letter and is more than a value.
bool is_word(const Token& token);

/// True for a token that looks like a value rather than like a word.
bool is_soft(const Token& token);

/// True for the word that names what a structured record tells, which never is a value:
/// `"key": "run_stop"`, `:::MLPv0.5.0 resnet 1541720659.43 (a.py:49) run_stop`.
bool is_record_name(const Row& row, std::size_t position);

/// The row with its soft tokens raised, those that look like values (`key=value`, `rdd_<*>`,
/// `a.b.c`), but no name of a record; the row itself if too few words would be left.
Row frame_of(const Row& row);

/// True if a row with so many words is specific enough to be generalised by its values.
bool has_enough_words(std::size_t words, std::size_t tokens);
std::size_t words_of(const Row& row);

/// The most specific row that covers both; the rows must have equal length.
Row join(const Row& a, const Row& b);

/// The row as text of at most kTextMax bytes, cut at a token.
std::string text(const Row& row);
/// Inverse of text() for text that was not cut.
Row row_of_text(std::string_view text);

}  // namespace l4::drain
