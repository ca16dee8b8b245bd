// Both ends of the link over real ZeroMQ and CURVE on loopback, pumped by one thread with the real
// clock. `until` gives up after 20 s; nothing is asserted about how long anything takes.
#pragma once

#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aggregator/receive/agent_server.h"
#include "common/wire/zmq/curve_key.h"
#include "common/wire/zmq/zmq_client.h"
#include "common/wire/zmq/zmq_server.h"
#include "tests/aggregator/receive/link_world.h"
#include "tests/temp_folder.h"

namespace l4::test {

class LiveLink {
 public:
  explicit LiveLink(wire::ZmqServerOptions server_port = {}, receive::ServerOptions options = {})
      : port_options_(std::move(server_port)), options_(std::move(options)) {
    const auto keys = *wire::make_key_pair();
    port_options_.key = {keys.public_key, keys.secret_key};
    port_options_.endpoint = "tcp://127.0.0.1:*";
    port_options_.allow_list = folder.file("allow-list", "");
    options_.heartbeat = Millis{200};
  }

  static wire::Instant now() {
    using namespace std::chrono;
    return {duration_cast<Millis>(steady_clock::now().time_since_epoch()),
            time_point_cast<Millis>(system_clock::now())};
  }

  /// A key in the allow list.
  wire::NodeKey enrol(const std::string& name) {
    auto key = stranger(name);
    std::ofstream(port_options_.allow_list, std::ios::app) << name << ' ' << key.public_key << '\n';
    return key;
  }
  /// A key that is in no list.
  wire::NodeKey stranger(const std::string& name) const {
    const auto keys = *wire::make_key_pair();
    return {name, keys.public_key, keys.secret_key, port_options_.key.public_key};
  }

  void start() {
    stop();
    server_context_ = std::make_shared<wire::ZmqContext>();
    port = std::move(*wire::ZmqServer::make(server_context_, port_options_));
    port_options_.endpoint = port->endpoint();  // keeps the port after a restart
    server = std::make_unique<receive::AgentServer>(options_, *port, ledger, observer, now());
    ledger.server = server.get();
  }
  void stop() {
    server.reset();
    port.reset();
    server_context_.reset();
    ledger.server = nullptr;
    ledger.crash();
  }

  std::unique_ptr<wire::ClientPort> client(const wire::NodeKey& key) {
    return std::move(*wire::make_zmq_client(context, {port_options_.endpoint, key}));
  }
  FakeNode& add(const wire::NodeKey& key, const std::string& name) {
    ship::SessionOptions options;
    options.backoff_first = Millis{50};
    options.backoff_most = Millis{500};
    nodes.push_back(std::make_unique<FakeNode>(
        name, "127.0.0.1", [this, key] { return client(key); }, nodes.size() + 1, options));
    return *nodes.back();
  }
  FakeNode& add(const std::string& name) { return add(enrol(name), name); }

  void pump() {
    const auto at = now();
    for (auto& node : nodes) {
      node->step(at);
      node->read(false);
    }
    if (!server) return;
    server->step(at);
    ledger.commit(*server, 1000);
    while (const auto said = port->notice()) notices.push_back(*said);
    port->wait(Millis{5});
  }
  bool until(const std::function<bool()>& holds) {
    const auto end = now().steady + Millis{20'000};
    while (now().steady < end) {
      if (holds()) return true;
      pump();
    }
    return false;
  }
  bool everything_counted() const {
    for (const auto& node : nodes)
      for (const auto& [key, size] : node->files())
        if (ledger.counted(node->name, key) != size) return false;
    return true;
  }
  std::uint64_t refused(wire::Refusal kind) const {
    return server->stats().refused.at(static_cast<std::size_t>(kind));
  }
  std::size_t lines_about(const std::string& what) const {
    std::size_t count = 0;
    for (const auto& line : observer.notices) count += line.contains(what);
    return count;
  }
  int tcp_port() const { return std::stoi(endpoint().substr(endpoint().rfind(':') + 1)); }
  std::string endpoint() const { return port->endpoint(); }
  const wire::ZmqServerOptions& port_options() const { return port_options_; }

  const TempFolder folder;
  std::shared_ptr<wire::ZmqContext> context = std::make_shared<wire::ZmqContext>(10'000);
  FakeLedger ledger;
  FakeObserver observer;
  std::vector<wire::PortNotice> notices;
  std::vector<std::unique_ptr<FakeNode>> nodes;
  std::unique_ptr<wire::ZmqServer> port;
  std::unique_ptr<receive::AgentServer> server;

 private:
  wire::ZmqServerOptions port_options_;
  receive::ServerOptions options_;
  std::shared_ptr<wire::ZmqContext> server_context_;
};

}  // namespace l4::test
