// The words that tell what a number in a line counts, and what a line speaks of.
//
// Place in the flow: progress_grammar.h and table_head.h read lines with them. One table, each row
// with an example. Pure functions; no allocation; any bytes may be given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace l4::segment {

/// What a word says about the number beside it, or about its line.
enum class Says : std::uint8_t {
  iteration,
  epoch,
  sample,
  other_thing,  ///< the number counts or names something else
  number,       ///< the word before it says what is counted ("batch index 3")
  measure,
  evaluation,
  training,
  preparation
};

struct ProgressWord {
  std::string_view low;
  Says says = Says::measure;
  bool begins = false;  ///< longer words that begin with it say the same
  std::string_view example;
};
std::span<const ProgressWord> progress_words();

/// Of one word, in any case, its plural too.
std::optional<Says> meaning_of(std::string_view word);
/// The last part of the name that ends before `end`: "step" of "global_step", "Updates" of
/// "numUpdates".
std::string_view last_part(std::string_view line, std::size_t end);
/// Of a word in any case, to compare names; never kept beyond the process.
std::uint32_t hash_of(std::string_view word);

}  // namespace l4::segment
