// Asks several threads and hands over what all of them said, once.
//
// Shared by the calls that wait on those threads; the last one to answer calls `then`. If one of
// them goes away unasked, `then` is never called. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace l4::live {

template <class T>
class Gather {
 public:
  Gather(std::size_t answers, std::function<void(std::vector<T>)> then)
      : left_(answers), then_(std::move(then)) {}

  void answer(T value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
      if (--left_ > 0) return;
    }
    then_(std::move(values_));
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  std::vector<T> values_;
  std::function<void(std::vector<T>)> then_;
};

}  // namespace l4::live
