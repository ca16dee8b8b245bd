// The file system as the tailer sees it: folders, files, and their bytes.
//
// All that agent/tail learns of files passes here, so that tests can play a file system with
// rotations, races and failures. Failures are errno values. One thread. Implemented by
// real_file_system() and, in tests, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace l4::tail {

/// A value, or the errno of the failed call.
template <class T>
using Outcome = std::expected<T, int>;

struct Status {
  enum class Kind : std::uint8_t { file, folder, link, other };
  Kind kind = Kind::other;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::uint64_t links = 1;  ///< names that it has; 0: deleted
  TimeMs modified{};
  std::optional<std::uint32_t> user = {};  ///< number of its owner, if known
};

/// An open file: stays the same file, whatever happens to its names. Closed by its destructor.
class File {
 public:
  virtual ~File() = default;
  virtual Outcome<Status> status() = 0;
  /// Fewer bytes than asked for only at the end of the file.
  virtual Outcome<std::size_t> read(std::uint64_t offset, std::span<char> buffer) = 0;
};

inline std::string path_in(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// Names in a folder, in any order, without `.` and `..`.
  virtual Outcome<std::vector<std::string>> list(const std::string& folder) = 0;
  /// Status of the link itself, or of its target.
  virtual Outcome<Status> status(const std::string& path, bool follow) = 0;
  virtual Outcome<std::string> real_path(const std::string& path) = 0;
  /// Opens a regular file for reading, without waiting; EINVAL for anything else.
  virtual Outcome<std::unique_ptr<File>> open(const std::string& path) = 0;
  /// True if writes of others are not notified: a network, FUSE or overlay file system.
  virtual bool blind(const std::string& folder) = 0;
};

/// The file system of this machine; no state, lives as long as the program.
FileSystem& real_file_system();

/// Descriptors that a tailer may hold: half of what this process may open, at most 4,096.
std::size_t descriptors_allowed();

}  // namespace l4::tail
