// The live wire within one process: one server and its clients, whose messages stay in memory.
//
// Flow: agent/ship <-> ClientPort ~ MemoryWire ~ ServerPort <-> aggregator/receive, as with ZeroMQ:
// `l4 local` runs agent and aggregator over it. Each port belongs to one thread, and ports of
// different threads may be used at the same time (one mutex). No message is lost while both ends
// are there. Bound: kHighWaterMark messages per connection and direction, then Sent::full; the
// end that was refused is woken when there is room again. Ports may outlive the wire.
#pragma once

#include <memory>
#include <string>

#include "common/wire/port.h"

namespace l4::wire {

class MemoryWire {
 public:
  MemoryWire();
  MemoryWire(const MemoryWire&) = delete;
  MemoryWire& operator=(const MemoryWire&) = delete;
  ~MemoryWire();

  /// The one server. Its destruction breaks all connections; afterwards there may be another.
  std::unique_ptr<ServerPort> server();
  /// `key_name`: the name that a key would have in the allow list, kFleetKeyName for any.
  std::unique_ptr<ClientPort> client(std::string key_name);

 private:
  struct State;
  class Client;
  class Server;
  std::shared_ptr<State> state_;
};

}  // namespace l4::wire
