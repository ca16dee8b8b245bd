// The known faults, and which of them a template shows.
//
// Flow: diagnose calls `match` once per template of interest, with the typed values of its events.
// Immutable after load: any thread may read; pointers live as long as the library and survive its
// moves. Patterns are RE2 over template text, unanchored, case-sensitive, in a notation of their
// own (notation.h), so that one pattern matches the raw message as well as its template. Codes
// (Xid, errno, EInnnn, exit codes, signals) stay verbatim in templates. Entries require them as
// conditions, which are checked against the given parameters, or against the text if no parameter
// of that kind is given. Made for thousands of patterns (pattern_set.h); bench/faults_bench.cc
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
  /// A library without faults (`--no-faults`).
  Library();
  /// A copy with the faults of `more`, which replace those of the same id. Some 60 ms for 2,200.
  Library with(std::vector<Fault> more) const;

  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;
  ~Library();

  /// Every fault that the text shows, in this order: causes before consequences; faults with
  /// conditions (a code) first; then by the constant characters (literals.h) of the longest pattern
  /// that matches; then confirmed faults first; then by severity; then in the order of the files.
  std::vector<const Fault*> match(std::string_view template_text,
                                  std::span<const wire::Parameter> parameters = {}) const;

  /// All faults, in the order of the files and of their entries.
  std::span<const Fault> faults() const;
  const Fault* find(std::string_view id) const;
  /// Guesses the kind of fault of lines that match no pattern, by their likeness to the lines of
  /// known faults (likeness.h). The first call lasts some 40 ms.
  const Likeness& likeness() const;
  /// The folder that was given to load().
  const std::filesystem::path& folder() const;

 private:
  struct State;
  explicit Library(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace l4::faults
