// The refused connections of a server and their addresses, from libzmq's socket monitor. Used by
// ZmqServer. Events come from the I/O thread in order, one connection's failure directly before its
// end, so the failure belongs to the file descriptor that is named next. Some connections end
// without a failure event (other protocols, old versions of ZMTP). Such an end counts as a failure
// unless a connection of that address has shown its key before and may be the one that ended. The
// address is asked of the descriptor; a connection that is gone before we look has none. The queue
// of events has no high-water mark, since libzmq's I/O thread would wait for us otherwise. Without
// a free file descriptor libzmq tries to accept again and again, which costs a core. So the
// youngest connections are ended, first those from addresses without a known key, until the waiting
// connections are accepted and so turned away. Bounds: as many entries as there are descriptors,
// 65,536 refusals not yet fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/wire/port.h"
#include "common/wire/zmq/socket.h"

namespace l4::wire {

class ConnectionWatch {
 public:
  /// Called before the router is bound. Fails if libzmq has no monitor.
  bool open(const ZmqContext& context, const Socket& router);
  /// Called before the router is closed.
  void close(const Socket& router);
  const Socket& socket() const { return socket_; }

  void drain();
  /// A connection from this address was authenticated, or refused for its key: its end is not a
  /// failure.
  void judged(const std::string& address, bool allowed) {
    ++judged_[address];
    refused_keys_ += !allowed;
  }
  std::optional<Refused> refused();
  void refuse(Refused refused);

 private:
  struct Event {
    std::uint16_t kind = 0;
    std::int32_t value = 0;
  };
  struct Connection {
    std::string address;
    std::uint64_t number = 0;  ///< counted from the first
    bool turned_away = false;
  };
  std::vector<Event> read();
  void take(const Event& event, bool gone_already);
  bool was_judged(const std::string& address);
  void ended(int file);
  void turn_away();

  Socket socket_;
  int listener_ = -1;                                ///< libzmq's
  bool starved_ = false;                             ///< no descriptor was left
  std::unordered_map<int, Connection> connections_;  ///< by file descriptor
  std::uint64_t accepted_ = 0;
  /// Connections that have not ended, by address.
  std::unordered_map<std::string, std::uint64_t> judged_;
  std::uint64_t refused_keys_ = 0;      ///< their ends may lack an address
  std::optional<std::string> failure_;  ///< failure of the connection that ends next
  std::deque<Refused> refused_;
};

}  // namespace l4::wire
