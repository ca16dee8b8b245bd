// The timers of one iteration of one stream, packed: about 7 bytes each instead of 24.
//
// A job of 30,000 ranks keeps millions of them. Frameworks print few decimals, so a sum is kept as
// a 32-bit count of thousandths (or fewer digits) where that gives the same double again, else as
// it is; a timer seen once needs neither count nor maximum. Owns one small block; move only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>

#include "common/wire/batch.h"

namespace l4::job {

class PackedTimers {
 public:
  /// Unpacks as it goes; the order is that of assign().
  class Iterator {
   public:
    using value_type = wire::TimerTotal;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    Iterator(const std::uint8_t* at, std::size_t left);
    const wire::TimerTotal& operator*() const { return total_; }
    const wire::TimerTotal* operator->() const { return &total_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(const Iterator& other) const { return left_ == other.left_; }

   private:
    void read();

    const std::uint8_t* at_ = nullptr;
    std::size_t left_ = 0;
    wire::TimerTotal total_;
  };

  void assign(std::span<const wire::TimerTotal> timers);
  void clear() { bytes_.reset(); }
  bool empty() const { return bytes_ == nullptr; }
  Iterator begin() const;
  Iterator end() const { return {}; }

  /// The packed bytes; empty without timers.
  std::span<const std::uint8_t> packed() const;
  /// Restores what packed() gave; false, and no timers, if the bytes have another form.
  bool assign_packed(std::span<const std::uint8_t> packed);

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;  ///< number of timers, then each of them
};

}  // namespace l4::job
