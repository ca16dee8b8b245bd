#include "common/base/thread.h"

#include <doctest/doctest.h>
#include <pthread.h>

#include <array>
#include <memory>
#include <string>

namespace l4 {
namespace {

std::string name_of_this_thread() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

}  // namespace

TEST_CASE("thread: it has its name") {
  std::string found;
  start_thread("fifteen-letters", [&] { found = name_of_this_thread(); }).join();
  CHECK(found == "fifteen-letters");
}

TEST_CASE("thread: its function sees the stop and may own what it needs") {
  bool stopped = false;
  start_thread("waits", [&stopped, owned = std::make_unique<int>(7)](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    stopped = *owned == 7;
  });  // the destructor stops and joins it
  CHECK(stopped);
}

}  // namespace l4
