// The agent's end of the wire over ZeroMQ: a DEALER with CURVE.
// Every `connect` is a new socket, so that nothing of a former connection can come out of a queue;
// libzmq's own reconnecting is off, ship::Session decides when. 16 messages wait to be sent,
// messages up to 1 MiB, ZMTP heartbeats. One thread; only `wake` from others. `make` returns errors
// of the address or of a key; later errors come as news.
#pragma once

#include <memory>
#include <string>

#include "common/base/error.h"
#include "common/wire/port.h"
#include "common/wire/zmq/context.h"
#include "common/wire/zmq/key_file.h"

namespace l4::wire {

struct ZmqClientOptions {
  std::string endpoint;  ///< tcp://aggregator:4750
  NodeKey key;
  std::string key_file = {};  ///< where the key stands, for messages
};

Result<std::unique_ptr<ClientPort>> make_zmq_client(std::shared_ptr<ZmqContext> context,
                                                    ZmqClientOptions options);

}  // namespace l4::wire
