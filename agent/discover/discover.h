// The log files below a path, and what their paths say: node, rank, attempt, kind (docs/DESIGN.md,
// "Paths").
//
// Flow: first step of `l4 diagnose` and of an agent. Reads directory entries and file heads only.
// Result is sorted by path, so every later step is deterministic. Links out of the given folder are
// not followed; symlink loops, unreadable entries and non-text files come back as warnings. A file
// time of 0 means that the time is not known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/wire/batch.h"

namespace l4::discover {

/// A file that a log was rotated into.
struct OlderFile {
  std::filesystem::path path;
  std::string name;
  std::uint64_t bytes = 0;
  std::optional<TimeMs> modified;
  std::uint64_t device = 0, inode = 0;  ///< 0: not known
};

struct LogFile {
  std::filesystem::path path;  ///< to open
  std::string name;            ///< relative to the folder given (as in reports)
  std::string node;            ///< never empty
  bool node_known = false;     ///< false if `node` is only a stand-in (folder or file stem)
  wire::SourceKind kind = wire::SourceKind::other;
  std::optional<Rank> rank;
  std::optional<std::int32_t> local_rank;  ///< torchrun's attempt_A/K: local, not global
  std::int32_t attempt = 0;
  std::string user;         ///< owner's name or number; empty: not known
  std::uint64_t bytes = 0;  ///< size on disk; packed size for .gz and .zst
  std::optional<TimeMs> modified;
  std::uint64_t device = 0, inode = 0;  ///< 0: not known
  std::vector<OlderFile> older;         ///< oldest first; read before this file, as one log

  std::uint64_t bytes_with_older() const;
};

struct Discovery {
  std::string job;  ///< named by Slurm or torchrun's run id, else by the folder
  std::vector<LogFile> files;
  std::vector<wire::Warning> warnings;
  /// All known mtimes lie within 2 s, so they may be those of a copy.
  bool mtimes_equal = false;
};

struct Options {
  /// `--layout` pattern with {node} {rank} {local_rank} {attempt} {job} {*}; empty: known layouts.
  std::string layout;
  std::size_t files_max = 200'000;
  /// Folder that the program made for unpacked input: neither its name nor the folders above it say
  /// anything about the job. Empty: none.
  std::filesystem::path private_folder = {};
};

/// Error only if nothing at all could be read under `paths`.
Result<Discovery> discover(const std::vector<std::filesystem::path>& paths,
                           const Options& options = {});

/// One log that appeared below a folder, as discover() would see it.
struct Described {
  LogFile file;
  std::string job;         ///< from the path; empty if it names none
  std::string folder_job;  ///< named after the folder
};
Described describe(const std::filesystem::path& path, const std::filesystem::path& root);

}  // namespace l4::discover
