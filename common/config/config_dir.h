// Where rule packs and the fault library lie: L4_CONFIG_DIR, beside the binary, or the source tree.
#pragma once

#include <filesystem>

namespace l4 {

/// Folder that holds `frameworks/` and `faults/`; empty if none is found.
std::filesystem::path find_config_dir();

}  // namespace l4
