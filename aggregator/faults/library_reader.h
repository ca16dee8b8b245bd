// TOML entries to Fault values and the pattern notation to RE2 (see library.h).
//
// Flow: Library::load calls `read_entries` per file. No state.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/faults/fault.h"
#include "common/base/error.h"

namespace l4::faults {

/// The entries of one file; the first bad one is the Error. `ids` holds the ids read so far, grows,
/// and refuses repetitions.
Result<std::vector<Fault>> read_entries(const std::filesystem::path& file,
                                        std::vector<std::string>& ids);

/// Expands `{n}`, `{w}` and blanks.
std::string expand_pattern(std::string_view pattern);

}  // namespace l4::faults
