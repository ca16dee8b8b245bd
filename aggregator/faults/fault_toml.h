// A fault as its entry in a file of the library: what library_reader.h reads.
//
// Flow: confirmed faults -> here -> their files and `l4 faults export`. Whatever text a fault
// holds, what is written reads back as the same fault (but its family, which is the file's name).
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "aggregator/faults/fault.h"

namespace l4::faults {

/// Begins with [[fault]], ends with a line feed.
std::string to_toml(const Fault& fault);

/// Begins the last line of a file that holds a part of what was asked for; the id of its last fault
/// stands behind it.
inline constexpr std::string_view kMoreFaults = "# more faults follow behind ";

}  // namespace l4::faults
