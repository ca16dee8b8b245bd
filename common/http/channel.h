// A TCP connection of one client or one server, plain or with TLS over it, with a time limit.
//
// Place in the flow: client.cc and the aggregator's connections read and write here; Beast parses
// what comes (parsing.h). The operations of Asio are compiled in channel.cc alone: their callbacks
// are of one type. Everything runs on the thread of the io_context; a callback is never called from
// inside the function that got it, and keeps the channel alive until it is called.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/http/tls.h"

namespace boost::asio {
class io_context;
}

namespace l4::http {

class Channel {
 public:
  using ErrorCode = boost::system::error_code;
  /// What went wrong, if anything, and how many bytes were read or written.
  using Done = std::function<void(ErrorCode, std::size_t)>;
  enum class Side : std::uint8_t { client, server };

  explicit Channel(boost::asio::io_context& context);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  /// Closes the connection; operations under way end with operation_aborted.
  ~Channel();

  /// Takes the descriptor of a connected socket over, also if it cannot be used.
  void assign(int descriptor, bool is_v6);
  /// Connects to an address, or to the first address of a name that accepts. No time limit.
  void connect(const std::string& host, std::uint16_t port, std::function<void(ErrorCode)> done);
  int descriptor();
  /// "127.0.0.1:8080", "[::1]:8080"; empty if the peer is gone.
  std::string peer() const;

  /// An operation that is under way at the end of this span closes the connection and ends with
  /// asio::error::timed_out. There is no limit before the first call.
  void expire_after(Millis span);

  /// What is written and read from now on is TLS; `handshake` comes first.
  void open_tls(const TlsContext& context);
  /// Null without TLS.
  ssl_st* tls();
  /// `received`: what the peer has sent already; `done` is told how much of it was used.
  void handshake(Side side, std::span<const char> received, Done done);
  /// Ends TLS as its standard asks; the connection stays open.
  void end_tls(std::function<void(ErrorCode)> done);

  /// Reads at least one byte, unless something goes wrong. `buffer` lives until `done`.
  void read_some(std::span<char> buffer, Done done);
  /// Writes both texts whole, one after the other; they live until `done`.
  void write(std::string_view head, std::string_view body, Done done);
  /// Waits until there is something to read, or the peer is gone. No time limit.
  void wait_readable(std::function<void(ErrorCode)> done);
  void post(std::function<void()> call);

  /// Tells the peer that nothing more comes; what the peer sends can still be read.
  void end_sending();
  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace l4::http
