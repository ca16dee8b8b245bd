// Reads the text of a file front to back in chunks: plain, gzip or zstd, UTF-8 or UTF-16,
// recognised by its first bytes and not its name.
//
// Owns the descriptor and the state of the unpacking; one thread. A truncated or damaged file gives
// its text up to the damage, then an Error. A packed file gives at most kUnpackedShare times its
// size (the most that gzip can expand), or kUnpackedFree if that is more, then an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "agent/discover/on_disk.h"
#include "common/base/error.h"

namespace l4::discover {

inline constexpr std::uint64_t kUnpackedShare = 1032;
inline constexpr std::uint64_t kUnpackedFree = 256ULL << 20;

class FileReader {
 public:
  static Result<FileReader> open(const std::filesystem::path& path);
  ~FileReader();
  FileReader(FileReader&&) noexcept;
  FileReader& operator=(FileReader&&) noexcept;

  /// Fills `buffer`, perhaps only in part before the end; 0 at the end of the file.
  Result<std::size_t> read(std::span<char> buffer);
  /// Skips `bytes` of the text; a plain file is not read for it.
  Result<void> skip(std::uint64_t bytes);
  /// True if the text is the bytes of the file: neither packed nor in another encoding.
  bool plain() const;

  /// The file as it was when it was opened.
  const OnDisk& on_disk() const;
  /// Bytes on disk that have not been used: they are lost if reading fails here.
  std::uint64_t unused() const;
  /// Bytes behind packed text that are not packed text and were left out.
  std::uint64_t left_out() const;

 private:
  struct State;
  explicit FileReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The next `size` bytes, or fewer where the text ends or cannot be read further.
std::string read_up_to(FileReader& reader, std::size_t size);

}  // namespace l4::discover
