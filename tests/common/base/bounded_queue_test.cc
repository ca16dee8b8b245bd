#include "common/base/bounded_queue.h"

#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace l4 {
namespace {

TEST_CASE("bounded queue: bounded in number and in bytes, but an empty one accepts any value") {
  BoundedQueue<int> queue(2, 100);
  CHECK(queue.try_push(1, 1'000));
  CHECK_FALSE(queue.try_push(2, 1));
  CHECK(queue.drain(Millis{0}) == std::deque{1});
  CHECK(queue.try_push(3, 60));
  CHECK_FALSE(queue.try_push(4, 41));
  CHECK(queue.try_push(5, 40));
  CHECK_FALSE(queue.try_push(6, 0));
  CHECK(queue.size() == 2);
  CHECK(queue.drain(Millis{0}) == std::deque{3, 5});
  CHECK(queue.size() == 0);
}

TEST_CASE("bounded queue: a bound of no values means one, and without bytes only values count") {
  BoundedQueue<int> queue(0);
  CHECK(queue.try_push(1));
  CHECK_FALSE(queue.try_push(2));
  CHECK(queue.try_pop() == 1);
  CHECK_FALSE(queue.try_pop().has_value());
  CHECK(queue.try_push(3));
  CHECK(queue.pop() == 3);
}

TEST_CASE("bounded queue: one drain gives at most as many values as the bound") {
  BoundedQueue<int> queue(3);
  for (int i = 0; i < 3; ++i) CHECK(queue.try_push(i));
  CHECK(queue.drain(Millis{60'000}) == std::deque{0, 1, 2});
  CHECK(queue.drain(Millis{1}).empty());
}

TEST_CASE("bounded queue: closing refuses what comes and drains what is in") {
  BoundedQueue<std::unique_ptr<int>> queue(4);
  CHECK(queue.push(std::make_unique<int>(7)));
  queue.close();
  queue.close();
  CHECK(queue.is_closed());
  CHECK_FALSE(queue.push(std::make_unique<int>(8)));
  CHECK_FALSE(queue.try_push(std::make_unique<int>(9)));
  CHECK(*queue.pop().value() == 7);
  CHECK_FALSE(queue.pop().has_value());
  CHECK_FALSE(queue.pop().has_value());
  CHECK_FALSE(queue.try_pop().has_value());
  CHECK(queue.size() == 0);
}

TEST_CASE("bounded queue: closing wakes a thread that waits for room") {
  BoundedQueue<int> queue(1, 100);
  CHECK(queue.push(1, 1));
  bool pushed = true;
  std::thread waits([&] { pushed = queue.push(2, 1); });
  queue.close();
  waits.join();
  CHECK_FALSE(pushed);
  CHECK(queue.drain(Millis{60'000}) == std::deque{1});
  CHECK(queue.drain(Millis{60'000}).empty());
  CHECK(queue.size() == 0);
}

TEST_CASE("bounded queue: closing wakes the consumer") {
  BoundedQueue<int> popped(1), drained(1);
  std::thread closes([&] {
    popped.close();
    drained.close();
  });
  CHECK_FALSE(popped.pop().has_value());
  CHECK(drained.drain(Millis{60'000}).empty());
  closes.join();
}

TEST_CASE("bounded queue: abandoned, it is closed and empty, and a thread that waits is refused") {
  BoundedQueue<int> queue(1);
  CHECK(queue.push(1));
  bool pushed = true;
  std::thread waits([&] { pushed = queue.push(2) && queue.push(3) && queue.push(4); });
  queue.abandon();
  waits.join();
  CHECK_FALSE(pushed);
  CHECK_FALSE(queue.push(5));
}

/// Pushes `each` values from each of `threads` threads; `consume` gives them to its argument.
template <class Consume>
void stress(BoundedQueue<int>& queue, int each, Consume consume) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&queue, each, t] {
      for (int i = 0; i < each; ++i) queue.push(t * each + i, 1 + static_cast<std::size_t>(i % 7));
    });
  std::vector<int> next(kThreads, 0);
  bool in_order = true;
  const auto accept = [&](int value) {
    in_order = in_order && next.at(static_cast<std::size_t>(value / each))++ == value % each;
  };
  const auto got = [&] { return std::accumulate(next.begin(), next.end(), 0); };
  while (got() < kThreads * each) consume(accept);
  for (std::thread& thread : threads) thread.join();
  CHECK(in_order);
  CHECK(queue.size() == 0);
}

TEST_CASE("bounded queue: several threads wait for room; the values of each keep their order") {
  BoundedQueue<int> queue(3, 10);
  stress(queue, 5'000, [&](const auto& accept) {
    for (const int value : queue.drain(Millis{1'000})) accept(value);
  });
  stress(queue, 5'000, [&](const auto& accept) { accept(queue.pop().value()); });
  stress(queue, 5'000, [&](const auto& accept) {
    if (const auto value = queue.try_pop()) accept(*value);
  });
}

TEST_CASE("bounded queue: a heavy value makes room for all light ones that wait") {
  BoundedQueue<int> queue(10, 100);
  CHECK(queue.push(0, 100));
  std::vector<std::thread> threads;
  for (int i = 1; i <= 3; ++i) threads.emplace_back([&queue, i] { queue.push(i, 1); });
  std::this_thread::sleep_for(Millis{20});  // they wait by now
  CHECK(queue.pop() == 0);
  for (std::thread& thread : threads) thread.join();  // without another pop
  CHECK(queue.size() == 3);
}

TEST_CASE("bounded queue: closed among pushes, exactly the values that were accepted come out") {
  constexpr int kThreads = 3, kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    BoundedQueue<int> queue(2);
    std::vector<std::thread> threads;
    std::vector<int> accepted(kThreads, 0);
    for (std::size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        while (queue.push(static_cast<int>(t))) ++accepted.at(t);
      });
    threads.emplace_back([&] {
      for (int i = 0; i < round % 10; ++i) std::this_thread::yield();
      queue.close();
    });
    std::vector<int> popped(kThreads, 0);
    while (const auto value = queue.pop()) ++popped.at(static_cast<std::size_t>(*value));
    for (std::thread& thread : threads) thread.join();
    CHECK(popped == accepted);
  }
}

}  // namespace
}  // namespace l4
