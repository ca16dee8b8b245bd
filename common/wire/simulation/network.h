// A network in memory for whole-system tests: a seed and the given times alone determine what
// happens.
// Flow: makes ClientPorts and ServerPorts; the test moves the clock with `advance`. Messages are
// lost, doubled, delayed and overtake each other as LinkOptions say; hosts are cut off and come
// back; a server that goes away breaks its connections. `receive` never waits: it returns what is
// due by now. Ports may live on different threads (one mutex); then the order follows the threads.
// Bounds: kHighWaterMark messages per connection and direction, then Sent::full.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/wire/instant.h"
#include "common/wire/port.h"

namespace l4::wire::simulation {

struct LinkOptions {
  double loss = 0;       ///< share of messages that vanish
  double duplicate = 0;  ///< share that arrive twice
  Millis delay_min{1}, delay_max{1};
  bool reorder = false;  ///< else a message never overtakes one of its connection
};

struct Counts {
  std::uint64_t sent = 0, delivered = 0, lost = 0, duplicated = 0, full = 0, bytes = 0;
};

class Network {
 public:
  explicit Network(std::uint64_t seed, LinkOptions options = {});
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();

  /// `key_name`: the name of the client's key in the allow list. Ports outlive the network.
  std::unique_ptr<ClientPort> client(std::string key_name, std::string address);
  /// The one server. Destroying it ends it: connections break, messages under way are gone. A
  /// second server replaces the first.
  std::unique_ptr<ServerPort> server();

  void advance(Millis steady);
  void set(const LinkOptions& options);
  /// No message goes to or from this address any more; neither end is notified.
  void cut(const std::string& address, bool off);
  /// Cuts off the server, and so everybody.
  void cut_server(bool off);
  /// Breaks the connections of this address; both ends may connect again.
  void reset(const std::string& address);
  Counts counts() const;

 private:
  struct State;
  class Client;
  class Server;
  std::shared_ptr<State> state_;
};

}  // namespace l4::wire::simulation
