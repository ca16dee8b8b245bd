#include "aggregator/store/record.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::store {
namespace {

constexpr std::uint32_t kRecordMagic = 0x5243344cU;  // "L4CR"
constexpr std::size_t kAlign = 8;
constexpr std::size_t kSummedFrom = 8;  // magic and sum come before
constexpr std::array<char, 8> kSegmentMagic{'L', '4', 'J', 'R', 'N', 'L', '1', '\n'};

struct Head {
  std::uint32_t magic = kRecordMagic;
  std::uint32_t sum = 0;
  std::uint32_t batch = 0;
  std::uint16_t job = 0;
  std::uint16_t agent = 0;
  std::uint64_t seq = 0;
  std::int64_t time_ms = 0;

  std::size_t record_bytes() const { return store::record_bytes(job, agent, batch); }
  std::size_t body_bytes() const { return std::size_t{job} + agent + batch; }
};
static_assert(sizeof(Head) == kRecordHeadBytes);

std::uint32_t crc(std::span<const std::byte> bytes) {
  const auto* at = reinterpret_cast<const Bytef*>(bytes.data());  // NOLINT: zlib's byte
  return static_cast<std::uint32_t>(::crc32_z(0, at, bytes.size()));
}

Head head_at(std::span<const std::byte> bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

/// The part of a file around the reader's place, in memory.
class Window {
 public:
  Window(File& file, std::uint64_t end) : file_(file), end_(end) {}

  /// `size` bytes from `offset` on; fewer at the end.
  Result<std::span<const std::byte>> at(std::uint64_t offset, std::size_t size) {
    if (offset >= end_) return std::span<const std::byte>{};
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, end_ - offset));
    if (offset < base_ || offset + size > base_ + held_) {
      buffer_.resize(std::max(size, kWindowBytes));
      const auto left =
          static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), end_ - offset));
      const auto read = file_.read(offset, std::span(buffer_).first(left));
      if (!read) return std::unexpected(read.error());
      base_ = offset;
      held_ = *read;
      if (held_ < left) end_ = base_ + held_;
    }
    const auto from = static_cast<std::size_t>(offset - base_);
    L4_CHECK(from <= held_, "offset {} lies outside of {} bytes from {}", offset, held_, base_);
    return std::span<const std::byte>(buffer_).subspan(from, std::min(size, held_ - from));
  }

 private:
  static constexpr std::size_t kWindowBytes = 256 << 10;
  File& file_;
  std::uint64_t end_;
  std::uint64_t base_ = 0;
  std::size_t held_ = 0;
  Bytes buffer_;
};

/// The record at `offset`, if there is one. The view is valid until the window moves.
Result<std::optional<Record>> record_at(Window& window, std::uint64_t offset, std::uint32_t salt) {
  const auto front = window.at(offset, sizeof(Head));
  if (!front) return std::unexpected(front.error());
  if (front->size() < sizeof(Head)) return std::nullopt;
  const Head head = head_at(*front);
  if (head.magic != kRecordMagic || head.record_bytes() > kRecordBytesMax) return std::nullopt;
  const auto whole = window.at(offset, head.record_bytes());
  if (!whole) return std::unexpected(whole.error());
  if (whole->size() < head.record_bytes()) return std::nullopt;
  const auto summed = whole->subspan(kSummedFrom, sizeof(Head) - kSummedFrom + head.body_bytes());
  if ((crc(summed) ^ salt) != head.sum) return std::nullopt;
  const auto body = whole->subspan(sizeof(Head), head.body_bytes());
  const auto* text = reinterpret_cast<const char*>(body.data());  // NOLINT: bytes as text
  return Record{Seq{head.seq}, TimeMs{Millis{head.time_ms}}, std::string_view(text, head.job),
                std::string_view(text + head.job, head.agent),
                body.subspan(std::size_t{head.job} + head.agent)};
}

}  // namespace

std::size_t record_bytes(std::size_t job, std::size_t agent, std::size_t batch) {
  return (sizeof(Head) + job + agent + batch + kAlign - 1) / kAlign * kAlign;
}

std::span<const std::byte> segment_magic() {
  return std::as_bytes(std::span(kSegmentMagic));
}

void RecordGroup::add(const Record& record) {
  L4_CHECK(std::max(record.job.size(), record.agent.size()) <= kNameBytesMax,
           "names of {} and {} bytes", record.job.size(), record.agent.size());
  L4_CHECK(store::record_bytes(record.job.size(), record.agent.size(), record.batch.size()) <=
               kRecordBytesMax,
           "a batch of {} bytes", record.batch.size());
  Head head;
  head.batch = static_cast<std::uint32_t>(record.batch.size());
  head.job = static_cast<std::uint16_t>(record.job.size());
  head.agent = static_cast<std::uint16_t>(record.agent.size());
  head.seq = record.seq.value();
  head.time_ms = record.time.time_since_epoch().count();
  const std::size_t offset = bytes_.size();
  bytes_.resize(offset + head.record_bytes());
  std::byte* at = bytes_.data() + offset;
  const auto append = [&](const void* from, std::size_t size) {
    if (size > 0) std::memcpy(at, from, size);
    at += size;
  };
  append(&head, sizeof head);
  append(record.job.data(), record.job.size());
  append(record.agent.data(), record.agent.size());
  append(record.batch.data(), record.batch.size());
  const auto summed = std::span<const std::byte>(bytes_).subspan(
      offset + kSummedFrom, sizeof(Head) - kSummedFrom + head.body_bytes());
  oldest_ = records_.empty() ? record.time : std::min(oldest_, record.time);
  newest_ = records_.empty() ? record.time : std::max(newest_, record.time);
  records_.push_back({record.seq, offset, crc(summed)});
}

std::span<const std::byte> RecordGroup::sealed(std::uint32_t salt) {
  for (const Entry& entry : records_) {
    const std::uint32_t sum = entry.sum ^ salt;
    std::memcpy(bytes_.data() + entry.offset + offsetof(Head, sum), &sum, sizeof sum);
  }
  return bytes_;
}

void RecordGroup::clear() {
  constexpr std::size_t kKeptMax = 4 << 20;
  if (bytes_.capacity() > kKeptMax) bytes_ = Bytes();
  bytes_.clear();
  records_.clear();
}

Result<Scanned> scan(File& file, std::uint64_t bytes, std::uint32_t salt,
                     const RecordVisit& visit) {
  Scanned scanned;
  scanned.end = std::min<std::uint64_t>(bytes, kSegmentMagic.size());
  Window window(file, bytes);
  for (std::uint64_t at = scanned.end; at + sizeof(Head) <= bytes;) {
    const auto record = record_at(window, at, salt);
    if (!record) return std::unexpected(record.error());
    if (!*record) {
      at += kAlign;
      continue;
    }
    if (at > scanned.end) {
      ++scanned.damaged;
      if (scanned.damage.size() < kDamageListedMax)
        scanned.damage.push_back({scanned.end, at - scanned.end});
    }
    ++scanned.records;
    const std::size_t size =
        record_bytes((*record)->job.size(), (*record)->agent.size(), (*record)->batch.size());
    scanned.end = at + size;
    if (!visit(**record, at)) return scanned;
    at = scanned.end;
  }
  scanned.tail = bytes - scanned.end;
  return scanned;
}

Result<Heads> read_heads(File& file, std::uint64_t bytes) {
  Heads heads;
  std::uint64_t at = kSegmentMagic.size();
  while (at + sizeof(Head) <= bytes) {
    std::array<std::byte, sizeof(Head)> front{};
    const auto read = file.read(at, front);
    if (!read) return std::unexpected(read.error());
    const Head head = head_at(front);
    if (*read < front.size() || head.magic != kRecordMagic || head.record_bytes() > bytes - at)
      break;
    const TimeMs time{Millis{head.time_ms}};
    keep_earliest(heads.oldest, time);
    keep_latest(heads.newest, time);
    ++heads.records;
    at += head.record_bytes();
  }
  heads.whole = at == bytes;
  return heads;
}

}  // namespace l4::store
