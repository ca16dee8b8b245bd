// TOML entries to Fault values, checked.
//
// Flow: Library::load calls this once. Files are read by as many threads as there are processors,
// and put together in the order of their names. No state.
#pragma once

#include <filesystem>
#include <vector>

#include "aggregator/faults/fault.h"
#include "common/base/error.h"

namespace l4::faults {

/// The entries of all files of a folder. The first bad one, or the first with an id that stood
/// before, is the Error: file, line, key.
Result<std::vector<Fault>> read_folder(const std::filesystem::path& folder);

}  // namespace l4::faults
