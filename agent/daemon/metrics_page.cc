#include "agent/daemon/metrics_page.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/metrics/metrics.h"
#include "common/sockets/listen_address.h"

namespace l4::daemon {
namespace {

std::string answer(std::string_view status, std::string_view type, std::string_view body,
                   bool with_body = true) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), with_body ? body : std::string_view());
}

std::string refusal(std::string_view status) {
  return answer(status, "text/plain; charset=utf-8", fmt::format("{}\n", status));
}

}  // namespace

Result<MetricsPage> MetricsPage::listen(const std::string& address) {
  const sockets::Addresses found = sockets::read_listen_address(address, SOCK_STREAM);
  if (!found) return std::unexpected(Error{address, "is no ADDRESS:PORT to listen at"});
  const int made =
      ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  MetricsPage page(made);  // closes the socket on every return
  const int yes = 1;
  if (made < 0 || ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(made, found->ai_addr, found->ai_addrlen) != 0 || ::listen(made, 16) != 0)
    return std::unexpected(
        Error{address, fmt::format("metrics cannot be served: {}; set [metrics] listen to an "
                                   "address and port of this host that are free",
                                   std::strerror(errno))});
  return page;
}

MetricsPage::MetricsPage(MetricsPage&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      connections_(std::exchange(other.connections_, {})),
      text_(std::move(other.text_)),
      rendered_at_(other.rendered_at_),
      deaf_until_(other.deaf_until_) {}

MetricsPage::~MetricsPage() {
  for (Connection& connection : connections_) close(connection);
  if (socket_ >= 0) ::close(socket_);
}

std::uint16_t MetricsPage::port() const {
  return sockets::port_of(socket_);
}

void MetricsPage::wait_for(std::vector<pollfd>& waits) const {
  if (!deaf_until_) waits.push_back({socket_, POLLIN, 0});
  for (const Connection& connection : connections_)
    waits.push_back({connection.socket,
                     static_cast<std::int16_t>(connection.answer.empty() ? POLLIN : POLLOUT), 0});
}

void MetricsPage::serve(Millis steady, const std::function<std::string()>& render) {
  if (deaf_until_ && steady >= *deaf_until_) deaf_until_.reset();
  if (!deaf_until_) accept(steady);
  for (auto at = connections_.begin(); at != connections_.end();) {
    if (at->answer.empty()) read(*at, steady, render);
    if (at->socket >= 0 && !at->answer.empty() && !send(*at)) close(*at);
    if (at->socket >= 0 && steady - at->since > kPatience) close(*at);
    at = at->socket < 0 ? connections_.erase(at) : std::next(at);
  }
}

void MetricsPage::accept(Millis steady) {
  // At most kConnectionsMax at a time: a client that connects without end must not hold up the
  // agent.
  for (std::size_t i = 0; i < kConnectionsMax; ++i) {
    const int taken = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (taken < 0) {
      // Without free descriptors the socket stays readable, and polling it would never sleep.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        deaf_until_ = steady + kDeafFor;
      return;
    }
    if (connections_.size() == kConnectionsMax) {
      close(connections_.front());
      connections_.pop_front();
    }
    connections_.push_back({taken, steady, {}, {}, 0});
  }
}

void MetricsPage::read(Connection& connection, Millis steady,
                       const std::function<std::string()>& render) {
  std::array<char, kRequestMax> bytes{};
  for (;;) {
    const ssize_t count = ::recv(connection.socket, bytes.data(), bytes.size(), 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return close(connection);
    if (count < 0) return;
    connection.request.append(bytes.data(), static_cast<std::size_t>(count));
    if (connection.request.find("\r\n\r\n") != std::string::npos) {
      connection.answer = answer_to(connection.request, steady, render);
      return;
    }
    if (connection.request.size() >= kRequestMax) {
      connection.answer = refusal("431 Request Header Fields Too Large");
      return;
    }
  }
}

std::string MetricsPage::answer_to(std::string_view request, Millis steady,
                                   const std::function<std::string()>& render) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const auto first = line.find(' '), last = line.rfind(' ');
  if (first == last || !line.substr(last + 1).starts_with("HTTP/1."))
    return refusal("400 Bad Request");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (target.substr(0, target.find('?')) != "/metrics") return refusal("404 Not Found");
  if (method != "GET" && method != "HEAD") return refusal("405 Method Not Allowed");
  if (steady - rendered_at_ >= kRenderEvery) {
    text_ = render();
    rendered_at_ = steady;
  }
  return answer("200 OK", metrics::Metrics::kContentType, text_, method == "GET");
}

bool MetricsPage::send(Connection& connection) {
  while (connection.sent < connection.answer.size()) {
    const ssize_t count = ::send(connection.socket, connection.answer.data() + connection.sent,
                                 connection.answer.size() - connection.sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    connection.sent += static_cast<std::size_t>(count);
  }
  return false;
}

void MetricsPage::close(Connection& connection) {
  ::close(std::exchange(connection.socket, -1));
}

}  // namespace l4::daemon
