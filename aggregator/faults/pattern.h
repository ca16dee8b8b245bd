// One pattern of the library as a regexp, and what is known of it beforehand.
//
// Flow: library_reader checks it with error_of(), PatternSet asks whether a text may match and then
// whether it does. The regexp is compiled when it is first needed: of thousands few ever
// are. Any thread may ask. A regexp has kPatternBytesMax of memory: one that cannot be compiled
// within it is refused beforehand, and where a text needs more states than fit, RE2 goes on without
// remembering them, slower but with the same answer.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "aggregator/faults/literals.h"
#include "aggregator/faults/notation.h"

namespace l4::faults {

inline constexpr std::size_t kPatternBytesMax = std::size_t{1} << 20;

/// What is wrong with an expanded pattern (notation.h); empty if nothing is.
std::string error_of(const std::string& regexp);

class Pattern {
 public:
  /// `regexp`: expanded, and without error.
  explicit Pattern(std::string regexp);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  const Literals& literals() const { return literals_; }
  /// False if `text` surely does not match. In plain form.
  bool may_match(std::string_view plain_text) const;
  bool matches(std::string_view text) const;

 private:
  struct Compiled;
  Literals literals_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace l4::faults
