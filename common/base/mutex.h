// Mutexes whose guarded members the compiler checks.
//
// `L4_GUARDED_BY(mutex_)` behind a member and `L4_REQUIRES(mutex_)` behind a function tell clang
// which lock they need; with -Wthread-safety an access without it is an error. gcc compiles the
// same code and checks nothing. The macros are those of clang's "Thread Safety Analysis".
//
// A predicate in a lambda is analysed as a function of its own. Either it is given the lock,
// `[this]() L4_REQUIRES(mutex_) { return closed_; }`, or the caller writes the loop:
// `while (!closed_) changed_.wait(lock);`. Both are right in the face of spurious wakeups.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#if defined(__clang__)
#define L4_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define L4_THREAD_ATTRIBUTE(x)
#endif

#define L4_CAPABILITY(name) L4_THREAD_ATTRIBUTE(capability(name))
#define L4_SCOPED_CAPABILITY L4_THREAD_ATTRIBUTE(scoped_lockable)
#define L4_GUARDED_BY(mutex) L4_THREAD_ATTRIBUTE(guarded_by(mutex))
#define L4_PT_GUARDED_BY(mutex) L4_THREAD_ATTRIBUTE(pt_guarded_by(mutex))
#define L4_REQUIRES(...) L4_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define L4_EXCLUDES(...) L4_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define L4_ACQUIRE(...) L4_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define L4_TRY_ACQUIRE(...) L4_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define L4_RELEASE(...) L4_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define L4_RETURN_CAPABILITY(mutex) L4_THREAD_ATTRIBUTE(lock_returned(mutex))
#define L4_NO_THREAD_SAFETY_ANALYSIS L4_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace l4 {

class L4_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() L4_ACQUIRE() { mutex_.lock(); }
  void unlock() L4_RELEASE() { mutex_.unlock(); }
  bool try_lock() L4_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// Holds the mutex while it lives, except between `unlock` and `lock`.
class L4_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) L4_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() L4_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() L4_ACQUIRE() { lock_.lock(); }
  void unlock() L4_RELEASE() { lock_.unlock(); }

 private:
  friend class CondVar;
  std::unique_lock<std::mutex> lock_;
};

/// A condition variable for `MutexLock`; with the names and results of std::condition_variable.
/// Every wait gives the mutex up and holds it again when it returns. With a stop token a wait also
/// ends when a stop is requested.
class CondVar {
  /// False before the first wait, true after it.
  struct WokenOnce {
    bool woken = false;
    bool operator()() { return std::exchange(woken, true); }
  };

 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  void wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  /// Waits once, for a caller that loops and tests its condition and the token itself.
  void wait(MutexLock& lock, const std::stop_token& stop) {
    condition_.wait(lock.lock_, stop, WokenOnce{});
  }
  template <class Predicate>
  void wait(MutexLock& lock, Predicate done) {
    condition_.wait(lock.lock_, std::move(done));
  }
  template <class Predicate>
  bool wait(MutexLock& lock, const std::stop_token& stop, Predicate done) {
    return condition_.wait(lock.lock_, stop, std::move(done));
  }

  template <class Rep, class Period>
  std::cv_status wait_for(MutexLock& lock, const std::chrono::duration<Rep, Period>& most) {
    return condition_.wait_for(lock.lock_, most);
  }
  /// Waits once, for a caller that loops and tests its condition, the token and the time itself.
  template <class Rep, class Period>
  void wait_for(MutexLock& lock, const std::stop_token& stop,
                const std::chrono::duration<Rep, Period>& most) {
    condition_.wait_for(lock.lock_, stop, most, WokenOnce{});
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(MutexLock& lock, const std::chrono::duration<Rep, Period>& most, Predicate done) {
    return condition_.wait_for(lock.lock_, most, std::move(done));
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(MutexLock& lock, const std::stop_token& stop,
                const std::chrono::duration<Rep, Period>& most, Predicate done) {
    return condition_.wait_for(lock.lock_, stop, most, std::move(done));
  }

  template <class Clock, class Duration>
  std::cv_status wait_until(MutexLock& lock,
                            const std::chrono::time_point<Clock, Duration>& until) {
    return condition_.wait_until(lock.lock_, until);
  }
  /// Waits once, for a caller that loops and tests its condition, the token and the time itself.
  template <class Clock, class Duration>
  void wait_until(MutexLock& lock, const std::stop_token& stop,
                  const std::chrono::time_point<Clock, Duration>& until) {
    condition_.wait_until(lock.lock_, stop, until, WokenOnce{});
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(MutexLock& lock, const std::chrono::time_point<Clock, Duration>& until,
                  Predicate done) {
    return condition_.wait_until(lock.lock_, until, std::move(done));
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(MutexLock& lock, const std::stop_token& stop,
                  const std::chrono::time_point<Clock, Duration>& until, Predicate done) {
    return condition_.wait_until(lock.lock_, stop, until, std::move(done));
  }

 private:
  std::condition_variable_any condition_;  // std::condition_variable has no stop tokens
};

}  // namespace l4
