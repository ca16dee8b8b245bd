#include "agent/ship/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "common/base/check.h"

namespace l4::ship {
namespace {

constexpr std::size_t kChunkBytesMax = 8u << 20;
constexpr auto kSuffix = ".spool";

/// FNV-1a over words: need not be strong, as it only detects a file that another program changed.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    sum = (sum ^ word) * 0x100000001b3u;
  }
  for (; i < bytes.size(); ++i) sum = (sum ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3u;
  return sum;
}

Error failed(const std::filesystem::path& file, int reason) {
  return {file.string(), std::generic_category().message(reason)};
}

/// Writes all bytes, or gives an errno.
int write_at(int file, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

}  // namespace

Spool::Spool(std::filesystem::path folder, std::size_t bytes_max)
    : folder_(std::move(folder)), bytes_max_(folder_.empty() ? 0 : bytes_max) {
  if (bytes_max_ == 0) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored))
    if (entry.path().extension() == kSuffix) std::filesystem::remove(entry.path(), ignored);
}

Spool::~Spool() {
  clear();
}

std::filesystem::path Spool::path_of(std::uint64_t chunk) const {
  return folder_ / (std::to_string(chunk) + kSuffix);
}

Result<std::uint64_t> Spool::open_chunk() {
  if (!chunks_.empty() && chunks_.rbegin()->second.bytes < kChunkBytesMax)
    return chunks_.rbegin()->first;
  const std::uint64_t number = ++chunks_made_;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);  // the folder may have been removed
  const auto path = path_of(number);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return std::unexpected(failed(path, errno));
  chunks_[number].file = file;
  return number;
}

Result<SpoolExtent> Spool::append(std::span<const std::byte> batch) {
  if (!fits(batch.size())) return std::unexpected(Error{folder_.string(), "the spool is full"});
  const auto number = open_chunk();
  if (!number) return std::unexpected(number.error());
  Chunk& chunk = chunks_[*number];
  if (const int reason = write_at(chunk.file, batch, chunk.bytes); reason != 0) {
    const Error error = failed(path_of(*number), reason);
    const bool undone = ::ftruncate(chunk.file, static_cast<off_t>(chunk.bytes)) == 0;
    if (chunk.batches == 0) drop(*number);
    if (!undone)
      return std::unexpected(Error{error.where, error.reason + ", and cannot be undone"});
    return std::unexpected(error);
  }
  const SpoolExtent extent{*number, chunk.bytes, checksum_of(batch), batch.size()};
  chunk.bytes += batch.size();
  ++chunk.batches;
  bytes_ += batch.size();
  return extent;
}

Result<wire::Bytes> Spool::read(const SpoolExtent& extent) const {
  const auto chunk = chunks_.find(extent.chunk);
  const auto path = path_of(extent.chunk);
  if (chunk == chunks_.end()) return std::unexpected(Error{path.string(), "is gone"});
  wire::Bytes bytes(extent.bytes);
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::pread(chunk->second.file, bytes.data() + have, bytes.size() - have,
                                static_cast<off_t>(extent.offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(failed(path, errno));
    if (got == 0) return std::unexpected(Error{path.string(), "is shorter than it was written"});
    have += static_cast<std::size_t>(got);
  }
  if (checksum_of(bytes) != extent.checksum)
    return std::unexpected(Error{path.string(), "is not what was written"});
  return bytes;
}

void Spool::release(const SpoolExtent& extent) {
  const auto chunk = chunks_.find(extent.chunk);
  if (chunk == chunks_.end()) return;
  L4_CHECK(extent.bytes <= bytes_ && chunk->second.batches > 0,
           "{} bytes are released of {} in the spool, of {} batches in the chunk", extent.bytes,
           bytes_, chunk->second.batches);
  bytes_ -= extent.bytes;
  if (--chunk->second.batches == 0) drop(extent.chunk);
}

void Spool::drop(std::uint64_t chunk) {
  ::close(chunks_[chunk].file);
  std::error_code ignored;
  std::filesystem::remove(path_of(chunk), ignored);
  chunks_.erase(chunk);
}

void Spool::clear() {
  while (!chunks_.empty()) drop(chunks_.begin()->first);
  bytes_ = 0;
}

}  // namespace l4::ship
