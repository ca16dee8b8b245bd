// The seam between agent and aggregator within one process: batches go in at one end and come out
// at the other.
// Implementation: common/wire/memory_transport.h. A sender may be used by one thread, a receiver by
// one thread. Bounded: when full, `send` waits (full policy "block"), so nothing is dropped between
// the two ends.
#pragma once

#include <optional>

#include "common/wire/batch.h"

namespace l4::wire {

class Sender {
 public:
  virtual ~Sender() = default;
  /// False if the other end is closed; the batch is then lost and the caller stops.
  virtual bool send(Batch batch) = 0;
};

class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Next batch; empty when all senders have closed and nothing is left.
  virtual std::optional<Batch> receive() = 0;
};

}  // namespace l4::wire
