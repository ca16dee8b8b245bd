// A message as words of Cap'n Proto; copied only if it does not stand on a word boundary.
//
// Private to the codecs of this room: it brings capnp's headers. The message must outlive it.
#pragma once

#include <capnp/blob.h>
#include <capnp/common.h>
#include <kj/array.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace l4::wire {

inline constexpr std::size_t kWordBytes = sizeof(capnp::word);

/// Words that this many ids of 32 bits take in a list: two to a word.
constexpr std::size_t words_of_ids(std::size_t ids) {
  return (ids + 1) / 2;
}

inline capnp::Text::Reader text_of(const std::string& value) {
  return {value.c_str(), value.size()};
}

class Words {
 public:
  explicit Words(std::span<const std::byte> message) : size_(message.size() / kWordBytes) {
    if (reinterpret_cast<std::uintptr_t>(message.data()) % alignof(capnp::word) == 0) {
      begin_ = reinterpret_cast<const capnp::word*>(message.data());
      return;
    }
    copy_ = kj::heapArray<capnp::word>(size_);
    std::memcpy(copy_.begin(), message.data(), size_ * kWordBytes);
    begin_ = copy_.begin();
  }
  kj::ArrayPtr<const capnp::word> view() const { return {begin_, size_}; }

  /// The offset that a byte of the view has in the message.
  std::size_t offset_of(const void* byte) const {
    return static_cast<std::size_t>(static_cast<const char*>(byte) -
                                    reinterpret_cast<const char*>(begin_));
  }

 private:
  std::size_t size_;
  kj::Array<capnp::word> copy_;
  const capnp::word* begin_ = nullptr;
};

}  // namespace l4::wire
