// One ZeroMQ socket with an owner, and functions that both ends share. Private to this room.
//
// cppzmq's types are only named here, its header is costly. One thread. Nothing throws: cppzmq's
// errors become the results.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/error.h"
#include "common/wire/port.h"
#include "common/wire/zmq/context.h"

namespace zmq {
class message_t;
class socket_t;
}  // namespace zmq

namespace l4::wire {

/// Room beyond 1 MiB for CURVE's overhead, and for messages a little too long, which are refused
/// with an explanation; longer ones end the connection.
inline constexpr std::int64_t kSlackBytes = 4096;

/// Longest single wait; longer ones are repeated.
inline constexpr Millis kWaitMost{1'000};

class Socket {
 public:
  Socket();
  /// `type`: ZMQ_ROUTER and so on. Empty if the socket cannot be made; `last_error()` says why.
  Socket(const ZmqContext& context, int type);
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  explicit operator bool() const { return socket_ != nullptr; }
  void* handle() const;  ///< libzmq's own, null if empty
  void close();

  bool set(int option, int value);
  bool set(int option, std::int64_t value);
  bool set(int option, const std::string& value);
  /// The limits of the wire.
  void set_limits();
  /// ZMTP heartbeats of a client, with which the server's end, too, notices a lost peer. Messages
  /// to it are not limited in number then: libzmq (up to 4.3.5) aborts where a heartbeat is due on
  /// a connection that has broken while its messages waited to be taken. A server has none of its
  /// own for the same reason.
  void set_heartbeats(Millis interval, Millis timeout);
  int file() const;  ///< ZMQ_FD

  Sent send(const std::string* peer, Bytes message);
  /// The next frame, if there is one; never waits.
  bool receive(zmq::message_t& frame);

 private:
  std::unique_ptr<zmq::socket_t> socket_;
};

/// A descriptor that is readable when one of several is.
class AnyOf {
 public:
  AnyOf();
  AnyOf(const AnyOf&) = delete;
  AnyOf& operator=(const AnyOf&) = delete;
  ~AnyOf();
  void add(int file);
  int file() const { return file_; }

 private:
  int file_;
};

std::string last_error();  ///< libzmq's words

/// An IPv4 address that arrives over IPv6 is written as IPv4.
std::string plain_address(std::string address);
/// The same for tcp://ADDRESS:PORT.
std::string plain_endpoint(std::string endpoint);

}  // namespace l4::wire
