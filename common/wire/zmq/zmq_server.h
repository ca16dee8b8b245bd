// The aggregator's end of the wire over ZeroMQ: a ROUTER with CURVE and an allow list. One thread
// serves the messages, libzmq's questions whether a key is allowed (ZAP), and the socket monitor's
// events about refused connections; only `wake` is for other threads. The allow list is read again
// when it changes: a key that left it is refused from its next message on. ROUTER_HANDOVER stays
// off: the server names the connections, so none can take another's place. AgentServer decides if
// two addresses use one node's name. Bounds: 16 messages a connection and direction, 1 MiB a
// message, 30 s a handshake, file descriptors.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/base/error.h"
#include "common/wire/port.h"
#include "common/wire/zmq/context.h"
#include "common/wire/zmq/key_file.h"

namespace l4::wire {

struct ZmqServerOptions {
  std::string endpoint = "tcp://*:4750";  ///< port * : any free one
  ServerKey key;
  std::filesystem::path allow_list;
  Millis handshake_most{30'000};  ///< long enough for all agents at once, as after a start
};

class ZmqServer : public ServerPort {
 public:
  /// A context can have one server, because libzmq asks a single place whether a key is allowed.
  static Result<std::unique_ptr<ZmqServer>> make(std::shared_ptr<ZmqContext> context,
                                                 const ZmqServerOptions& options);
  /// The endpoint at which the server listens.
  virtual std::string endpoint() const = 0;
  /// A notice for the log: the allow list was read again, or could not be read.
  virtual std::optional<PortNotice> notice() = 0;
};

}  // namespace l4::wire
