#include "common/wire/zmq/socket.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <zmq.hpp>

namespace l4::wire {

// One I/O thread: events of connections come in order (ConnectionWatch).
ZmqContext::ZmqContext(int sockets_max)
    : context_(std::make_unique<zmq::context_t>(1, sockets_max)) {}

ZmqContext::~ZmqContext() = default;

Socket::Socket() = default;
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;
Socket::~Socket() = default;

Socket::Socket(const ZmqContext& context, int type) {
  try {
    socket_ = std::make_unique<zmq::socket_t>(context.get(), type);
  } catch (const zmq::error_t& error) {
    errno = error.num();
  }
}

void* Socket::handle() const {
  return socket_ ? socket_->handle() : nullptr;
}

void Socket::close() {
  socket_.reset();
}

bool Socket::set(int option, int value) {
  return zmq_setsockopt(handle(), option, &value, sizeof value) == 0;
}

bool Socket::set(int option, std::int64_t value) {
  return zmq_setsockopt(handle(), option, &value, sizeof value) == 0;
}

bool Socket::set(int option, const std::string& value) {
  return zmq_setsockopt(handle(), option, value.data(), value.size()) == 0;
}

void Socket::set_limits() {
  set(ZMQ_SNDHWM, kHighWaterMark);
  set(ZMQ_RCVHWM, kHighWaterMark);
  set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(kWireMessageBytesMax) + kSlackBytes);
  set(ZMQ_IPV6, 1);
}

void Socket::set_heartbeats(Millis interval, Millis timeout) {
  set(ZMQ_RCVHWM, 0);
  set(ZMQ_HEARTBEAT_IVL, static_cast<int>(interval.count()));
  set(ZMQ_HEARTBEAT_TIMEOUT, static_cast<int>(timeout.count()));
  set(ZMQ_HEARTBEAT_TTL, static_cast<int>(timeout.count()));
}

int Socket::file() const {
  int file = -1;
  std::size_t size = sizeof file;
  zmq_getsockopt(handle(), ZMQ_FD, &file, &size);
  return file;
}

namespace {

void free_bytes(void*, void* bytes) {
  delete static_cast<Bytes*>(bytes);
}

}  // namespace

Sent Socket::send(const std::string* peer, Bytes message) try {
  if (message.size() > kWireMessageBytesMax) return Sent::too_long;
  using Flags = zmq::send_flags;
  if (peer != nullptr &&
      !socket_->send(zmq::buffer(*peer), Flags::sndmore | Flags::dontwait).has_value())
    return Sent::full;
  auto bytes = std::make_unique<Bytes>(std::move(message));
  zmq::message_t frame(bytes->data(), bytes->size(), free_bytes, bytes.get());
  [[maybe_unused]] const Bytes* libzmq_frees_it = bytes.release();
  return socket_->send(frame, Flags::dontwait).has_value() ? Sent::yes : Sent::full;
} catch (const zmq::error_t&) {
  return Sent::gone;
}

bool Socket::receive(zmq::message_t& frame) try {
  return socket_->recv(frame, zmq::recv_flags::dontwait).has_value();
} catch (const zmq::error_t&) {
  return false;
}

AnyOf::AnyOf() : file_(::epoll_create1(EPOLL_CLOEXEC)) {}

AnyOf::~AnyOf() {
  ::close(file_);
}

void AnyOf::add(int file) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = file;
  ::epoll_ctl(file_, EPOLL_CTL_ADD, file, &event);
}

std::string last_error() {
  return zmq_strerror(errno);
}

std::string plain_address(std::string address) {
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with(kMapped) && address.contains('.')) address.erase(0, kMapped.size());
  return address;
}

std::string plain_endpoint(std::string endpoint) {
  const std::size_t open = endpoint.find('['), close = endpoint.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return endpoint;
  const std::string address = endpoint.substr(open + 1, close - open - 1);
  const std::string plain = plain_address(address);
  return plain == address ? endpoint
                          : endpoint.substr(0, open) + plain + endpoint.substr(close + 1);
}

}  // namespace l4::wire
