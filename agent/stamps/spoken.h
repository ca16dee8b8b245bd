// Times inside a text, for lines without a stamp at their front: Slurm's `CANCELLED AT 2025-..`,
// Megatron's `datetime: 2025-..`, `the run ended on Tue Mar  4 ..`.
//
// A time of day with its date counts if a word before it says that it is the time of the line. Such
// words are those of framed.h. After a word that only joins (`failed at 2025-..`) the time is
// doubtful: it counts if it follows the time of the line before. So is that of a line of a system's
// log which somebody quotes. Any other date in a text is left alone, because data and file names
// have dates, too. The stamp stays in the text.
#pragma once

#include <string_view>

#include "agent/stamps/formats.h"

namespace l4::stamps {

/// A scanner as those of scanners.h. Reads 200 bytes.
bool spoken(std::string_view line, RawStamp& stamp);

}  // namespace l4::stamps
