// Reads TOML entries as Fault values and checks them.
//
// Flow: Library::load reads a folder; the book of confirmed faults reads its files. As many threads
// as there are processors read the files of a folder; the entries are merged in the order of the
// files' names. No state.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "aggregator/faults/fault.h"
#include "common/base/error.h"

namespace l4::faults {

/// The entries of all files of a folder. The first bad entry, or the first repeated id, is the
/// Error: file, line, key.
Result<std::vector<Fault>> read_folder(const std::filesystem::path& folder);

/// The entries in the text of one file; `name` is its name in errors, and the stem of `name` is the
/// family of the entries.
Result<std::vector<Fault>> read_text(std::string_view text, const std::filesystem::path& name);

}  // namespace l4::faults
