#include "common/wire/zmq/zmq_client.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <zmq.hpp>

#include "common/wire/bell.h"
#include "common/wire/zmq/curve_key.h"
#include "common/wire/zmq/endpoint.h"
#include "common/wire/zmq/socket.h"

namespace l4::wire {
namespace {

constexpr Millis kHeartbeat{5'000}, kHeartbeatTimeout{15'000};
constexpr int kConnectMostMs = 10'000, kLingerMs = 250;
constexpr int kHandshakeMostMs = 60'000;  ///< the session gives up earlier
constexpr int kEventsOfClient =
    ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_DISCONNECTED |
    ZMQ_EVENT_CLOSED;

class Client final : public ClientPort {
 public:
  Client(std::shared_ptr<ZmqContext> context, ZmqClientOptions options)
      : context_(std::move(context)), options_(std::move(options)) {
    any_.add(bell_.file());
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override { disconnect(); }

  Result<void> open();
  void connect() override;
  void disconnect() override;
  Sent send(Bytes message) override {
    return dealer_ ? dealer_.send(nullptr, std::move(message)) : Sent::gone;
  }
  std::optional<Bytes> receive() override;
  std::optional<LinkNews> news() override;
  void wait(Millis timeout) override;
  int wait_fd() const override { return any_.file(); }
  void wake() override { bell_.ring(); }

 private:
  /// Makes the sockets, without a connection.
  Result<void> begin();

  std::shared_ptr<ZmqContext> context_;
  ZmqClientOptions options_;
  Socket dealer_, events_;
  Bell bell_;
  bool greeted_ = false;  // the connection that stands, or stood last, had a handshake
  AnyOf any_;
  std::optional<LinkNews> failure_;  ///< a failure without an event of libzmq
};

Result<void> Client::begin() {
  dealer_ = Socket(*context_, ZMQ_DEALER);
  events_ = Socket(*context_, ZMQ_PAIR);
  if (!dealer_ || !events_) return std::unexpected(Error{"ZeroMQ", last_error()});
  dealer_.set_limits();
  dealer_.set_heartbeats(kHeartbeat, kHeartbeatTimeout);
  dealer_.set(ZMQ_LINGER, kLingerMs);
  dealer_.set(ZMQ_IMMEDIATE, 1);       // messages do not queue before the connection is up
  dealer_.set(ZMQ_RECONNECT_IVL, -1);  // never: the session decides when to reconnect
  dealer_.set(ZMQ_CONNECT_TIMEOUT, kConnectMostMs);
  dealer_.set(ZMQ_HANDSHAKE_IVL, kHandshakeMostMs);
  if (!dealer_.set(ZMQ_CURVE_SERVERKEY, options_.key.server_key) ||
      !dealer_.set(ZMQ_CURVE_PUBLICKEY, options_.key.public_key) ||
      !dealer_.set(ZMQ_CURVE_SECRETKEY, options_.key.secret_key))
    return std::unexpected(Error{"CURVE", last_error()});
  const std::string events =
      "inproc://l4-link-" + std::to_string(reinterpret_cast<std::uintptr_t>(dealer_.handle()));
  events_.set(ZMQ_RCVHWM, 0);
  events_.set(ZMQ_LINGER, 0);
  if (zmq_socket_monitor(dealer_.handle(), events.c_str(), kEventsOfClient) != 0 ||
      zmq_connect(events_.handle(), events.c_str()) != 0)
    return std::unexpected(Error{"socket monitor", last_error()});
  return {};
}

Result<void> Client::open() {
  // libzmq would check it only by connecting, which an aggregator reports as a refused connection.
  if (!is_connect_endpoint(options_.endpoint))
    return std::unexpected(Error{options_.endpoint, "is not tcp://HOST:PORT"});
  auto begun = begin();
  disconnect();
  return begun;
}

void Client::connect() {
  disconnect();
  failure_.reset();
  auto begun = begin();
  if (begun && zmq_connect(dealer_.handle(), options_.endpoint.c_str()) != 0)
    begun = std::unexpected(Error{options_.endpoint, last_error()});
  if (!begun) {
    disconnect();
    failure_ = LinkNews{LinkNews::Kind::lost, begun.error().text()};
    bell_.ring();
    return;
  }
  any_.add(dealer_.file());
  any_.add(events_.file());
}

void Client::disconnect() {
  if (dealer_) zmq_socket_monitor(dealer_.handle(), nullptr, 0);
  events_.close();
  dealer_.close();
}

std::optional<Bytes> Client::receive() {
  bell_.quiet();
  if (!dealer_) return std::nullopt;
  zmq::message_t frame;
  if (!dealer_.receive(frame)) return std::nullopt;
  Bytes message(frame.data<std::byte>(), frame.data<std::byte>() + frame.size());
  while (frame.more() && dealer_.receive(frame)) {  // the aggregator sends single frames
  }
  return message;
}

std::optional<LinkNews> Client::news() {
  using Kind = LinkNews::Kind;
  if (failure_) return std::exchange(failure_, std::nullopt);
  if (!events_) return std::nullopt;
  zmq::message_t frame;
  while (events_.receive(frame)) {
    std::uint16_t event = 0;
    std::memcpy(&event, frame.data(), std::min(frame.size(), sizeof event));
    while (frame.more() && events_.receive(frame)) {  // the endpoint
    }
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      greeted_ = true;
      return LinkNews{Kind::connected, {}};
    }
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
      return LinkNews{Kind::refused, "this node's key " + options_.key_file +
                                         " is not in its allow list; on its host 'l4 keys add " +
                                         options_.key.name + "' makes one that is"};
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL ||
        event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL)
      return LinkNews{Kind::refused,
                      "it ended the handshake; " + options_.endpoint +
                          " is no port for agents ([wire] listen there), or the key " +
                          options_.key_file +
                          " is of another aggregator: bring the one made there"};
    if (event == ZMQ_EVENT_DISCONNECTED) {
      if (std::exchange(greeted_, false))
        return LinkNews{Kind::lost, "the connection to " + options_.endpoint + " broke"};
      return LinkNews{Kind::lost,
                      "the program at " + options_.endpoint +
                          " ended the connection before a handshake; if it goes on, "
                          "that is no port for agents: [link] aggregator takes the port "
                          "of [wire] listen there, not that of [http]"};
    }
    if (event == ZMQ_EVENT_CLOSED)
      return LinkNews{Kind::lost, "nobody listens at " + options_.endpoint +
                                      "; is l4-aggregator started there, and does a firewall let "
                                      "the port through?"};
  }
  return std::nullopt;
}

void Client::wait(Millis timeout) {
  std::array<zmq_pollitem_t, 3> items{{{nullptr, bell_.file(), ZMQ_POLLIN, 0},
                                       {dealer_.handle(), 0, ZMQ_POLLIN, 0},
                                       {events_.handle(), 0, ZMQ_POLLIN, 0}}};
  zmq_poll(items.data(), dealer_ ? 3 : 1,
           static_cast<long>(std::clamp(timeout, Millis{0}, kWaitMost).count()));
}

}  // namespace

Result<std::unique_ptr<ClientPort>> make_zmq_client(std::shared_ptr<ZmqContext> context,
                                                    ZmqClientOptions options) {
  for (const std::string* key :
       {&options.key.server_key, &options.key.public_key, &options.key.secret_key})
    if (!is_curve_key(*key)) return std::unexpected(Error{*key, "no CURVE key"});
  auto client = std::make_unique<Client>(std::move(context), std::move(options));
  if (auto opened = client->open(); !opened) return std::unexpected(opened.error());
  return client;
}

}  // namespace l4::wire
