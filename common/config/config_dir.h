// Finds the folder of rule packs and fault library: L4_CONFIG_DIR, beside the binary, or in the
// source tree.
#pragma once

#include <filesystem>

namespace l4 {

/// Folder that holds `frameworks/` and `faults/`; empty if none is found.
std::filesystem::path find_config_dir();

}  // namespace l4
