#include "common/base/mutex.h"

#include <doctest/doctest.h>

#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

using std::chrono::milliseconds;

namespace l4 {
namespace {

class Account {
 public:
  void add(int amount) L4_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      balance_ += amount;
    }
    changed_.notify_all();
  }
  int wait_for_balance(int least) L4_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (balance_ < least) changed_.wait(lock);
    return balance_;
  }
  /// Waits for the balance; false if a stop comes first.
  bool wait_for_balance(int least, const std::stop_token& stop) L4_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return changed_.wait(lock, stop, [&]() L4_REQUIRES(mutex_) { return balance_ >= least; });
  }
  bool loop_for_balance(int least, const std::stop_token& stop) L4_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (balance_ < least && !stop.stop_requested()) changed_.wait(lock, stop);
    return balance_ >= least;
  }
  bool wait_for_balance(int least, milliseconds most) L4_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return changed_.wait_for(lock, most, [&]() L4_REQUIRES(mutex_) { return balance_ >= least; });
  }
  int add_in_two_steps(int amount) L4_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    balance_ += amount;
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
    return balance_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int balance_ L4_GUARDED_BY(mutex_) = 0;
};

}  // namespace

TEST_CASE("mutex: several threads add, one waits for the sum") {
  Account account;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&account] {
      for (int n = 0; n < 500; ++n) n % 2 == 0 ? account.add(1) : void(account.add_in_two_steps(1));
      account.add(0);
    });
  CHECK(account.wait_for_balance(2000) == 2000);
}

TEST_CASE("mutex: a stop ends the wait, with a predicate or in a loop") {
  for (const bool loop : {false, true}) {
    CAPTURE(loop);
    Account account;
    bool reached = true;
    std::jthread waits([&](const std::stop_token& stop) {
      reached = loop ? account.loop_for_balance(1, stop) : account.wait_for_balance(1, stop);
    });
    waits.request_stop();
    waits.join();
    CHECK_FALSE(reached);
  }
}

TEST_CASE("mutex: a wait with a time ends with the time, or before it") {
  Account account;
  CHECK_FALSE(account.wait_for_balance(1, milliseconds{1}));
  account.add(1);
  CHECK(account.wait_for_balance(1, milliseconds{0}));
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  const std::stop_source source;
  CHECK(never.wait_for(lock, milliseconds{1}) == std::cv_status::timeout);
  CHECK(never.wait_until(lock, std::chrono::steady_clock::now()) == std::cv_status::timeout);
  never.wait_for(lock, source.get_token(), milliseconds{1});
  never.wait_until(lock, source.get_token(), std::chrono::steady_clock::now());
}

TEST_CASE("mutex: it can be tried") {
  Mutex mutex;
  const auto is_free = [&] {
    const bool held = mutex.try_lock();
    if (held) mutex.unlock();
    return held;
  };
  CHECK(is_free());
  const MutexLock lock(mutex);
  bool seen_free = true;
  std::jthread([&] { seen_free = is_free(); }).join();
  CHECK_FALSE(seen_free);
}

}  // namespace l4
