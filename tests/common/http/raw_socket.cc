#include "tests/common/http/raw_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace l4::test {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// True if the socket can be read (or written) before the time is over.
bool is_ready(int socket, short events, Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  if (left.count() <= 0) return false;
  pollfd one{socket, events, 0};
  return ::poll(&one, 1, static_cast<int>(left.count())) == 1;
}

}  // namespace

RawClient::RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const sockaddr_in address = loopback(port);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) close();
}

RawClient::~RawClient() {
  close();
}

void RawClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void RawClient::end() {
  ::shutdown(socket_, SHUT_WR);
}

std::size_t RawClient::send(std::string_view bytes, std::chrono::milliseconds within) {
  const auto until = Clock::now() + within;
  std::size_t sent = 0;
  while (sent < bytes.size() && is_ready(socket_, POLLOUT, until)) {
    const auto count =
        ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  return sent;
}

std::string RawClient::receive(std::size_t size, std::chrono::milliseconds within) {
  const auto until = Clock::now() + within;
  std::string text;
  while (text.size() < size && is_ready(socket_, POLLIN, until)) {
    char block[4096];
    const auto count = ::recv(socket_, block, std::min(sizeof block, size - text.size()), 0);
    if (count <= 0) break;
    text.append(block, static_cast<std::size_t>(count));
  }
  return text;
}

std::string RawClient::receive_until(std::string_view mark) {
  const auto until = Clock::now() + default_time();
  std::string text;
  while (!text.ends_with(mark) && Clock::now() < until) {
    const std::string more = receive(1, default_time());
    if (more.empty()) break;
    text += more;
  }
  return text;
}

bool RawClient::is_closed_within(std::chrono::milliseconds within) {
  const auto until = Clock::now() + within;
  while (is_ready(socket_, POLLIN, until)) {
    char block[65536];
    if (::recv(socket_, block, sizeof block, 0) <= 0) return true;
  }
  return false;
}

void RawClient::set_receive_buffer(int bytes) {
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

RawServer::RawServer(std::string answer, std::chrono::milliseconds hold)
    : answer_(std::move(answer)), hold_(hold), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0)
    throw std::runtime_error("a test cannot bind a port on loopback");
  ::listen(listener_, 8);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { serve(); });
}

RawServer::~RawServer() {
  if (thread_.joinable()) thread_.join();
  ::close(listener_);
}

std::string RawServer::request() {
  if (thread_.joinable()) thread_.join();
  return request_;
}

void RawServer::serve() {
  const auto until = Clock::now() + std::chrono::seconds(10);
  if (!is_ready(listener_, POLLIN, until)) return;
  const int peer = ::accept(listener_, nullptr, nullptr);
  char block[4096];
  while (request_.find("\r\n\r\n") == std::string::npos && is_ready(peer, POLLIN, until)) {
    const auto count = ::recv(peer, block, sizeof block, 0);
    if (count <= 0) break;
    request_.append(block, static_cast<std::size_t>(count));
  }
  if (!answer_.empty()) ::send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL);
  const auto held = Clock::now() + hold_;
  while (hold_.count() > 0 && is_ready(peer, POLLIN, held) && ::recv(peer, block, 4096, 0) > 0) {
  }
  ::close(peer);
}

}  // namespace l4::test
