// Reads a file front to back in chunks, plain or gzip, told by its first bytes and not its name.
//
// Owns the descriptor and zlib's state; one thread. Several gzip members in a row read as one
// stream; what follows the last member is ignored, as gzip does. A truncated or damaged member is
// an Error at the place where it breaks; everything before it has been delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "common/base/error.h"

namespace l4::discover {

class FileReader {
 public:
  static Result<FileReader> open(const std::filesystem::path& path);
  ~FileReader();
  FileReader(FileReader&&) noexcept;
  FileReader& operator=(FileReader&&) noexcept;

  /// Fills up to `buffer`; 0 at the end of the file. May return less than asked before the end.
  Result<std::size_t> read(std::span<char> buffer);
  /// Steps over `bytes` of what read() would give; a plain file is not read for it.
  Result<void> skip(std::uint64_t bytes);
  bool compressed() const;

 private:
  struct State;
  explicit FileReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace l4::discover
