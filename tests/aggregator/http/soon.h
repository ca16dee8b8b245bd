// Waits for the work of another thread.
#pragma once

#include <chrono>
#include <thread>

namespace l4::test {

/// Waits until the condition is true, at most ten seconds.
template <class Condition>
bool soon(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!condition() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  return condition();
}

}  // namespace l4::test
