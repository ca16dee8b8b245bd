// The file system as the store uses it: the seam where tests make it fail or lose its power.
//
// Flow: journal and checkpoints do all their input and output here; system_files() is the real one.
// Written bytes are durable only after sync() of the file, its name only after sync_folder(). Every
// failure has its reason, and no call retries. After a failed sync() the content of the file is
// unknown: the kernel has dropped the pages that it could not write, and a second sync() would
// succeed. A File belongs to one thread, Files may be used by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4::store {

using Path = std::filesystem::path;
using Bytes = std::vector<std::byte>;

/// Suffix of a file's name until the file is complete.
inline constexpr std::string_view kUnfinished = ".new";

class File {
 public:
  virtual ~File() = default;
  /// Writes at the end. After an error a part of the bytes may be there.
  virtual Result<void> append(std::span<const std::byte> bytes) = 0;
  /// Fills `into` with the bytes from `offset` on; returns fewer only at the end of the file.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual Result<void> sync() = 0;
  virtual Result<void> truncate(std::uint64_t bytes) = 0;
  virtual Result<std::uint64_t> size() = 0;
};

class Files {
 public:
  virtual ~Files() = default;
  /// A new, empty file to append to; an Error if the name is taken.
  virtual Result<std::unique_ptr<File>> create(const Path& path) = 0;
  virtual Result<std::unique_ptr<File>> open(const Path& path, bool writable) = 0;
  virtual Result<void> rename(const Path& from, const Path& to) = 0;
  virtual Result<void> remove(const Path& path) = 0;
  virtual Result<void> make_folder(const Path& folder) = 0;
  virtual Result<void> sync_folder(const Path& folder) = 0;
  /// Names of the regular files in a folder, sorted.
  virtual Result<std::vector<std::string>> list(const Path& folder) = 0;
};

Files& system_files();

/// The whole file; an Error if it is longer than `bytes_max`.
Result<Bytes> read_whole(Files& files, const Path& path, std::uint64_t bytes_max);

}  // namespace l4::store
