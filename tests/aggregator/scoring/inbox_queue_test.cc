#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "aggregator/scoring/inbox.h"

namespace l4::scoring {
namespace {

TEST_CASE("inbox: bounded in number and in bytes, but one value is always taken") {
  Inbox<int> inbox(2, 100);
  CHECK(inbox.try_put(1, 1'000));
  CHECK_FALSE(inbox.try_put(2, 1));
  CHECK(inbox.take(Millis{0}) == std::deque{1});
  CHECK(inbox.try_put(3, 60));
  CHECK_FALSE(inbox.try_put(4, 41));
  CHECK(inbox.try_put(5, 40));
  CHECK_FALSE(inbox.try_put(6, 0));
  CHECK(inbox.size() == 2);
  CHECK(inbox.take(Millis{0}) == std::deque{3, 5});
  CHECK(inbox.size() == 0);
}

TEST_CASE("inbox: closed, it takes nothing, gives what is in, and wakes all who wait") {
  Inbox<int> inbox(1, 100);
  CHECK(inbox.put(1, 1));
  bool taken = true;
  std::thread waits([&] { taken = inbox.put(2, 1); });
  inbox.close();
  waits.join();
  CHECK_FALSE(taken);
  CHECK_FALSE(inbox.try_put(3, 1));
  CHECK(inbox.take(Millis{60'000}) == std::deque{1});
  CHECK(inbox.is_closed());
  CHECK(inbox.take(Millis{60'000}).empty());
  CHECK(inbox.size() == 0);
}

TEST_CASE("inbox: several threads wait for room, and what each puts comes in its order") {
  constexpr int kThreads = 4, kEach = 5'000;
  Inbox<int> inbox(3, 10);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&inbox, t] {
      for (int i = 0; i < kEach; ++i) inbox.put(t * kEach + i, 1 + static_cast<std::size_t>(i % 7));
    });
  std::vector<int> next(kThreads, 0);
  int got = 0;
  while (got < kThreads * kEach)
    for (const int value : inbox.take(Millis{1'000})) {
      CHECK(next.at(static_cast<std::size_t>(value / kEach))++ == value % kEach);
      ++got;
    }
  for (std::thread& thread : threads) thread.join();
  CHECK(inbox.size() == 0);
}

}  // namespace
}  // namespace l4::scoring
