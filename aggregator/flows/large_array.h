// Memory for many plain values that are written once, one after another.
//
// Place in the flow: RowStore and the rows by stream of learning (mates.h). Whoever touches new
// memory pays for each of its pages, here as much as for all else that is done with a row; so the
// kernel is asked for pages of 2 MiB where there is so much. Values are not initialized. One owner.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace l4::flows {

template <class Value>
class LargeArray {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  explicit LargeArray(std::size_t capacity) : values_(allocate(capacity * sizeof(Value))) {}

  Value* data() { return values_.get(); }
  const Value* data() const { return values_.get(); }
  Value& operator[](std::size_t index) { return values_.get()[index]; }
  const Value& operator[](std::size_t index) const { return values_.get()[index]; }

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  struct Free {
    void operator()(Value* values) const { std::free(values); }
  };

  static Value* allocate(std::size_t bytes) {
    const bool is_large = bytes >= kPage;
    const std::size_t whole =
        is_large ? (bytes + kPage - 1) / kPage * kPage : std::max(bytes, sizeof(Value));
    void* const memory = is_large ? std::aligned_alloc(kPage, whole) : std::malloc(whole);
    if (memory == nullptr) throw std::bad_alloc();
    // Advice: where it is not taken, pages are small.
    if (is_large) static_cast<void>(::madvise(memory, whole, MADV_HUGEPAGE));
    return static_cast<Value*>(memory);
  }

  std::unique_ptr<Value, Free> values_;
};

}  // namespace l4::flows
