#include "common/wire/zmq/socket.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace l4::wire {

ZmqContext::ZmqContext(int sockets_max) : context_(zmq_ctx_new()) {
  zmq_ctx_set(context_, ZMQ_IO_THREADS, 1);  // events of connections come in order (watch)
  zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, sockets_max);
}

ZmqContext::~ZmqContext() {
  zmq_ctx_term(context_);
}

void* ZmqContext::handle() const {
  return context_;
}

Socket::Socket(const ZmqContext& context, int type) : socket_(zmq_socket(context.handle(), type)) {}

void Socket::Close::operator()(void* socket) const {
  zmq_close(socket);
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

void Socket::set_limits(Millis heartbeat, Millis timeout) {
  set(ZMQ_SNDHWM, kHighWaterMark);
  set(ZMQ_RCVHWM, kHighWaterMark);
  set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(kWireMessageBytesMax) + kSlackBytes);
  set(ZMQ_HEARTBEAT_IVL, static_cast<int>(heartbeat.count()));
  set(ZMQ_HEARTBEAT_TIMEOUT, static_cast<int>(timeout.count()));
  set(ZMQ_HEARTBEAT_TTL, static_cast<int>(timeout.count()));
  set(ZMQ_IPV6, 1);
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

Sent Socket::send(const std::string* peer, Bytes message) {
  if (message.size() > kWireMessageBytesMax) return Sent::too_long;
  if (peer != nullptr &&
      zmq_send(handle(), peer->data(), peer->size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
    return errno == EAGAIN ? Sent::full : Sent::gone;
  zmq_msg_t out;
  Bytes* bytes = std::make_unique<Bytes>(std::move(message)).release();  // libzmq frees it
  if (zmq_msg_init_data(&out, bytes->data(), bytes->size(), free_bytes, bytes) != 0) {
    free_bytes(nullptr, bytes);
    return Sent::gone;
  }
  if (zmq_msg_send(&out, handle(), ZMQ_DONTWAIT) >= 0) return Sent::yes;
  const Sent sent = errno == EAGAIN ? Sent::full : Sent::gone;
  zmq_msg_close(&out);
  return sent;
}

Bell::Bell() : file_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Bell::~Bell() {
  ::close(file_);
}

void Bell::ring() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto done = ::write(file_, &one, sizeof one);  // full is rung enough
}

void Bell::quiet() {
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto done = ::read(file_, &rung, sizeof rung);
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

}  // namespace l4::wire
