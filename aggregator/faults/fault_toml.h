// Renders a fault as an entry in a file of the library, which library_reader.h reads.
//
// Flow: confirmed faults -> here -> their files and `l4 faults export`. The entry reads back as the
// same fault, whatever its texts hold, except for the family, which is the file's name. Pure.
#pragma once

#include <string>
#include <string_view>

#include "aggregator/faults/fault.h"

namespace l4::faults {

/// Begins with [[fault]], ends with a line feed.
std::string to_toml(const Fault& fault);

/// Begins the last line of a partial export; the id of the last exported fault follows.
inline constexpr std::string_view kMoreFaults = "# more faults follow behind ";

}  // namespace l4::faults
