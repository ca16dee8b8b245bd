// Answers libzmq's question whether a key may connect (ZAP, RFC 27), from the allow list.
//
// Used by ZmqServer on its thread; there is one for a context. A key that is allowed gets a user id
// that names its owner and the key, so that each of its messages can be judged again when the
// list has changed.
#pragma once

#include <functional>
#include <string>

#include "common/base/error.h"
#include "common/wire/zmq/allow_list.h"
#include "common/wire/zmq/socket.h"

namespace l4::wire {

inline constexpr auto kZapDomain = "l4";

class Authenticator {
 public:
  Result<void> open(const ZmqContext& context);
  /// Answers all waiting questions. Calls `refused` for each key that is not in the list, and
  /// `judged` for each address that has shown a key.
  void serve(const AllowList& list, const std::function<void(Refused)>& refused,
             const std::function<void(const std::string& address, bool allowed)>& judged);
  const Socket& socket() const { return socket_; }
  void close() { socket_.close(); }

  static std::string user_id(const std::string& name, const std::string& key) {
    return name + ' ' + key;
  }

 private:
  Socket socket_;
};

}  // namespace l4::wire
