// The queue of one thread: bounded in number and in bytes, with a deadline for waiting.
//
// Several threads put, one takes; values of one thread keep their order. `put` waits for room,
// `try_put` says no instead. One value is always taken, if it is no heavier than 2^39 B. The queue
// is moodycamel's, and no lock is taken unless a thread must wait for room.
#pragma once

#include <concurrentqueue/blockingconcurrentqueue.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/time.h"

namespace l4::scoring {

template <class T>
class Inbox {
 public:
  Inbox(std::size_t values_max, std::size_t bytes_max)
      : values_max_(values_max), bytes_max_(bytes_max) {}

  /// False if it is closed.
  bool put(T value, std::size_t bytes) {
    if (reserve(bytes)) return add(std::move(value), bytes);
    std::unique_lock lock(mutex_);
    ++waiting_;
    bool reserved = false;
    has_room_.wait(lock, [&] { return closed_ || (reserved = reserve(bytes)); });
    --waiting_;
    lock.unlock();
    return reserved && add(std::move(value), bytes);
  }
  bool try_put(T value, std::size_t bytes) {
    return reserve(bytes) && add(std::move(value), bytes);
  }

  /// All that waits; waits itself until there is something, `most` is over, or it is closed.
  std::deque<T> take(Millis most) {
    std::deque<T> all;
    Entry entry;
    const bool waits = most > Millis{0} && !closed_;
    bool more = waits ? queue_.wait_dequeue_timed(entry, most) : queue_.try_dequeue(entry);
    std::size_t values = 0, bytes = 0;
    for (; more; more = values < values_max_ && queue_.try_dequeue(entry)) {
      bytes += entry.bytes;
      ++values;
      if (entry.value) all.push_back(std::move(*entry.value));
    }
    if (values == 0) return all;
    filled_ -= values * kOne + bytes;
    if (waiting_ > 0) {
      {
        const std::lock_guard lock(mutex_);
      }  // a thread that just found no room waits by now
      has_room_.notify_all();
    }
    return all;
  }

  /// No more values go in; values inside can still be taken.
  void close() {
    closed_ = true;
    {
      const std::lock_guard lock(mutex_);
    }
    has_room_.notify_all();
    filled_ += kOne;
    queue_.enqueue(Entry{});  // the consumer wakes up
  }
  bool is_closed() const { return closed_; }
  std::size_t size() const { return filled_ / kOne; }

 private:
  struct Entry {
    std::optional<T> value;
    std::size_t bytes = 0;
  };

  /// How many and how many bytes, in one word, so that both are changed at once.
  static constexpr unsigned kBytesBits = 40;
  static constexpr std::uint64_t kOne = std::uint64_t{1} << kBytesBits;

  /// Takes room, if there is any.
  bool reserve(std::size_t bytes) {
    std::uint64_t now = filled_;
    do {
      const std::uint64_t values = now / kOne;
      const bool fits = values < values_max_ && now % kOne + bytes <= bytes_max_;
      if (values > 0 && !fits) return false;
    } while (!filled_.compare_exchange_weak(now, now + kOne + bytes));
    return true;
  }
  /// Room is reserved. Either `close()` sees the reservation and the consumer drains this value, or
  /// we see `closed_` and undo the reservation.
  bool add(T value, std::size_t bytes) {
    if (closed_) {
      filled_ -= kOne + bytes;
      return false;
    }
    queue_.enqueue(Entry{std::move(value), bytes});
    return true;
  }

  const std::size_t values_max_, bytes_max_;
  std::mutex mutex_;
  std::condition_variable has_room_;
  std::atomic<std::uint64_t> filled_{0};
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> closed_{false};
  moodycamel::BlockingConcurrentQueue<Entry> queue_;
};

}  // namespace l4::scoring
