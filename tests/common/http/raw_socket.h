// Plain sockets for tests: what no proper client or server would send. Loopback; every call ends
// within its deadline.
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
  /// The same until it ends with `mark`.
  std::string receive_until(std::string_view mark);
  /// True once the peer has closed; what comes before is thrown away.
  bool is_closed_within(std::chrono::milliseconds within);
  void set_receive_buffer(int bytes);
  /// Nothing more will be sent; what comes can still be received.
  void end();
  void close();

 private:
  static std::chrono::milliseconds default_time() { return std::chrono::seconds(10); }
  int socket_ = -1;
};

/// Takes one connection, reads what a request has up to its empty line, sends `answer`, and closes
/// unless `hold` is given: then it keeps silent for so long, or until the client closes.
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
