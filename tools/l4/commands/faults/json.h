// The JSON that `l4 faults` writes, and the JSON that an aggregator answers. Keys keep their order
// and meaning; new ones may be added. Texts that were read are not fit for a terminal yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/faults/library.h"
#include "aggregator/faults/self_test.h"

namespace l4::commands::faults {

/// A fault on a line.
struct FaultMatch {
  std::string file;
  std::uint64_t line = 0;
  std::string text;
  const l4::faults::Fault* fault = nullptr;
};

std::string to_json(const std::vector<const l4::faults::Fault*>& faults);
/// One object, without a line feed: matches are written one by one.
std::string to_json(const FaultMatch& match);
std::string to_json(const std::vector<std::pair<const l4::faults::Fault*, std::size_t>>& counts);
std::string to_json(const std::vector<l4::faults::EntryError>& findings, std::size_t entries);

/// The faults of an aggregator, complete and checked.
Result<std::vector<l4::faults::Fault>> read_faults(std::string_view text);
Result<l4::faults::Fault> read_fault(std::string_view text);

/// The result of a confirmation; each list can be shown as it is.
struct ConfirmedView {
  bool stored = false, known = false;
  std::string id, title, category, category_from, scope, severity, cause, fix, overlaps;
  std::vector<std::string> patterns, codes, matches, rejects, evidence, also_matches;
  std::string template_id;  ///< of the first of `evidence`; empty: none
  std::uint64_t incidents = 0, jobs = 0, runs = 0, templates = 0;  ///< looked at
  bool complete = true;  ///< all that healthy jobs and runs print was
};
Result<ConfirmedView> read_confirmed(std::string_view text);
/// Place and text of the lines in {"error": {"lines"}}; none in other answers.
std::vector<std::pair<std::string, std::string>> read_lines(std::string_view text);

}  // namespace l4::commands::faults
