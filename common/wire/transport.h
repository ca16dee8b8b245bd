// The seam between agent and aggregator: messages go in at one end and come out at the other.
//
// Implementations: memory (common/wire/memory_transport.h), later ZeroMQ and NATS. A sender may be
// used by one thread, a receiver by one thread. Bounded: when full, `send` waits (full policy
// "block"), so nothing is dropped between the two ends of one process.
#pragma once

#include <optional>

#include "common/wire/codec.h"

namespace l4::wire {

class Sender {
 public:
  virtual ~Sender() = default;
  /// False if the other end is closed; the message is then lost and the caller stops.
  virtual bool send(Bytes message) = 0;
};

class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Next message; empty when all senders have closed and nothing is left.
  virtual std::optional<Bytes> receive() = 0;
};

}  // namespace l4::wire
