// The numbers that decide, as one table: config/scoring.toml, [number].
//
// Place in the flow: the header of each room (hang.h, crash.h, ...) declares its numbers with the
// shipped values; this header knows them by name, so that a site's table, a test or a trial can put
// others in force. They are put in force before the first job is judged, while no other thread
// judges: afterwards all threads only read. docs/SCORING.md, "The numbers".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/numbers/in_force.h"
#include "common/base/error.h"
#include "common/base/time.h"
#include "common/config/config_table.h"

namespace l4::numbers {

struct Row {
  std::string_view room, name;
  double (*get)();      ///< the number in force; a time in ms
  void (*set)(double);  ///< of a whole number, if `whole`
  bool whole = false;
};

/// In the order of the file.
std::span<const Row> rows();

/// One for each of rows().
using Values = std::vector<double>;

Values in_force_now();
void put_in_force(const Values& values);

/// What the shipped table says of a number.
struct Limits {
  double value = 0;
  std::string unit;
  double from = 0, to = 0;  ///< the number is within them
};

/// One for each of rows(), from the shipped table; it is part of the programs. Aborts if that lacks
/// a row, or differs from what the headers say.
const std::vector<Limits>& shipped();

/// Reads [number] of a site's table; a row that is left out keeps the shipped value. A room or name
/// that is unknown, a number that is out of its bounds or not whole, a unit that is not the
/// number's and a row without `value` or `origin` are noted in the table, with file, line, name and
/// value.
Values read(ConfigTable number);

}  // namespace l4::numbers
