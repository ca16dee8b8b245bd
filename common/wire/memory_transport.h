// The transport of one process: a bounded queue of batches, several senders, one receiver.
//
// `l4 diagnose` runs the whole pipeline over it, and tests put a lossy one in its place. Each
// sender belongs to one thread, the receiver to another. Full policy "block", bound in batches.
// Closing is destruction: when the last sender is gone the receiver drains the queue and ends;
// when the receiver is gone every send, also one that waits, returns false.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "common/wire/transport.h"

namespace l4::wire {

struct MemoryLink {
  std::vector<std::unique_ptr<Sender>> senders;
  std::unique_ptr<Receiver> receiver;
};

/// All senders are made at once, so that "all senders have closed" can not be true too early.
MemoryLink make_memory_link(std::size_t senders, std::size_t capacity_batches);

}  // namespace l4::wire
