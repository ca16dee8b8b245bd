#include "common/http/channel.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

#include "common/http/url.h"

namespace l4::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Shared with the operations under way, which may end after the channel.
struct Channel::Impl : std::enable_shared_from_this<Impl> {
  using Tls = asio::ssl::stream<tcp::socket&>;
  using Clock = std::chrono::steady_clock;

  explicit Impl(asio::io_context& context) : socket(context), resolver(context), timer(context) {}

  /// Starts the time limit for an operation; the limit ends with the last operation.
  Done begin(Done done) {
    if (++under_way == 1 && limit != Clock::time_point::max()) watch();
    return [self = shared_from_this(), done = std::move(done)](error_code code, std::size_t bytes) {
      if (--self->under_way == 0) self->timer.cancel();
      if (code && self->is_late) code = asio::error::timed_out;
      done(code, bytes);
    };
  }

  void watch() {
    timer.expires_at(limit);
    timer.async_wait([self = shared_from_this()](error_code cancelled) {
      if (cancelled || self->under_way == 0) return;
      if (Clock::now() < self->limit) return self->watch();
      self->is_late = true;
      self->close();
    });
  }

  void read_some(asio::mutable_buffer buffer, Done done) {
    tls ? tls->async_read_some(buffer, std::move(done))
        : socket.async_read_some(buffer, std::move(done));
  }

  using Pair = std::array<asio::const_buffer, 2>;
  void write(Pair rest, std::size_t written, Done done) {
    auto next = [self = shared_from_this(), rest, written, done = std::move(done)](
                    error_code code, std::size_t bytes) mutable {
      const std::size_t of_head = std::min(bytes, rest[0].size());
      rest[0] += of_head;
      rest[1] += bytes - of_head;
      written += bytes;
      if (code || rest[0].size() + rest[1].size() == 0) return done(code, written);
      self->write(rest, written, std::move(done));
    };
    tls ? tls->async_write_some(rest, Done(std::move(next)))
        : socket.async_write_some(rest, Done(std::move(next)));
  }

  void close() {
    error_code ignored;
    static_cast<void>(socket.close(ignored));
    timer.cancel();
  }

  tcp::socket socket;
  tcp::resolver resolver;
  asio::steady_timer timer;
  Clock::time_point limit = Clock::time_point::max();
  std::size_t under_way = 0;
  bool is_late = false;
  std::optional<asio::ssl::context> context;
  std::optional<Tls> tls;
};

Channel::Channel(asio::io_context& context) : impl_(std::make_shared<Impl>(context)) {}

Channel::~Channel() {
  impl_->close();
}

void Channel::assign(int descriptor, bool is_v6) {
  error_code wrong;
  if (impl_->socket.assign(is_v6 ? tcp::v6() : tcp::v4(), descriptor, wrong)) ::close(descriptor);
}

void Channel::connect(const std::string& host, std::uint16_t port,
                      std::function<void(ErrorCode)> done) {
  error_code is_name;
  const auto address = asio::ip::make_address(host, is_name);
  if (!is_name)
    return impl_->socket.async_connect(
        {address, port}, [self = impl_, done = std::move(done)](error_code code) { done(code); });
  impl_->resolver.async_resolve(
      host, std::to_string(port), asio::ip::resolver_base::numeric_service,
      [self = impl_, done = std::move(done)](error_code code,
                                             const tcp::resolver::results_type& addresses) {
        if (code) return done(code);
        asio::async_connect(
            self->socket, addresses,
            [self, done](error_code failed, const tcp::endpoint&) { done(failed); });
      });
}

/// An IPv4 address that arrives over IPv6 is written as IPv4.
static std::string plain_text(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  return address.to_string();
}

int Channel::descriptor() {
  return impl_->socket.native_handle();
}

std::string Channel::peer() const {
  error_code gone;
  const auto from = impl_->socket.remote_endpoint(gone);
  if (gone) return {};
  return Url{.host = plain_text(from.address()), .port = from.port(), .target = ""}.peer();
}

void Channel::expire_after(Millis span) {
  impl_->limit = Impl::Clock::now() + span;
  if (impl_->under_way > 0) impl_->watch();
}

void Channel::open_tls(const TlsContext& context) {
  impl_->context.emplace(another(context));
  impl_->tls.emplace(impl_->socket, *impl_->context);
}

ssl_st* Channel::tls() {
  return impl_->tls ? impl_->tls->native_handle() : nullptr;
}

void Channel::handshake(Side side, std::span<const char> received, Done done) {
  impl_->tls->async_handshake(
      side == Side::client ? asio::ssl::stream_base::client : asio::ssl::stream_base::server,
      asio::const_buffer(received.data(), received.size()), impl_->begin(std::move(done)));
}

void Channel::end_tls(std::function<void(ErrorCode)> done) {
  impl_->tls->async_shutdown(
      [ended = impl_->begin([done = std::move(done)](ErrorCode code, std::size_t) { done(code); })](
          error_code code) { ended(code, 0); });
}

void Channel::read_some(std::span<char> buffer, Done done) {
  impl_->read_some({buffer.data(), buffer.size()}, impl_->begin(std::move(done)));
}

void Channel::write(std::string_view head, std::string_view body, Done done) {
  impl_->write(
      {asio::const_buffer(head.data(), head.size()), asio::const_buffer(body.data(), body.size())},
      0, impl_->begin(std::move(done)));
}

void Channel::wait_readable(std::function<void(ErrorCode)> done) {
  impl_->socket.async_wait(tcp::socket::wait_read,
                           [self = impl_, done = std::move(done)](error_code code) { done(code); });
}

void Channel::post(std::function<void()> call) {
  asio::post(impl_->socket.get_executor(), std::move(call));
}

void Channel::end_sending() {
  error_code ignored;
  static_cast<void>(impl_->socket.shutdown(tcp::socket::shutdown_send, ignored));
}

void Channel::close() {
  impl_->close();
}

}  // namespace l4::http
