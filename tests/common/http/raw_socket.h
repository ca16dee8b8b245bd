// Plain sockets for tests, which can send what a proper client or server would not. Loopback; every
// call ends within its deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace l4::test {

class RawClient {
 public:
  /// Stays unconnected if the port does not listen.
  explicit RawClient(std::uint16_t port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return socket_ >= 0; }
  /// How many bytes went out before the peer closed or the time was over.
  std::size_t send(std::string_view bytes, std::chrono::milliseconds within = default_time());
  /// The bytes that arrive until `size` bytes are there, the peer closes, or the time is over.
  std::string receive(std::size_t size, std::chrono::milliseconds within = default_time());
  /// Reads until the text ends with `mark`.
  std::string receive_until(std::string_view mark);
  /// True once the peer has closed; bytes before that are discarded.
  bool is_closed_within(std::chrono::milliseconds within);
  void set_receive_buffer(int bytes);
  /// Closes the sending side; bytes can still be received.
  void end();
  void close();

 private:
  static std::chrono::milliseconds default_time() { return std::chrono::seconds(10); }
  int socket_ = -1;
};

/// Accepts one connection, reads a request up to its empty line, sends `answer` and closes. With
/// `hold` it first stays silent for that time, or until the client closes.
class RawServer {
 public:
  explicit RawServer(std::string answer, std::chrono::milliseconds hold = {});
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// The request; waits until the connection is over.
  std::string request();

 private:
  void serve();

  std::string answer_, request_;
  std::chrono::milliseconds hold_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

}  // namespace l4::test
