// Unpacks an archive of logs into a private folder: .tar, plain or compressed.
//
// Place in the flow: before discover, for `l4 diagnose logs.tar.gz`. Only regular files come out;
// links, devices and names that lead out of the folder are left out with a warning, and so are
// files that discover would skip by their extension (checkpoints). Nothing in the archive can make
// it write elsewhere: it creates each folder and file itself. Keeps file times. A damaged archive
// gives what stands before the damage.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/wire/batch.h"

namespace l4::offline {

/// The settings that make up the limit, for messages.
inline constexpr std::string_view kLimits =
    "archive.bytes_max (--config) and the free space of $TMPDIR";

struct UnpackLimits {
  std::uint64_t bytes_max = 0;
  std::size_t files_max = 200'000;
};

/// True if a file is called like an archive (.tar, .tgz, .tar.gz and other compressions).
bool named_like_archive(const std::filesystem::path& file);

/// True if the file begins like a tar archive, looked at through its compression.
bool begins_like_archive(const std::filesystem::path& file);

/// Unpacks into `folder`, which is created. `name` stands for the archive in warnings. Adds the
/// archive's own bytes read to `bytes_done`. Error if no file came out or a limit was passed.
Result<void> unpack(const std::filesystem::path& archive, const std::string& name,
                    const std::filesystem::path& folder, const UnpackLimits& limits,
                    std::vector<wire::Warning>& warnings, std::atomic<std::uint64_t>& bytes_done);

}  // namespace l4::offline
