#include "aggregator/http/server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <thread>

#include "aggregator/http/connection.h"
#include "aggregator/http/hub.h"
#include "aggregator/serve/utf8.h"
#include "common/base/thread.h"
#include "common/http/url.h"

namespace l4::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr Millis kAcceptAgain{100};  // wait if the process has no descriptor left

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
  return Url{.host = endpoint.address().to_string(), .port = endpoint.port(), .target = ""}.peer();
}

/// The wall clock, by which certificates are valid.
TimeMs today() {
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}

}  // namespace

Response error_response(unsigned status, std::string_view code, std::string_view message) {
  std::string text;
  for (const char c : serve::harmless(message)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return {status, "application/json",
          fmt::format("{{\"error\": {{\"code\": \"{}\", \"message\": \"{}\"}}}}\n", code, text)};
}

void leave_out_known(Response& response, std::string_view known) {
  if (response.etag.empty() || (known != "*" && known.find(response.etag) == known.npos)) return;
  response.status = 304;
  response.body.clear();
}

class Server::Impl {
 public:
  Impl(ServerOptions options, Handler handler, TlsContext tls) : hub_(std::move(options)) {
    hub_.tls = std::move(tls);
    hub_.handler = std::move(handler);
    hub_.gate->ring = [this](std::uint64_t id) {
      asio::post(context_, [this, id] {
        const auto found = hub_.connections.find(id);
        if (found != hub_.connections.end()) std::shared_ptr(found->second)->news();
      });
    };
    hub_.gate->deliver = [this](std::uint64_t id, std::uint64_t request, Response response) {
      asio::post(context_, [this, id, request, answer = std::move(response)]() mutable {
        const auto found = hub_.connections.find(id);
        if (found == hub_.connections.end()) return;
        // Keeps the connection alive if it leaves the table meanwhile.
        const auto connection = found->second;
        connection->deliver(request, std::move(answer));
      });
    };
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ~Impl() {
    {
      const MutexLock lock(hub_.gate->mutex);
      hub_.gate->deliver = nullptr;
      hub_.gate->ring = nullptr;
    }
    asio::post(context_, [this] { stop(); });
    if (thread_.joinable()) thread_.join();
  }

  Result<void> listen() {
    error_code wrong;
    const auto address = asio::ip::make_address(hub_.options.address, wrong);
    if (wrong) return std::unexpected(Error{hub_.options.address, "is no IP address to listen on"});
    const asio::ip::tcp::endpoint endpoint(address, hub_.options.port);
    const auto failed = [&](const std::string& what) {
      return std::unexpected(Error{text_of(endpoint), "cannot " + what + ": " + wrong.message()});
    };
    if (acceptor_.open(endpoint.protocol(), wrong)) return failed("open a socket");
    static_cast<void>(acceptor_.set_option(asio::socket_base::reuse_address(true), wrong));
    if (acceptor_.bind(endpoint, wrong)) return failed("listen");
    if (acceptor_.listen(asio::socket_base::max_listen_connections, wrong)) return failed("listen");
    port_ = acceptor_.local_endpoint(wrong).port();
    accept();
    try {
      thread_ = start_thread("l4-http", [this] { context_.run(); });
    } catch (const std::exception& fault) {
      return std::unexpected(Error{text_of(endpoint), fault.what()});
    }
    return {};
  }

  void take_over(TlsContext tls) {
    asio::post(context_, [this, tls = std::move(tls)]() mutable { hub_.tls = std::move(tls); });
  }

  std::uint16_t port() const { return port_; }
  ServerCounts counts() const { return hub_.counters.now(); }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code code, asio::ip::tcp::socket socket) {
      if (stopping_) return;
      if (!code) {
        take(std::move(socket));
        return accept();
      }
      accept_again_.expires_after(kAcceptAgain);
      accept_again_.async_wait([this](error_code cancelled) {
        if (!cancelled && !stopping_) accept();
      });
    });
  }

  void take(asio::ip::tcp::socket socket) {
    ++hub_.counters.connections;
    if (hub_.connections.size() >= hub_.options.connections_max) {
      ++hub_.counters.evicted;
      const auto other = least_needed();
      if (!other) return;  // all wait for the handler: the new connection is closed
      other->close();
    }
    error_code failed;
    const bool is_v6 = socket.local_endpoint(failed).address().is_v6();
    const int descriptor = failed ? -1 : socket.release(failed);
    if (failed) return;  // the client has gone already
    const auto connection = make_connection(hub_, context_, descriptor, is_v6, ++last_id_);
    hub_.connections.emplace(last_id_, connection);
    ++hub_.counters.open;
    connection->start();
  }

  std::shared_ptr<Connection> least_needed() const {
    std::shared_ptr<Connection> least;
    for (const auto& [id, connection] : hub_.connections)
      if (connection->may_be_evicted() && (!least || connection->need() < least->need()))
        least = connection;
    return least;
  }

  /// Closes every socket and timer, so that the thread has nothing left to run and ends.
  void stop() {
    stopping_ = true;
    error_code ignored;
    static_cast<void>(acceptor_.close(ignored));
    accept_again_.cancel();
    while (!hub_.connections.empty()) std::shared_ptr(hub_.connections.begin()->second)->close();
  }

  asio::io_context context_{1};
  asio::ip::tcp::acceptor acceptor_{context_};
  asio::steady_timer accept_again_{context_};
  Hub hub_;
  std::uint64_t last_id_ = 0;
  std::uint16_t port_ = 0;
  bool stopping_ = false;
  std::jthread thread_;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  TlsContext tls;
  if (!options.tls.certificate.empty()) {
    auto made = server_tls(options.tls, today());
    if (!made) return std::unexpected(made.error());
    tls = std::move(*made);
  }
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler), std::move(tls));
  if (const auto listening = impl->listen(); !listening) return std::unexpected(listening.error());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Result<void> Server::reload(const TlsFiles& files) {
  auto made = server_tls(files, today());
  if (!made) return std::unexpected(made.error());
  impl_->take_over(std::move(*made));
  return {};
}

std::uint16_t Server::port() const {
  return impl_->port();
}

ServerCounts Server::counts() const {
  return impl_->counts();
}

}  // namespace l4::http
