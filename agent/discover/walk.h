// Lists the regular files under a folder, in order of their names.
//
// Symbolic links are followed only to targets below the same folder, except links with the name of
// a Kubernetes container, which always point elsewhere. A folder is entered once, which ends loops.
// Unreadable entries become warnings; hidden entries are skipped silently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/discover/on_disk.h"
#include "common/wire/batch.h"

namespace l4::discover {

struct Found {
  std::filesystem::path path;
  std::string relative;  ///< path from the folder on, with `/`
  OnDisk on_disk;
};

/// Size, time and identity of a file; empty if it is gone or not a regular file.
std::optional<Found> inspect(const std::filesystem::path& path, std::string relative);

std::vector<Found> walk(const std::filesystem::path& root, std::size_t files_max,
                        std::vector<wire::Warning>& warnings);

}  // namespace l4::discover
