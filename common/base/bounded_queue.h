// A queue between threads with an exact bound and a named policy for the moment it is full.
//
// Any number of threads on both ends; values move through. Mutex and two conditions: messages
// here are large and few, so the lock is not what costs. `WhenFull` is chosen at construction:
// block (push waits), drop_oldest or drop_newest (push never waits, drops are counted).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "common/base/mutex.h"

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
    MutexLock lock(mutex_);
    if (policy_ == WhenFull::block)
      while (!closed_ && values_.size() >= capacity_) has_room_.wait(lock);
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

  /// Waits for a value; empty when the queue is closed and has no value left.
  std::optional<T> pop() {
    MutexLock lock(mutex_);
    while (!closed_ && values_.empty()) has_value_.wait(lock);
    return pop_front(lock);
  }

  /// Never waits; empty when there is nothing now.
  std::optional<T> try_pop() {
    MutexLock lock(mutex_);
    return pop_front(lock);
  }

  /// Later pushes fail; values in the queue can still be popped. Wakes all waiting threads.
  void close() {
    {
      const MutexLock lock(mutex_);
      closed_ = true;
    }
    has_room_.notify_all();
    has_value_.notify_all();
  }

  /// Closes and discards the values in the queue, uncounted: for the end of the reader.
  void abandon() {
    std::deque<T> rest;
    {
      const MutexLock lock(mutex_);
      closed_ = true;
      rest.swap(values_);
    }
    has_room_.notify_all();
    has_value_.notify_all();
  }

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const {
    const MutexLock lock(mutex_);
    return values_.size();
  }
  /// Values lost because the queue was full.
  std::uint64_t dropped() const {
    const MutexLock lock(mutex_);
    return dropped_;
  }

 private:
  /// Unlocks where there is a value.
  std::optional<T> pop_front(MutexLock& lock) L4_NO_THREAD_SAFETY_ANALYSIS {
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    lock.unlock();
    has_room_.notify_one();
    return value;
  }

  const std::size_t capacity_;
  const WhenFull policy_;
  mutable Mutex mutex_;
  CondVar has_room_;
  CondVar has_value_;
  std::deque<T> values_ L4_GUARDED_BY(mutex_);
  std::uint64_t dropped_ L4_GUARDED_BY(mutex_) = 0;
  bool closed_ L4_GUARDED_BY(mutex_) = false;
};

}  // namespace l4
