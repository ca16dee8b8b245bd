// What waits for one thread: in order, bounded in number and in bytes, with a deadline for the
// wait.
//
// Several threads put, one takes. `put` waits for room, `try_put` says no instead. One value is
// always taken, however heavy. Mutex and conditions: values are batches and questions, large and
// few, so the lock is not what costs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "common/base/time.h"

namespace l4::live {

template <class T>
class Inbox {
 public:
  Inbox(std::size_t values_max, std::size_t bytes_max)
      : values_max_(values_max), bytes_max_(bytes_max) {}

  /// False if it is closed.
  bool put(T value, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [&] { return closed_ || has_room(bytes); });
    return add(lock, std::move(value), bytes);
  }
  bool try_put(T value, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    return has_room(bytes) && add(lock, std::move(value), bytes);
  }

  /// All that waits; waits itself until there is something, `most` is over, or it is closed.
  std::deque<T> take(Millis most) {
    std::unique_lock lock(mutex_);
    has_value_.wait_for(lock, most, [&] { return closed_ || !values_.empty(); });
    std::deque<T> all;
    all.swap(values_);
    bytes_ = 0;
    lock.unlock();
    has_room_.notify_all();
    return all;
  }

  /// Nothing more goes in; what is in can be taken.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    has_room_.notify_all();
    has_value_.notify_all();
  }
  bool is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  bool has_room(std::size_t bytes) const {
    return values_.empty() || (values_.size() < values_max_ && bytes_ + bytes <= bytes_max_);
  }
  bool add(std::unique_lock<std::mutex>& lock, T value, std::size_t bytes) {
    if (closed_) return false;
    values_.push_back(std::move(value));
    bytes_ += bytes;
    lock.unlock();
    has_value_.notify_one();
    return true;
  }

  const std::size_t values_max_, bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable has_room_, has_value_;
  std::deque<T> values_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace l4::live
