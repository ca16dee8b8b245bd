#include "common/base/byte_stream.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace l4 {
namespace {

constexpr std::size_t kNumberBytesMax = 10;

}  // namespace

void ByteWriter::grow(std::size_t more) {
  constexpr std::size_t kLeast = 4096;
  const std::size_t capacity = std::max({kLeast, size_ + more, capacity_ + capacity_ / 2});
  auto grown = std::make_unique_for_overwrite<std::byte[]>(capacity);
  if (size_ > 0) std::memcpy(grown.get(), buffer_.get(), size_);
  buffer_ = std::move(grown);
  capacity_ = capacity;
}

void ByteWriter::number(std::uint64_t value) {
  std::byte* at = room(kNumberBytesMax);
  const std::byte* from = at;
  for (; value >= 0x80; value >>= 7U) *at++ = static_cast<std::byte>(value | 0x80);
  *at++ = static_cast<std::byte>(value);
  size_ += static_cast<std::size_t>(at - from);
}

void ByteWriter::word(std::uint64_t value) {
  std::memcpy(room(sizeof value), &value, sizeof value);
  size_ += sizeof value;
}

void ByteWriter::real(double value) {
  std::memcpy(room(sizeof value), &value, sizeof value);
  size_ += sizeof value;
}

void ByteWriter::text(std::string_view value) {
  number(value.size());
  raw(std::as_bytes(std::span(value)));
}

void ByteWriter::raw(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
  size_ += bytes.size();
}

void ByteReader::fail() {
  ok_ = false;
  at_ = end_;
}

std::uint64_t ByteReader::long_number() {
  std::uint64_t value = 0;
  const std::size_t most = std::min(kNumberBytesMax, left());
  for (std::size_t i = 0; i < most; ++i) {
    const auto bits = static_cast<std::uint64_t>(at_[i]);
    if (i + 1 == kNumberBytesMax && bits > 1) break;
    value |= (bits & 0x7f) << (7 * i);
    if (bits >= 0x80) continue;
    at_ += i + 1;
    return value;
  }
  fail();
  return 0;
}

std::uint32_t ByteReader::number32() {
  const std::uint64_t value = number();
  if (value <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(value);
  fail();
  return 0;
}

std::size_t ByteReader::count(std::size_t bytes_each) {
  const std::uint64_t value = number();
  if (value <= left() / std::max<std::size_t>(bytes_each, 1)) return value;
  fail();
  return 0;
}

std::uint64_t ByteReader::word() {
  std::uint64_t value = 0;
  if (const auto bytes = raw(sizeof value); !bytes.empty())
    std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

double ByteReader::real() {
  double value = 0;
  if (const auto bytes = raw(sizeof value); !bytes.empty())
    std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string ByteReader::text() {
  const auto bytes = raw(count());
  std::string value(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(value.data(), bytes.data(), bytes.size());
  return value;
}

std::span<const std::byte> ByteReader::raw(std::size_t size) {
  if (size > left()) {
    fail();
    return {};
  }
  const std::span bytes(at_, size);
  at_ += size;
  return bytes;
}

}  // namespace l4
