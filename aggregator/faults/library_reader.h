// TOML entries to Fault values, checked.
//
// Flow: Library::load calls this once, and whoever keeps confirmed faults once for each file. Those
// of a folder are read by as many threads as there are processors, and put together in the order of
// their names. No state.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "aggregator/faults/fault.h"
#include "common/base/error.h"

namespace l4::faults {

/// The entries of all files of a folder. The first bad one, or the first with an id that stood
/// before, is the Error: file, line, key.
Result<std::vector<Fault>> read_folder(const std::filesystem::path& folder);

/// The entries of one file whose text is at hand; `name` stands for it in errors, and its stem is
/// their family.
Result<std::vector<Fault>> read_text(std::string_view text, const std::filesystem::path& name);

}  // namespace l4::faults
