// Lists the regular files under a folder, in order of their names.
//
// Symbolic links are followed only to what lies under the same folder (and for links that carry a
// Kubernetes container's name, which always point elsewhere); folders seen before end a loop.
// Whatever cannot be read becomes a warning; hidden entries are passed over silently.
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
  std::string relative;  ///< to the folder, with `/`
  OnDisk on_disk;
};

/// Size, time and identity of a file; empty if it is gone or not a regular file.
std::optional<Found> look_at(const std::filesystem::path& path, std::string relative);

std::vector<Found> walk(const std::filesystem::path& root, std::size_t files_max,
                        std::vector<wire::Warning>& warnings);

}  // namespace l4::discover
