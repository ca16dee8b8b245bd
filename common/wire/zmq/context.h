// A libzmq context: one I/O thread, shared by the ports of a program.
//
// Thread-safe, as libzmq's contexts are. Ends after the last port that uses it.
#pragma once

#include <memory>

namespace zmq {
class context_t;
}

namespace l4::wire {

class ZmqContext {
 public:
  /// `sockets_max`: three for each client, six for a server.
  explicit ZmqContext(int sockets_max = 1'000);
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;
  ~ZmqContext();

  zmq::context_t& get() const { return *context_; }

 private:
  std::unique_ptr<zmq::context_t> context_;
};

}  // namespace l4::wire
