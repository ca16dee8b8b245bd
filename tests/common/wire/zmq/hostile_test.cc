// Dishonest agents are refused, counted and reported once; honest ones notice nothing.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "common/wire/codec/control_codec.h"
#include "common/wire/zmq/socket.h"
#include "tests/common/wire/zmq/live_link.h"

namespace l4::test {
namespace {

using namespace std::chrono_literals;

using State = ship::Session::State;
using wire::Refusal;

/// A plain TCP connection to the server, closed at the end.
class Tcp {
 public:
  explicit Tcp(int port) : file_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  Tcp(Tcp&& other) noexcept : file_(std::exchange(other.file_, -1)), connected_(other.connected_) {}
  Tcp(const Tcp&) = delete;
  Tcp& operator=(const Tcp&) = delete;
  Tcp& operator=(Tcp&&) = delete;
  ~Tcp() {
    if (file_ >= 0) ::close(file_);
  }
  bool connected() const { return connected_; }
  void send(std::string_view bytes) const {
    ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  /// Whether the server has closed it.
  bool is_closed() const {
    std::array<char, 256> bytes{};
    const auto got = ::recv(file_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

 private:
  int file_;
  bool connected_ = false;
};

/// An honest agent that ships all the time, beside whatever is done to the server.
struct Witness {
  explicit Witness(wire::ZmqServerOptions options = {}, receive::ServerOptions server = {})
      : link(std::move(options), std::move(server)) {
    link.add("honest");
    rogue = link.enrol("rogue");
    link.start();
    node().start();
    CHECK(link.until([&] { return node().session().state() == State::open; }));
    write();
  }
  FakeNode& node() { return *link.nodes[0]; }
  void write() { node().write(1, 20); }
  /// The agent has never lost its connection, and its lines are counted.
  void check() {
    write();
    CHECK(link.until([&] { return link.everything_counted(); }));
    CHECK(link.ledger.faults().empty());
    CHECK(node().session().stats().connects == 1);
    CHECK(node().session().stats().welcomes == 1);
    CHECK(node().session().stats().resets == 0);
  }
  LiveLink link;
  wire::NodeKey rogue;
};

/// A DEALER with the key of an agent and none of our limits.
wire::Socket raw_agent(LiveLink& link, const wire::NodeKey& key) {
  wire::Socket socket(*link.context, ZMQ_DEALER);
  socket.set(ZMQ_LINGER, 0);
  socket.set(ZMQ_IPV6, 1);
  socket.set(ZMQ_CURVE_SERVERKEY, key.server_key);
  socket.set(ZMQ_CURVE_PUBLICKEY, key.public_key);
  socket.set(ZMQ_CURVE_SECRETKEY, key.secret_key);
  CHECK(zmq_connect(socket.handle(), link.endpoint().c_str()) == 0);
  return socket;
}

std::optional<wire::Envelope> read(wire::Socket& socket) {
  zmq_msg_t message;
  zmq_msg_init(&message);
  std::optional<wire::Envelope> envelope;
  if (zmq_msg_recv(&message, socket.handle(), ZMQ_DONTWAIT) >= 0) {
    const auto* data = static_cast<const std::byte*>(zmq_msg_data(&message));
    const auto decoded = wire::decode_control({data, zmq_msg_size(&message)});
    if (decoded) envelope = *decoded;
  }
  zmq_msg_close(&message);
  return envelope;
}

void put(wire::Socket& socket, const wire::Control& message) {
  const auto bytes = wire::encode(wire::Envelope{1, message});
  zmq_send(socket.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT);
}

wire::Hello hello_of(const std::string& name) {
  wire::Hello hello;
  hello.agent = name;
  hello.incarnation = 7;
  return hello;
}

TEST_CASE("zmq hostile: port scanners") {
  Witness witness;
  for (int i = 0; i < 50; ++i) {
    const Tcp scanner(witness.link.tcp_port());
    witness.link.pump();
  }
  CHECK(witness.link.until([&] { return witness.link.refused(Refusal::no_handshake) >= 49; }));
  CHECK(witness.link.lines_about("does not speak this protocol") <= 2);
  witness.check();
}

TEST_CASE("zmq hostile: random bytes") {
  Witness witness;
  std::mt19937_64 random(4);
  std::vector<Tcp> noise;
  for (int i = 0; i < 50; ++i) {
    noise.emplace_back(witness.link.tcp_port());
    std::string bytes(1 + random() % 4096, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (i % 3 == 0) bytes.insert(0, std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16));
    if (i % 3 == 1) bytes.insert(0, "GET / HTTP/1.1\r\n\r\n");
    noise.back().send(bytes);
    witness.link.pump();
  }
  noise.clear();
  CHECK(witness.link.until([&] { return witness.link.refused(Refusal::no_handshake) >= 49; }));
  CHECK(witness.link.lines_about("does not speak this protocol") <= 2);
  witness.check();
}

TEST_CASE("zmq hostile: connections that say nothing are closed") {
  wire::ZmqServerOptions options;
  options.handshake_most = Millis{300};
  Witness witness(options);
  std::vector<Tcp> silent;
  for (int i = 0; i < 20; ++i) silent.emplace_back(witness.link.tcp_port());
  CHECK(witness.link.until(
      [&] { return std::ranges::all_of(silent, [](const Tcp& one) { return one.is_closed(); }); }));
  witness.check();
}

TEST_CASE("zmq hostile: 5,000 connects") {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  Witness witness;
  const std::size_t at_once = std::min<std::size_t>(5'000, (files.rlim_cur - 200) / 3);
  std::vector<Tcp> many;
  std::size_t connected = 0;
  for (int i = 0; i < 5'000; ++i) {
    if (many.size() == at_once) many.clear();
    many.emplace_back(witness.link.tcp_port());
    connected += many.back().connected();
    if (i % 20 == 0) witness.link.pump();
    if (i % 500 == 0) witness.write();
  }
  CHECK(connected == 5'000);
  witness.check();  // while the strangers are connected
  many.clear();
  CHECK(witness.link.until([&] { return witness.link.refused(Refusal::no_handshake) >= 4'999; }));
  CHECK(witness.link.lines_about("does not speak this protocol") <= 2);
  witness.check();
}

TEST_CASE("zmq hostile: wrong keys") {
  Witness witness;
  std::vector<wire::Socket> sockets;
  for (int i = 0; i < 20; ++i)
    sockets.push_back(raw_agent(witness.link, witness.link.stranger("x")));
  CHECK(witness.link.until([&] { return witness.link.refused(Refusal::wrong_key) >= 20; }));
  CHECK(witness.link.lines_about("not in the allow list") == 1);
  CHECK(witness.link.refused(Refusal::no_handshake) <= 2);  // some leave before they are refused
  witness.check();
}

TEST_CASE("zmq hostile: an old protocol version") {
  Witness witness;
  auto agent = raw_agent(witness.link, witness.rogue);
  auto hello = hello_of("rogue");
  hello.version_min = hello.version_max = 0;
  CHECK(witness.link.until([&] {
    put(agent, hello);
    return witness.link.refused(Refusal::version) >= 3;
  }));
  std::optional<wire::Envelope> answer;
  CHECK(witness.link.until([&] { return (answer = read(agent)).has_value(); }));
  const auto* refuse = std::get_if<wire::Refuse>(&answer->message);
  REQUIRE(refuse != nullptr);
  CHECK(refuse->reason == wire::RefuseReason::version);
  CHECK(refuse->text == "rogue speaks protocol versions 0 to 0, this aggregator 1 to 1");
  CHECK(witness.link.lines_about("protocol version") == 1);
  witness.check();
}

TEST_CASE("zmq hostile: a message one byte over the limit is refused and explained") {
  Witness witness;
  auto agent = raw_agent(witness.link, witness.rogue);
  std::optional<wire::Envelope> answer;
  const std::string bytes(wire::kWireMessageBytesMax + 1, 'x');
  CHECK(witness.link.until(
      [&] { return zmq_send(agent.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT) >= 0; }));
  CHECK(witness.link.until([&] { return (answer = read(agent)).has_value(); }));
  const auto* refuse = std::get_if<wire::Refuse>(&answer->message);
  REQUIRE(refuse != nullptr);
  CHECK(refuse->reason == wire::RefuseReason::too_long);
  CHECK(witness.link.refused(Refusal::too_long) == 1);
  CHECK(witness.link.lines_about("longer than 1 MiB") == 1);
  witness.check();
}

TEST_CASE("zmq hostile: far too long messages end the connection, several frames are refused") {
  Witness witness;
  auto agent = raw_agent(witness.link, witness.rogue);
  CHECK(witness.link.until([&] {
    zmq_send(agent.handle(), "a", 1, ZMQ_SNDMORE | ZMQ_DONTWAIT);
    zmq_send(agent.handle(), "b", 1, ZMQ_DONTWAIT);
    return witness.link.refused(Refusal::several_parts) >= 1;
  }));
  const std::string bytes(8u << 20, 'x');
  zmq_send(agent.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT);
  for (int i = 0; i < 50; ++i) witness.link.pump();
  CHECK(witness.link.refused(Refusal::too_long) == 0);
  CHECK(witness.link.server->stats().bytes < bytes.size());
  witness.check();
}

TEST_CASE("zmq hostile: what is no message is refused, counted and told once") {
  Witness witness;
  auto agent = raw_agent(witness.link, witness.rogue);
  std::mt19937_64 random(5);
  CHECK(witness.link.until([&] {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    zmq_send(agent.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT);
    return witness.link.refused(Refusal::malformed) >= 100;
  }));
  CHECK(witness.link.lines_about("cannot be read") == 1);
  witness.check();
}

TEST_CASE("zmq hostile: a client that never reads is dropped") {
  receive::ServerOptions options;
  options.unread_most = Millis{50};
  Witness witness({}, options);
  auto agent = raw_agent(witness.link, witness.rogue);
  agent.set(ZMQ_RCVHWM, 1);
  const wire::Heartbeat beat;
  // Answers pile up in its buffers and then in ours, 16 of them at most.
  CHECK(witness.link.until([&] {
    put(agent, hello_of("rogue"));
    for (int i = 0; i < 1'000; ++i) put(agent, beat);
    return witness.link.refused(Refusal::never_reads) >= 3;
  }));
  CHECK(witness.link.lines_about("takes no answers") == 1);
  witness.check();
}

TEST_CASE("zmq hostile: a client that leaves while nothing is taken from it") {
  Witness witness;
  auto agent = raw_agent(witness.link, witness.rogue);
  put(agent, hello_of("rogue"));
  CHECK(witness.link.until([&] { return read(agent).has_value(); }));
  for (int i = 0; i < 100; ++i) put(agent, wire::Heartbeat{});  // more than the server buffers
  std::this_thread::sleep_for(300ms);
  agent.close();
  std::this_thread::sleep_for(11s);  // two heartbeats of ZMTP: the first finds nobody there
  witness.check();
}

}  // namespace
}  // namespace l4::test
