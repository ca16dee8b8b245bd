// One pattern of the library as a regexp, with its literals.
//
// Flow: library_reader checks it with error_of(); PatternSet asks whether a text may match, and
// then whether it does. The regexp is compiled when it is first needed: few of thousands ever are.
// Any thread. A regexp has kPatternBytesMax of memory: error_of() refuses one that cannot be
// compiled within it. If a text needs more states than fit, RE2 does not cache them, which is
// slower and gives the same answer.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "aggregator/faults/literals.h"
#include "aggregator/faults/notation.h"

namespace l4::faults {

inline constexpr std::size_t kPatternBytesMax = std::size_t{1} << 20;

/// The error in an expanded pattern (notation.h); empty if there is none.
std::string error_of(const std::string& regexp);

class Pattern {
 public:
  /// `regexp`: expanded, and without error.
  explicit Pattern(std::string regexp);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  const Literals& literals() const { return literals_; }
  /// False if the text cannot match; `plain_text` is in plain form.
  bool may_match(std::string_view plain_text) const;
  bool matches(std::string_view text) const;

 private:
  struct Compiled;
  Literals literals_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace l4::faults
