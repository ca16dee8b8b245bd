// How much of the input has been read. Readers count here, a line on the terminal shows it. Safe
// for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace l4::offline {

struct Progress {
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<std::uint64_t> bytes_all{0};
};

}  // namespace l4::offline
