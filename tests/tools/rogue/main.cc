// l4_rogue: a client with the key of an agent that breaks the rules of the wire, for tests.
//
//   l4_rogue ENDPOINT KEYFILE old_version|one_over|noise|never_reads [SECONDS]
// Repeats the misbehaviour for SECONDS, by default 5. Prints the reason of the last refusal.
#include <zmq.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "common/wire/codec/control_codec.h"
#include "common/wire/zmq/context.h"
#include "common/wire/zmq/key_file.h"
#include "common/wire/zmq/socket.h"

namespace {

using namespace l4;

wire::Hello hello_of(const std::string& name) {
  wire::Hello hello;
  hello.agent = name;
  hello.incarnation = 7;
  return hello;
}

class Rogue {
 public:
  Rogue(wire::ZmqContext& context, const std::string& endpoint, wire::NodeKey key)
      : key_(std::move(key)), socket_(context, ZMQ_DEALER) {
    socket_.set(ZMQ_LINGER, 0);
    socket_.set(ZMQ_RCVHWM, 1);
    socket_.set(ZMQ_CURVE_SERVERKEY, key_.server_key);
    socket_.set(ZMQ_CURVE_PUBLICKEY, key_.public_key);
    socket_.set(ZMQ_CURVE_SECRETKEY, key_.secret_key);
    connected_ = zmq_connect(socket_.handle(), endpoint.c_str()) == 0;
  }
  bool connected() const { return connected_; }

  bool act(const std::string& what) {
    if (what == "old_version") {
      wire::Hello hello = hello_of(key_.name);
      hello.version_min = hello.version_max = 0;
      put(hello);
    } else if (what == "one_over") {
      put(std::string(wire::kWireMessageBytesMax + 1, 'x'));
    } else if (what == "noise") {
      std::string bytes(random_() % 200, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random_());
      put(bytes);
    } else if (what == "never_reads") {
      put(hello_of(key_.name));
      for (int i = 0; i < 1'000; ++i) put(wire::Heartbeat{});
      return true;  // it is connected and does not listen
    } else {
      return false;
    }
    listen();
    return true;
  }
  const std::string& refusal() const { return refusal_; }

 private:
  void put(const std::string& bytes) {
    zmq_send(socket_.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT);
  }
  void put(const wire::Control& message) {
    const auto bytes = wire::encode(wire::Envelope{1, message});
    zmq_send(socket_.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT);
  }
  void listen() {
    zmq_msg_t message;
    zmq_msg_init(&message);
    while (zmq_msg_recv(&message, socket_.handle(), ZMQ_DONTWAIT) >= 0) {
      const auto* data = static_cast<const std::byte*>(zmq_msg_data(&message));
      const auto decoded = wire::decode_control({data, zmq_msg_size(&message)});
      if (!decoded) continue;
      if (const auto* refuse = std::get_if<wire::Refuse>(&decoded->message))
        refusal_ = refuse->text;
    }
    zmq_msg_close(&message);
  }

  wire::NodeKey key_;
  wire::Socket socket_;
  std::mt19937_64 random_{5};
  std::string refusal_;
  bool connected_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  if (argc < 4) {
    std::fprintf(stderr, "usage: l4_rogue ENDPOINT KEYFILE WHAT [SECONDS]\n");
    return 2;
  }
  auto key = wire::load_node_key(argv[2]);
  if (!key) {
    std::fprintf(stderr, "%s\n", key.error().text().c_str());
    return 2;
  }
  wire::ZmqContext context;
  Rogue rogue(context, argv[1], *key);
  if (!rogue.connected()) return 2;
  const auto end = Clock::now() + std::chrono::seconds(argc > 4 ? std::atoi(argv[4]) : 5);
  while (Clock::now() < end) {
    if (!rogue.act(argv[3])) return 2;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::printf("%s\n", rogue.refusal().c_str());
  return 0;
}
