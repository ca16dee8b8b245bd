#include "common/wire/zmq/zmq_server.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <zmq.hpp>

#include "common/wire/bell.h"
#include "common/wire/zmq/authenticator.h"
#include "common/wire/zmq/connection_watch.h"
#include "common/wire/zmq/socket.h"

namespace l4::wire {
namespace {

constexpr int kServeEvery = 32;   ///< messages between two calls of serve()
constexpr int kBacklog = 16'384;  ///< the system's bound is lower; agents come at once

Millis steady_now() {
  return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch());
}

std::string property(const zmq::message_t& frame, const char* name) {
  // cppzmq's own function throws if the property is missing.
  const char* value = zmq_msg_gets(frame.handle(), name);
  return value == nullptr ? std::string() : value;
}

class Server final : public ZmqServer {
 public:
  Server(std::shared_ptr<ZmqContext> context, WatchedAllowList list)
      : context_(std::move(context)), list_(std::move(list)) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() override {
    watch_.close(router_);
    router_.close();
    authenticator_.close();
  }

  Result<void> open(const ZmqServerOptions& options);

  std::optional<Incoming> receive() override;
  Sent send(const PeerId& peer, Bytes message) override {
    return router_.send(&peer, std::move(message));
  }
  std::optional<Refused> refused() override {
    serve();
    return watch_.refused();
  }
  void wait(Millis timeout) override;
  int wait_fd() const override { return any_.file(); }
  void wake() override { bell_.ring(); }
  bool admits(const std::string& key_name) const override { return list_.list().names(key_name); }
  std::string endpoint() const override { return endpoint_; }
  std::optional<PortNotice> notice() override { return std::exchange(notice_, std::nullopt); }

 private:
  void serve();
  std::optional<Incoming> read();

  std::shared_ptr<ZmqContext> context_;
  WatchedAllowList list_;
  Authenticator authenticator_;
  Socket router_;
  ConnectionWatch watch_;
  Bell bell_;
  AnyOf any_;
  std::string endpoint_;
  std::optional<PortNotice> notice_;
  int taken_ = 0;
};

Result<void> Server::open(const ZmqServerOptions& options) {
  const auto failed = [](const std::string& what) {
    return std::unexpected(Error{what, last_error()});
  };
  if (auto opened = authenticator_.open(*context_); !opened) return opened;
  router_ = Socket(*context_, ZMQ_ROUTER);
  if (!router_) return failed("ZeroMQ");
  router_.set_limits();
  router_.set(ZMQ_LINGER, 0);
  router_.set(ZMQ_BACKLOG, kBacklog);
  router_.set(ZMQ_ROUTER_MANDATORY, 1);
  router_.set(ZMQ_HANDSHAKE_IVL, static_cast<int>(options.handshake_most.count()));
  if (!router_.set(ZMQ_CURVE_SERVER, 1) ||
      !router_.set(ZMQ_CURVE_SECRETKEY, options.key.secret_key) ||
      !router_.set(ZMQ_ZAP_DOMAIN, std::string(kZapDomain)))
    return failed("CURVE");
  if (!watch_.open(*context_, router_)) return failed("socket monitor");
  if (zmq_bind(router_.handle(), options.endpoint.c_str()) != 0) return failed(options.endpoint);
  std::array<char, 256> bound{};
  std::size_t size = bound.size();
  if (zmq_getsockopt(router_.handle(), ZMQ_LAST_ENDPOINT, bound.data(), &size) == 0)
    endpoint_ = plain_endpoint(bound.data());
  any_.add(router_.file());
  any_.add(authenticator_.socket().file());
  any_.add(watch_.socket().file());
  any_.add(bell_.file());
  return {};
}

/// Handles everything but messages.
void Server::serve() {
  taken_ = 0;
  if (auto said = list_.refresh(steady_now())) notice_ = std::move(said);
  authenticator_.serve(
      list_.list(), [&](Refused refused) { watch_.refuse(std::move(refused)); },
      [&](const std::string& address, bool allowed) { watch_.judged(address, allowed); });
  watch_.drain();
}

std::optional<Incoming> Server::receive() {
  bell_.quiet();
  if (++taken_ >= kServeEvery) serve();
  while (true) {
    auto in = read();
    if (!in) break;
    if (!in->peer.empty()) return in;
  }
  serve();
  return std::nullopt;
}

/// The next message; its `peer` is empty if it was refused.
std::optional<Incoming> Server::read() {
  zmq::message_t frame;
  if (!router_.receive(frame)) return std::nullopt;
  Incoming in;
  in.peer = frame.to_string();
  std::size_t parts = 0;
  while (frame.more()) {
    if (!router_.receive(frame)) break;
    if (++parts > 1) continue;
    in.address = plain_address(property(frame, "Peer-Address"));
    const std::string user = property(frame, "User-Id");
    const auto blank = user.find(' ');
    in.key_name = user.substr(0, blank);
    const std::string key = blank == user.npos ? std::string() : user.substr(blank + 1);
    const std::string* name = list_.list().name_of(key);
    if (name == nullptr || *name != in.key_name) {
      watch_.refuse({Refusal::revoked_key, in.address, in.key_name});
      in.peer.clear();
    } else {
      in.message.assign(frame.data<std::byte>(), frame.data<std::byte>() + frame.size());
    }
  }
  if (parts != 1 && !in.peer.empty()) {
    watch_.refuse({Refusal::several_parts, in.address, in.key_name});
    in.peer.clear();
  }
  return in;
}

void Server::wait(Millis timeout) {
  std::array<zmq_pollitem_t, 4> items{{{router_.handle(), 0, ZMQ_POLLIN, 0},
                                       {authenticator_.socket().handle(), 0, ZMQ_POLLIN, 0},
                                       {watch_.socket().handle(), 0, ZMQ_POLLIN, 0},
                                       {nullptr, bell_.file(), ZMQ_POLLIN, 0}}};
  zmq_poll(items.data(), items.size(),
           static_cast<long>(std::clamp(timeout, Millis{0}, kWaitMost).count()));
}

}  // namespace

Result<std::unique_ptr<ZmqServer>> ZmqServer::make(std::shared_ptr<ZmqContext> context,
                                                   const ZmqServerOptions& options) {
  auto list = WatchedAllowList::open(options.allow_list);
  if (!list) return std::unexpected(list.error());
  auto server = std::make_unique<Server>(std::move(context), std::move(*list));
  if (auto opened = server->open(options); !opened) return std::unexpected(opened.error());
  return server;
}

}  // namespace l4::wire
