// What each clue and each ground of a confidence is worth: the one table, config/scoring.toml.
//
// Place in the flow: read once when a program starts; the sources of clues take the shares within a
// kind from it, suspicion.h the weights. Immutable after reading, shared by all threads.
// docs/SCORING.md has the formula.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "aggregator/diagnose/clues/clue.h"
#include "aggregator/diagnose/clues/grounds.h"
#include "aggregator/numbers/table.h"
#include "common/base/error.h"

namespace l4::diagnose::clues {

struct ClueRow {
  double weight = 0;   ///< what a clue of strength 1 adds to a score
  double cap = 0;      ///< the most that clues of this kind add to one rank
  double further = 1;  ///< part of a clue that is not the strongest of its kind (and `with`) here
};

/// How strong a clue is within its kind: factors from 0 on.
struct Shares {
  double failure = 0;       ///< a line that tells of a failure, to one that ends a process
  double notice = 0;        ///< one that hints at it
  double quiet = 0;         ///< one that only is new
  double beside_fatal = 0;  ///< notice and quiet lines, where another line ends a process
  double known_fault = 0;   ///< a line of a known, specific fault
  double everywhere = 0;    ///< a line that all nodes print
  double reporter = 0;      ///< the lines of a rank that blames others
  double unsure_lead = 0;   ///< silent first by less than clocks differ
  double answers = 0;       ///< an exit of its own, right after another process was struck
};

struct Scale {
  std::array<ClueRow, kClueKinds> rows = {};
  Shares shares = {};
  GroundRows grounds = {};

  const ClueRow& row(ClueKind kind) const { return rows[static_cast<std::size_t>(kind)]; }
};

/// The table as shipped; it is part of the programs.
const Scale& shipped_scale();

/// A table as a site may have it: weights, and the numbers that decide.
struct Table {
  Scale scale;
  numbers::Values numbers;
};

/// What the file leaves out keeps the shipped value. An error names file, line and key: a kind,
/// share or number that is unknown or given twice, or one that is out of its bounds.
Result<Table> read_table(const std::filesystem::path& file);
/// The same for the text of a file; `name` stands for the file in errors.
Result<Table> read_table_text(std::string_view text, const std::string& name);

}  // namespace l4::diagnose::clues
