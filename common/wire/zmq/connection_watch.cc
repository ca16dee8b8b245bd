#include "common/wire/zmq/connection_watch.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>
#include <zmq.hpp>

namespace l4::wire {
namespace {

constexpr std::size_t kRefusedMax = 65'536;
constexpr std::size_t kTurnedAway = 8;  // connections turned away at a time
constexpr int kEventsOfServer = ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED |
                                ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;

std::string address_of(int file) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(file, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (peer.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&peer);
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
  } else if (peer.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&peer);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
  }
  return plain_address(text.data());
}

// A number that libzmq closed meanwhile may be another file by now.
bool is_accepted_by(int listener, int file) {
  const auto port = [](int socket) -> int {
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return -1;
    if (own.ss_family == AF_INET) return reinterpret_cast<const sockaddr_in*>(&own)->sin_port;
    if (own.ss_family == AF_INET6) return reinterpret_cast<const sockaddr_in6*>(&own)->sin6_port;
    return -1;
  };
  return file != listener && port(file) >= 0 && port(file) == port(listener);
}

std::string failure_of(std::uint16_t kind, std::int32_t value) {
  if (kind == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
    return fmt::format("it broke the rules of the handshake ({:#x})", value);
  return "it did not complete a handshake";
}

}  // namespace

bool ConnectionWatch::open(const ZmqContext& context, const Socket& router) {
  const std::string endpoint = fmt::format("inproc://l4-connections-{}", router.handle());
  if (zmq_socket_monitor(router.handle(), endpoint.c_str(), kEventsOfServer) != 0) return false;
  socket_ = Socket(context, ZMQ_PAIR);
  return socket_ && socket_.set(ZMQ_RCVHWM, 0) && socket_.set(ZMQ_LINGER, 0) &&
         zmq_connect(socket_.handle(), endpoint.c_str()) == 0;
}

void ConnectionWatch::close(const Socket& router) {
  if (router) zmq_socket_monitor(router.handle(), nullptr, 0);
  socket_.close();
  listener_ = -1;
}

std::vector<ConnectionWatch::Event> ConnectionWatch::read() {
  std::vector<Event> events;
  zmq::message_t frame;
  while (events.size() < 4096 && socket_ && socket_.receive(frame)) {
    Event event;
    if (frame.size() >= 6) {
      std::memcpy(&event.kind, frame.data(), 2);
      std::memcpy(&event.value, frame.data<char>() + 2, 4);
      events.push_back(event);
    }
    while (frame.more() && socket_.receive(frame)) {  // the endpoint: our own
    }
  }
  return events;
}

void ConnectionWatch::drain() {
  const std::vector<Event> events = read();
  // Searched backwards: a descriptor that is closed later in the same batch of events may belong to
  // another connection by now.
  std::unordered_map<int, bool> closed;
  std::vector<bool> gone(events.size());
  for (std::size_t i = events.size(); i-- > 0;) {
    if (events[i].kind == ZMQ_EVENT_DISCONNECTED) closed[events[i].value] = true;
    if (events[i].kind == ZMQ_EVENT_ACCEPTED) gone[i] = closed[events[i].value];
  }
  for (std::size_t i = 0; i < events.size(); ++i) take(events[i], gone[i]);
  if (std::exchange(starved_, false)) turn_away();
}

void ConnectionWatch::take(const Event& event, bool gone_already) {
  switch (event.kind) {
    case ZMQ_EVENT_ACCEPTED:
      connections_[event.value] = {gone_already ? std::string() : address_of(event.value),
                                   ++accepted_};
      break;
    case ZMQ_EVENT_LISTENING:
      listener_ = event.value;
      break;
    case ZMQ_EVENT_ACCEPT_FAILED:
      if (event.value == EMFILE || event.value == ENFILE)
        starved_ = true;
      else if (event.value != EAGAIN)
        refuse({Refusal::no_handshake, {}, std::generic_category().message(event.value)});
      break;
    case ZMQ_EVENT_DISCONNECTED:
      ended(event.value);
      break;
    default:
      failure_ = failure_of(event.kind, event.value);
  }
}

void ConnectionWatch::ended(int file) {
  const auto known = connections_.extract(file);
  const Connection connection = known ? known.mapped() : Connection{};
  const auto failure = std::exchange(failure_, std::nullopt);
  const bool judged = !failure && was_judged(connection.address);
  if (judged || connection.turned_away) return;
  refuse({Refusal::no_handshake, connection.address,
          failure.value_or("it spoke another protocol, or an old one")});
}

void ConnectionWatch::turn_away() {
  struct Youngest {
    bool stranger;
    std::uint64_t number;
    int file;
  };
  std::vector<Youngest> open;
  for (const auto& [file, connection] : connections_) {
    if (connection.turned_away) continue;
    open.push_back({!judged_.contains(connection.address), connection.number, file});
  }
  const auto most = std::min(kTurnedAway, open.size());
  const auto first = [](const Youngest& a, const Youngest& b) {
    return std::tie(a.stranger, a.number) > std::tie(b.stranger, b.number);
  };
  std::ranges::partial_sort(open, open.begin() + std::ptrdiff_t(most), first);
  for (const Youngest& one : std::span(open).first(most)) {
    if (!is_accepted_by(listener_, one.file) || ::shutdown(one.file, SHUT_RDWR) != 0) continue;
    Connection& connection = connections_[one.file];
    connection.turned_away = true;
    refuse(
        {Refusal::no_file_descriptor, connection.address, std::generic_category().message(EMFILE)});
  }
}

bool ConnectionWatch::was_judged(const std::string& address) {
  if (address.empty() && refused_keys_ > 0) return refused_keys_-- > 0;
  const auto judged = judged_.find(address);
  if (judged == judged_.end()) return false;
  if (--judged->second == 0) judged_.erase(judged);
  return true;
}

std::optional<Refused> ConnectionWatch::refused() {
  if (refused_.empty()) return std::nullopt;
  Refused first = std::move(refused_.front());
  refused_.pop_front();
  return first;
}

void ConnectionWatch::refuse(Refused refused) {
  if (refused_.size() >= kRefusedMax) refused_.pop_front();
  refused_.push_back(std::move(refused));
}

}  // namespace l4::wire
