// Gathers the answers of several threads and hands them over together, once.
// Shared by the calls that wait on those threads; the last answer calls `then`. If one thread ends
// without an answer, `then` is never called. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/mutex.h"

namespace l4::live {

template <class T>
class Gather {
 public:
  Gather(std::size_t answers, std::function<void(std::vector<T>)> then)
      : left_(answers), then_(std::move(then)) {}

  void answer(T value) {
    std::vector<T> all;
    {
      const MutexLock lock(mutex_);
      L4_CHECK(left_ > 0, "a thread has answered twice; {} answers are there", values_.size());
      values_.push_back(std::move(value));
      if (--left_ > 0) return;
      all.swap(values_);
    }
    then_(std::move(all));
  }

 private:
  Mutex mutex_;
  std::size_t left_ L4_GUARDED_BY(mutex_);
  std::vector<T> values_ L4_GUARDED_BY(mutex_);
  const std::function<void(std::vector<T>)> then_;
};

}  // namespace l4::live
