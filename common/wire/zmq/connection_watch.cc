#include "common/wire/zmq/connection_watch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <zmq.hpp>

namespace l4::wire {
namespace {

constexpr std::size_t kRefusedMax = 65'536;
constexpr int kTurnedAwayMost = 1'024;  // at a time; others are served between
constexpr int kEvents = ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED |
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

std::string failure_of(std::uint16_t kind, std::int32_t value) {
  if (kind == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
    return fmt::format("it broke the rules of the handshake ({:#x})", value);
  return "it did not complete a handshake";
}

}  // namespace

bool ConnectionWatch::open(const ZmqContext& context, const Socket& router) {
  hold_reserve();
  const std::string endpoint = fmt::format("inproc://l4-connections-{}", router.handle());
  if (zmq_socket_monitor(router.handle(), endpoint.c_str(), kEvents) != 0) return false;
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
  // From behind: a descriptor that is closed later in the same lot may be another's by now.
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
      addresses_[event.value] = gone_already ? std::string() : address_of(event.value);
      break;
    case ZMQ_EVENT_LISTENING:
      listener_ = event.value;
      // We accept from it, too: whoever comes second must not wait for the next connection.
      ::fcntl(listener_, F_SETFL, ::fcntl(listener_, F_GETFL) | O_NONBLOCK);
      break;
    case ZMQ_EVENT_ACCEPT_FAILED:
      if (event.value == EMFILE || event.value == ENFILE)
        starved_ = true;
      else if (event.value != EAGAIN)
        refuse({Refusal::no_handshake, {}, std::generic_category().message(event.value)});
      break;
    case ZMQ_EVENT_DISCONNECTED: {
      auto known = addresses_.extract(event.value);
      const std::string address = known ? known.mapped() : std::string();
      const auto failure = std::exchange(failure_, std::nullopt);
      if (failure || !was_judged(address))
        refuse({Refusal::no_handshake, address,
                failure.value_or("it spoke another protocol, or an old one")});
      break;
    }
    default:
      failure_ = failure_of(event.kind, event.value);
  }
}

void ConnectionWatch::turn_away() {
  reserve_.reset();
  for (int i = 0; i < kTurnedAwayMost && listener_ >= 0; ++i) {
    const Descriptor stranger{::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (stranger.number() < 0) break;
    refuse({Refusal::no_file_descriptor, address_of(stranger.number()),
            std::generic_category().message(EMFILE)});
  }
  hold_reserve();
}

void ConnectionWatch::hold_reserve() {
  reserve_.emplace(::open("/dev/null", O_RDONLY | O_CLOEXEC));
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
