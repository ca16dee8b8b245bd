#include "common/wire/memory_transport.h"

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <thread>

using namespace l4::wire;

namespace {

Batch message(std::uint32_t sender, std::uint32_t number) {
  Batch batch;
  batch.incarnation = sender;
  batch.sequence = number;
  return batch;
}

}  // namespace

TEST_CASE("memory transport: four senders lose nothing and keep their order") {
  constexpr std::uint32_t kSenders = 4, kMessages = 2000;
  MemoryLink link = make_memory_link(kSenders, 8);
  std::vector<std::jthread> threads;
  for (std::uint32_t s = 0; s < kSenders; ++s)
    threads.emplace_back([s, sender = std::move(link.senders[s])] {
      for (std::uint32_t i = 0; i < kMessages; ++i) sender->send(message(s, i));
    });
  std::uint32_t next[kSenders] = {};
  bool ordered = true;
  while (const auto batch = link.receiver->receive()) {
    std::uint32_t& expected = next[batch->incarnation];
    ordered = ordered && batch->sequence == expected;
    ++expected;
  }
  CHECK(ordered);
  for (const std::uint32_t count : next) CHECK(count == kMessages);
}

TEST_CASE("memory transport: a full link makes the sender wait") {
  MemoryLink link = make_memory_link(1, 2);
  std::atomic<int> sent{0};
  std::jthread thread([&] {
    for (int i = 0; i < 4; ++i) {
      link.senders[0]->send(message(0, 0));
      ++sent;
    }
    link.senders[0].reset();
  });
  while (sent < 2) std::this_thread::yield();
  CHECK(sent == 2);  // the third waits for room
  CHECK(link.receiver->receive().has_value());
  while (sent < 3) std::this_thread::yield();
  int left = 0;
  while (link.receiver->receive()) ++left;
  CHECK(left == 3);
}

TEST_CASE("memory transport: what was sent before closing still arrives") {
  MemoryLink link = make_memory_link(2, 4);
  CHECK(link.senders[0]->send(message(0, 1)));
  link.senders[0].reset();
  CHECK(link.senders[1]->send(message(1, 1)));
  link.senders[1].reset();
  CHECK(link.receiver->receive().has_value());
  CHECK(link.receiver->receive().has_value());
  CHECK_FALSE(link.receiver->receive().has_value());
  CHECK_FALSE(link.receiver->receive().has_value());
}

TEST_CASE("memory transport: without a receiver sending fails, also for one who waits") {
  MemoryLink link = make_memory_link(1, 1);
  std::latch full(1);
  std::atomic<bool> accepted{true};
  std::jthread thread([&] {
    link.senders[0]->send(message(0, 0));
    full.count_down();
    accepted = link.senders[0]->send(message(0, 1));
  });
  full.wait();
  link.receiver.reset();
  thread.join();
  CHECK_FALSE(accepted);
  CHECK_FALSE(link.senders[0]->send(message(0, 2)));
}

TEST_CASE("memory transport: no senders, no wait") {
  CHECK_FALSE(make_memory_link(0, 1).receiver->receive().has_value());
}
