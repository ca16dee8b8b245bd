// The known faults and the question "which of them does this template show?".
//
// Flow: diagnose asks `match` once per template of interest, with the typed values its events
// carried. Immutable after load: any thread may read; pointers live as long as the library and
// survive its moves. Patterns are RE2 over template text, unanchored, case-sensitive, in a notation
// of their own (notation.h), so that one pattern matches the raw message as well as its template.
// Codes (Xid, errno, EInnnn, exit codes, signals) stay verbatim in templates and are asked for as
// conditions: they are looked up in the given parameters, and in the text where no parameter of
// that kind is given. Made for thousands of patterns (pattern_set.h); bench/faults_bench.cc
// measures loading and matching.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "aggregator/faults/fault.h"
#include "aggregator/faults/likeness.h"
#include "common/base/error.h"

namespace l4::faults {

class Library {
 public:
  /// All entries of a folder, usually config/faults. A bad or repeated entry refuses the whole
  /// library; the Error names file, line and key.
  static Result<Library> load(const std::filesystem::path& folder);
  /// Knows nothing (`--no-faults`).
  Library();
  /// This one and `more`, which takes the place of those of the same id. Some 60 ms for 2,200.
  Library with(std::vector<Fault> more) const;

  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;
  ~Library();

  /// Every fault the text shows, most telling first: causes before consequences; among those, the
  /// ones with conditions (a code); then by the constant characters of the longest of their
  /// patterns that match, as every match of it has at least (literals.h); then those that were
  /// confirmed; then the graver; then in the order of the files.
  std::vector<const Fault*> match(std::string_view template_text,
                                  std::span<const wire::Parameter> parameters = {}) const;

  /// In the order of the files, and as they stand in them.
  std::span<const Fault> faults() const;
  const Fault* find(std::string_view id) const;
  /// What kind of fault lines are that show none, by likeness to those of the known ones
  /// (likeness.h). The first call takes some 40 ms.
  const Likeness& likeness() const;
  /// As given to load().
  const std::filesystem::path& folder() const;

 private:
  struct State;
  explicit Library(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace l4::faults
