// Encoded batches on disk that do not fit into memory: a cache, for one run of the agent.
//
// Used by ship::Queue alone. Batches are appended to chunk files of at most 8 MiB. A chunk is
// deleted when its last batch is released. Chunks of a former run are deleted when the spool opens:
// their bytes are read again from the logs. Bound: `bytes_max` in all chunks together. A full disk
// or a read-only folder is an Error of that one call; the next call tries again. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>

#include "common/base/error.h"
#include "common/wire/limits.h"

namespace l4::ship {

/// The place of a batch's bytes in the spool.
struct SpoolExtent {
  std::uint64_t chunk = 0, offset = 0, checksum = 0;
  std::size_t bytes = 0;
};

class Spool {
 public:
  /// With an empty folder name or a `bytes_max` of 0 there is no spool: nothing fits.
  Spool(std::filesystem::path folder, std::size_t bytes_max);
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  bool fits(std::size_t bytes) const { return bytes_ + bytes <= bytes_max_; }
  Result<SpoolExtent> append(std::span<const std::byte> batch);
  /// Fails also if the bytes are not those that were written.
  Result<wire::Bytes> read(const SpoolExtent& extent) const;
  void release(const SpoolExtent& extent);
  void clear();

  std::size_t bytes() const { return bytes_; }
  std::size_t bytes_max() const { return bytes_max_; }

 private:
  struct Chunk {
    int file = -1;
    std::size_t bytes = 0, batches = 0;
  };
  std::filesystem::path path_of(std::uint64_t chunk) const;
  Result<std::uint64_t> open_chunk();
  void drop(std::uint64_t chunk);

  std::filesystem::path folder_;
  std::size_t bytes_max_, bytes_ = 0;
  std::uint64_t chunks_made_ = 0;
  std::map<std::uint64_t, Chunk> chunks_;
};

}  // namespace l4::ship
