// Values as bytes and back, for state that is kept on disk: numbers as varints, text by its length.
//
// A writer owns one growing buffer. A reader borrows its bytes and never reads past their end:
// a missing value makes the reader fail, every later value is 0 or empty, and the caller asks ok()
// once. It checks form, not meaning: the caller checks the range of indices. Little endian hosts.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace l4 {

class ByteWriter {
 public:
  void byte(std::uint8_t value) { *room(1) = std::byte{value}, ++size_; }
  /// 7 bits a byte: small numbers are short.
  void number(std::uint64_t value);
  void signed_number(std::int64_t value) {
    number(static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63));
  }
  void word(std::uint64_t value);  ///< always 8 bytes: for hashes
  void real(double value);
  void text(std::string_view value);  ///< with its length
  void raw(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes() const { return {buffer_.get(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

 private:
  std::byte* room(std::size_t more) {
    if (capacity_ - size_ < more) grow(more);
    return buffer_.get() + size_;
  }
  void grow(std::size_t more);

  std::unique_ptr<std::byte[]> buffer_;
  std::size_t size_ = 0, capacity_ = 0;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint8_t byte() {
    if (at_ == end_) {
      fail();
      return 0;
    }
    return std::to_integer<std::uint8_t>(*at_++);
  }
  std::uint64_t number() {
    // Most numbers have one byte.
    if (at_ == end_ || (*at_ & kMore) != std::byte{}) return long_number();
    return std::to_integer<std::uint64_t>(*at_++);
  }
  /// A number that must fit; the reader fails if it does not.
  std::uint32_t number32();
  std::int64_t signed_number() {
    const std::uint64_t folded = number();
    return static_cast<std::int64_t>(folded >> 1U) ^ -static_cast<std::int64_t>(folded & 1U);
  }
  /// How many elements follow, each of at least `bytes_each` bytes: never more than can be there.
  std::size_t count(std::size_t bytes_each = 1);
  std::uint64_t word();
  double real();
  std::string text();
  std::span<const std::byte> raw(std::size_t size);

  bool ok() const { return ok_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  void fail();

 private:
  static constexpr std::byte kMore{0x80};  ///< the number goes on

  std::uint64_t long_number();

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

}  // namespace l4
