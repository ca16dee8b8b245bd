// A queue from several threads to one, bounded in values and, where they are given, in bytes.
//
// Any thread pushes, one thread pops; the values of one thread keep their order. When the queue is
// full, `push` waits for room and `try_push` refuses; nothing is dropped. An empty queue accepts
// any value, also one that is heavier than `bytes_max`. `close` refuses what is pushed later, and
// each value for which a push returned true is still popped. The queue is moodycamel's: no lock is
// taken unless a thread must wait for room, and a thread that waits sleeps.
#pragma once

#include <concurrentqueue/blockingconcurrentqueue.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/base/time.h"

namespace l4 {

template <class T>
class BoundedQueue {
  /// Number and bytes of the reserved values stand in one word, so that both change at once.
  static constexpr unsigned kBytesBits = 40;
  static constexpr std::uint64_t kOne = std::uint64_t{1} << kBytesBits;

 public:
  static constexpr std::size_t kValuesMax = std::size_t{1} << 23;
  /// The most bytes of a queue, and of one value.
  static constexpr std::size_t kBytesMax = std::size_t{1} << 39;

  /// A bound of 0 values means 1.
  explicit BoundedQueue(std::size_t values_max, std::size_t bytes_max = kBytesMax)
      : values_max_(values_max), bytes_max_(std::min(bytes_max, kBytesMax)) {
    L4_CHECK(values_max <= kValuesMax, "a queue counts up to {} values, not {}", kValuesMax,
             values_max);
  }
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  // Any thread.

  /// Waits for room. False: the queue is closed, and the value is gone.
  bool push(T value, std::size_t bytes = 0) {
    if (closed_) return false;
    if (reserve(bytes)) return add(std::move(value), bytes);
    bool reserved = false;
    {
      MutexLock lock(mutex_);
      ++waiting_;
      while (!closed_ && !(reserved = reserve(bytes))) has_room_.wait(lock);
      --waiting_;
    }
    return reserved && add(std::move(value), bytes);
  }
  /// False: the queue is full or closed, and the value is gone.
  bool try_push(T value, std::size_t bytes = 0) {
    return !closed_ && reserve(bytes) && add(std::move(value), bytes);
  }

  /// Pushes fail from now on, also those that wait. Wakes the consumer.
  void close() {
    if (closed_.exchange(true)) return;
    {
      const MutexLock lock(mutex_);  // a push that found the queue open is in wait() by now
    }
    has_room_.notify_all();
    filled_ += kOne;
    queue_.enqueue(Entry{});
  }
  bool is_closed() const { return closed_; }
  std::size_t size() const { return filled_ / kOne; }

  // The consumer's thread.

  /// Waits for a value; empty when the queue is closed and all its values were popped.
  std::optional<T> pop() {
    Entry entry;
    // Each reservation is followed by an entry, so the entry that this waits for always comes.
    while (!closed_ || filled_ > 0) {
      queue_.wait_dequeue(entry);
      release(1, entry.bytes);
      if (entry.value) return std::move(entry.value);
    }
    return std::nullopt;
  }
  /// Never waits; empty when there is no value now.
  std::optional<T> try_pop() {
    Entry entry;
    while (queue_.try_dequeue(entry)) {
      release(1, entry.bytes);
      if (entry.value) return std::move(entry.value);
    }
    return std::nullopt;
  }
  /// All values, at most `values_max` of them; if there is none, waits for one until `most` is over
  /// or the queue is closed.
  std::deque<T> drain(Millis most) {
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
    if (values > 0) release(values, bytes);
    return all;
  }
  /// Closes, and discards the values in the queue: for the end of the consumer.
  void abandon() {
    close();
    while (try_pop()) continue;
  }

 private:
  struct Entry {
    std::optional<T> value;  ///< empty: the queue was closed
    std::size_t bytes = 0;
  };
  struct Traits : moodycamel::ConcurrentQueueDefaultTraits {
    static constexpr int MAX_SEMA_SPINS = 0;  // a consumer without a value sleeps at once
  };

  /// Reserves room for a value; false if there is none.
  bool reserve(std::size_t bytes) {
    L4_CHECK(bytes <= kBytesMax, "a value of {} bytes cannot be counted", bytes);
    std::uint64_t now = filled_;
    do {
      const std::uint64_t values = now / kOne;
      const bool fits = values < values_max_ && now % kOne + bytes <= bytes_max_;
      if (values > 0 && !fits) return false;
    } while (!filled_.compare_exchange_weak(now, now + kOne + bytes));
    return true;
  }
  /// Adds a value whose room is reserved. If the queue was closed meanwhile, adds an empty entry
  /// instead: the consumer waits for an entry for each reservation.
  bool add(T value, std::size_t bytes) {
    const bool open = !closed_;
    queue_.enqueue(open ? Entry{std::move(value), bytes} : Entry{std::nullopt, bytes});
    return open;
  }
  /// Ends reservations, and wakes threads that wait for room.
  void release(std::size_t values, std::size_t bytes) {
    const std::uint64_t before = filled_.fetch_sub(values * kOne + bytes);
    L4_CHECK(before / kOne >= values && before % kOne >= bytes,
             "{} values and {} bytes leave a queue of {} and {}", values, bytes, before / kOne,
             before % kOne);
    if (waiting_ == 0) return;
    {
      const MutexLock lock(mutex_);  // a push that found no room is in wait() by now
    }
    if (values == 1 && bytes == 0)  // the room of one value; bytes may be room for many
      has_room_.notify_one();
    else
      has_room_.notify_all();
  }

  const std::size_t values_max_, bytes_max_;
  Mutex mutex_;  ///< guards no member: `has_room_` needs it
  CondVar has_room_;
  std::atomic<std::uint64_t> filled_{0};
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> closed_{false};
  moodycamel::BlockingConcurrentQueue<Entry, Traits> queue_;
};

}  // namespace l4
