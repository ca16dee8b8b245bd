#include "common/base/bounded_queue.h"

#include <doctest/doctest.h>

#include <memory>

using l4::BoundedQueue;
using l4::WhenFull;

TEST_CASE("bounded queue: drop_oldest keeps the newest and counts") {
  BoundedQueue<int> queue(2, WhenFull::drop_oldest);
  for (int i = 0; i < 5; ++i) CHECK(queue.push(i));
  CHECK(queue.dropped() == 3);
  CHECK(queue.size() == 2);
  CHECK(queue.pop() == 3);
  CHECK(queue.pop() == 4);
}

TEST_CASE("bounded queue: drop_newest keeps the oldest and counts") {
  BoundedQueue<int> queue(2, WhenFull::drop_newest);
  for (int i = 0; i < 5; ++i) CHECK(queue.push(i));
  CHECK(queue.dropped() == 3);
  CHECK(queue.pop() == 0);
  CHECK(queue.pop() == 1);
  CHECK_FALSE(queue.try_pop().has_value());
}

TEST_CASE("bounded queue: closing refuses what comes and drains what is in") {
  BoundedQueue<std::unique_ptr<int>> queue(4);
  CHECK(queue.push(std::make_unique<int>(7)));
  queue.close();
  CHECK_FALSE(queue.push(std::make_unique<int>(8)));
  CHECK(*queue.pop().value() == 7);
  CHECK_FALSE(queue.pop().has_value());
  CHECK(queue.dropped() == 0);
}

TEST_CASE("bounded queue: abandoned, it is closed and empty") {
  BoundedQueue<int> queue(0);
  CHECK(queue.capacity() == 1);
  CHECK(queue.push(1));
  queue.abandon();
  CHECK_FALSE(queue.pop().has_value());
}
