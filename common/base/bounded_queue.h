// A queue between threads with an exact bound and a named policy for the moment it is full.
//
// Any number of threads on both ends; values move through. Mutex and two conditions: messages
// here are large and few, so the lock is not what costs. `WhenFull` is chosen at construction:
// block (push waits), drop_oldest or drop_newest (push never waits, drops are counted).
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace l4 {

enum class WhenFull : std::uint8_t { block, drop_oldest, drop_newest };

template <class T>
class BoundedQueue {
 public:
  /// A capacity of 0 is taken as 1.
  explicit BoundedQueue(std::size_t capacity, WhenFull policy = WhenFull::block)
      : capacity_(std::max<std::size_t>(capacity, 1)), policy_(policy) {}
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// False if the queue is closed: the value is then gone. A value dropped because of the policy
  /// is no failure; it is counted in `dropped`.
  bool push(T value) {
    std::unique_lock lock(mutex_);
    if (policy_ == WhenFull::block)
      has_room_.wait(lock, [&] { return closed_ || values_.size() < capacity_; });
    if (closed_) return false;
    if (values_.size() >= capacity_) {
      ++dropped_;
      if (policy_ == WhenFull::drop_newest) return true;
      values_.pop_front();
    }
    values_.push_back(std::move(value));
    lock.unlock();
    has_value_.notify_one();
    return true;
  }

  /// Waits for a value; empty when the queue is closed and nothing is left.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    has_value_.wait(lock, [&] { return closed_ || !values_.empty(); });
    return take(lock);
  }

  /// Never waits; empty when there is nothing now.
  std::optional<T> try_pop() {
    std::unique_lock lock(mutex_);
    return take(lock);
  }

  /// Nothing more goes in; what is in can still be taken. Wakes everybody who waits.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    has_room_.notify_all();
    has_value_.notify_all();
  }

  /// Closes and throws away what is in, uncounted: for the end of the reader.
  void abandon() {
    std::deque<T> rest;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      rest.swap(values_);
    }
    has_room_.notify_all();
    has_value_.notify_all();
  }

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }
  /// Values lost because the queue was full.
  std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  std::optional<T> take(std::unique_lock<std::mutex>& lock) {
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    lock.unlock();
    has_room_.notify_one();
    return value;
  }

  const std::size_t capacity_;
  const WhenFull policy_;
  mutable std::mutex mutex_;
  std::condition_variable has_room_;
  std::condition_variable has_value_;
  std::deque<T> values_;
  std::uint64_t dropped_ = 0;
  bool closed_ = false;
};

}  // namespace l4
