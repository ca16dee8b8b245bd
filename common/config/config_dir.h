// Finds what is shipped with the programs: the folder of rule packs and fault library, the samples,
// and the manual.
//
// They lie beside an installed program (PREFIX/share/l4, PREFIX/share/doc/l4), or in the source
// tree of a built one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace l4 {

/// Folder that holds `frameworks/` and `faults/`: L4_CONFIG_DIR, as shipped, or /etc/l4; empty if
/// none is found.
std::filesystem::path find_config_dir();

/// Folder that holds the pages of the manual; empty if none is found.
std::filesystem::path find_docs_dir();

/// A page of the manual as a person can open it: its path, or `docs/NAME` if it is not here.
std::string manual_page(std::string_view name);

/// Folder that holds the recorded job `crash-rank4/`; empty if none is found.
std::filesystem::path find_samples_dir();

}  // namespace l4
