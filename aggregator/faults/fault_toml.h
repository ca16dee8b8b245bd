// A fault as its entry in a file of the library: what library_reader.h reads.
//
// Flow: confirmed faults -> here -> their files and `l4 faults export`. Whatever text a fault
// holds, what is written reads back as the same fault (but its family, which is the file's name).
// Pure.
#pragma once

#include <string>

#include "aggregator/faults/fault.h"

namespace l4::faults {

/// Begins with [[fault]], ends with a line feed.
std::string to_toml(const Fault& fault);

}  // namespace l4::faults
