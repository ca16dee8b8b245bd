#include "aggregator/http/server.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <string_view>
#include <thread>

#include "aggregator/http/hub.h"
#include "aggregator/http/target.h"
#include "common/http/url.h"

namespace l4::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Field = beast::http::field;

constexpr std::size_t kReadAhead = 8 << 10;
constexpr std::size_t kDiscardedMax = 16 << 20;
constexpr Millis kLinger{2000};      // for what a refused client still sends
constexpr Millis kAcceptAgain{100};  // where the process has no descriptor left

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
  return Url{.host = endpoint.address().to_string(), .port = endpoint.port(), .target = ""}.peer();
}

}  // namespace

/// wait -> read header -> read body -> handler -> write -> wait, until one side has enough.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Hub& hub, asio::ip::tcp::socket socket, std::uint64_t id)
      : hub_(hub),
        id_(id),
        answer_timer_(socket.get_executor()),
        stream_(std::move(socket)),
        buffer_(hub.options.header_bytes_max + kReadAhead) {
    error_code ignored;
    static_cast<void>(stream_.socket().non_blocking(true, ignored));
    const auto endpoint = stream_.socket().remote_endpoint(ignored);
    if (!ignored) peer_ = text_of(endpoint);
  }

  void wait() {
    state_ = State::waiting;
    waits_since_ = Clock::now();
    if (buffer_.size() > 0) return read_request();
    stream_.expires_after(hub_.options.idle);
    stream_.async_read_some(buffer_.prepare(kReadAhead),
                            [self = shared_from_this()](error_code code, std::size_t bytes) {
                              if (code || self->state_ == State::closed) return self->close();
                              self->buffer_.commit(bytes);
                              self->read_request();
                            });
  }

  bool may_be_evicted() const { return state_ != State::handling; }
  auto eviction_order() const { return std::pair(state_ == State::writing, waits_since_); }
  void deliver(std::uint64_t request, Response response) {
    if (state_ == State::handling && request == request_) respond(std::move(response));
  }

  void close() {
    if (state_ == State::closed) return;
    leave_handler();
    release_response();
    state_ = State::closed;
    stream_.close();
    hub_.connections.erase(id_);
    --hub_.counters.open;
  }

 private:
  enum class State : std::uint8_t { waiting, reading, handling, writing, lingering, closed };

  void read_request() {
    state_ = State::reading;
    read_bytes_ = 0;
    version_ = 11;
    without_body_ = was_continued_ = false;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(hub_.options.header_bytes_max));
    parser_->body_limit(hub_.options.body_bytes_max);
    stream_.expires_after(hub_.options.read);
    read_more();
  }

  /// Piece by piece: Beast's own limit on the header holds for a single field only.
  void read_more() {
    beast::http::async_read_some(stream_, buffer_, *parser_,
                                 [self = shared_from_this()](error_code code, std::size_t bytes) {
                                   if (self->can_go_on(code)) self->have_read(bytes);
                                 });
  }

  void have_read(std::size_t bytes) {
    read_bytes_ += bytes;
    if (!parser_->is_header_done()) {
      if (read_bytes_ > hub_.options.header_bytes_max)
        return refuse(header_too_large(hub_.options));
      return read_more();
    }
    if (parser_->is_done()) return handle();
    // Chunks have heads and trailers of their own.
    if (read_bytes_ > hub_.options.header_bytes_max + 2 * hub_.options.body_bytes_max)
      return refuse(body_too_large(hub_.options));
    const auto& message = parser_->get();
    if (!std::exchange(was_continued_, true) && message.version() >= 11 &&
        beast::iequals(message[Field::expect], "100-continue")) {
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      error_code ignored;  // a client that takes nothing times out
      stream_.socket().send(asio::buffer(kContinue), 0, ignored);
    }
    read_more();
  }

  /// Deals with what went wrong while reading a request.
  bool can_go_on(error_code code) {
    using Fault = beast::http::error;
    if (state_ == State::closed) return false;
    if (!code) return true;
    if (code == beast::error::timeout) ++hub_.counters.timed_out;
    if (code.category() != beast::http::make_error_code(Fault::bad_version).category() ||
        code == Fault::end_of_stream || code == Fault::partial_message) {
      close();
    } else if (code == Fault::header_limit || code == Fault::buffer_overflow) {
      refuse(header_too_large(hub_.options));
    } else if (code == Fault::body_limit) {
      refuse(body_too_large(hub_.options));
    } else {
      refuse(error_response(400, "bad_request", "this is not HTTP: " + code.message()));
    }
    return false;
  }

  /// Answers what is no request; what follows on the connection cannot be understood.
  void refuse(Response response) {
    ++hub_.counters.refused;
    keep_alive_ = false;
    respond(std::move(response));
  }

  void handle() {
    auto message = parser_->release();
    version_ = message.version();
    keep_alive_ = message.keep_alive();
    const std::string method(message.method_string());
    without_body_ = method == "HEAD";
    const auto target = read_target({message.target().data(), message.target().size()});
    if (version_ >= 11 && message[Field::host].empty())
      return refuse(error_response(400, "bad_request", "the request names no host"));
    if (!is_known_method(method))
      return refuse(error_response(405, "method_not_allowed", kKnownMethods));
    if (!target) return refuse(error_response(400, "bad_request", target.error().text()));
    ++hub_.counters.requests;
    if (hub_.counters.in_flight >= hub_.options.in_flight_max) {
      ++hub_.counters.refused;
      return respond(error_response(503, "busy", "too many requests wait for their answers"));
    }
    ++hub_.counters.in_flight;
    state_ = State::handling;
    ++request_;
    answer_timer_.expires_after(hub_.options.answer);
    answer_timer_.async_wait([self = shared_from_this(), request = request_](error_code code) {
      if (!code)
        self->deliver(request, error_response(504, "too_late", "no answer was found in time"));
    });
    hub_.ask(
        id_, request_,
        {without_body_ ? "GET" : method, target->path, target->segments, target->query,
         std::move(message.body()), peer_, std::string(message[Field::authorization]),
         std::string(message[Field::if_none_match]), std::string(message[Field::content_type])});
  }

  void leave_handler() {
    if (state_ != State::handling) return;
    answer_timer_.cancel();
    --hub_.counters.in_flight;
  }

  void release_response() {
    hub_.response_bytes -= response_bytes_;
    response_bytes_ = 0;
  }

  void respond(Response given) {
    leave_handler();
    state_ = State::writing;
    waits_since_ = Clock::now();
    if (hub_.response_bytes + given.body.size() > hub_.options.response_bytes_max) {
      ++hub_.counters.refused;
      given = error_response(503, "busy", "too many answers wait to be read");
    }
    const std::size_t size = given.body.size();
    response_bytes_ = without_body_ ? 0 : size;
    hub_.response_bytes += response_bytes_;
    response_.version(version_);
    response_.result(given.status >= 200 && given.status <= 599 ? given.status : 500u);
    response_.set(Field::server, "l4-aggregator");
    response_.set(Field::content_type, given.content_type);
    response_.set(Field::cache_control, given.etag.empty() ? "no-store" : "no-cache");
    if (!given.etag.empty()) response_.set(Field::etag, given.etag);
    response_.set("X-Content-Type-Options", "nosniff");
    if (given.status == 401) response_.set(Field::www_authenticate, "Bearer");
    if (given.status == 405) response_.set(Field::allow, kMethods);
    if (given.status == 503) response_.set(Field::retry_after, "1");
    if (!without_body_) response_.body() = std::move(given.body);
    response_.content_length(size);
    response_.keep_alive(keep_alive_);
    stream_.expires_after(hub_.options.write);
    beast::http::async_write(stream_, response_,
                             [self = shared_from_this()](error_code code, std::size_t) {
                               if (code == beast::error::timeout) ++self->hub_.counters.timed_out;
                               if (code || self->state_ == State::closed) return self->close();
                               self->written();
                             });
  }

  void written() {
    release_response();
    response_ = {};
    if (keep_alive_) return wait();
    error_code ignored;
    static_cast<void>(stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored));
    state_ = State::lingering;
    buffer_.consume(buffer_.size());
    stream_.expires_after(kLinger);
    linger(0);
  }

  /// Reads on for a moment: a connection that is closed over unread bytes is reset, and the client
  /// might never see what it was answered.
  void linger(std::size_t discarded) {
    stream_.async_read_some(buffer_.prepare(kReadAhead), [self = shared_from_this(), discarded](
                                                             error_code code, std::size_t bytes) {
      if (code || discarded > kDiscardedMax || self->state_ == State::closed) return self->close();
      self->linger(discarded + bytes);
    });
  }

  Hub& hub_;
  const std::uint64_t id_;
  State state_ = State::waiting;
  std::string peer_;
  Clock::time_point waits_since_;
  std::uint64_t request_ = 0;  // number of the one at the handler
  unsigned version_ = 11;
  bool keep_alive_ = false, without_body_ = false, was_continued_ = false;
  std::size_t read_bytes_ = 0;  // of this request
  std::size_t response_bytes_ = 0;
  asio::steady_timer answer_timer_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  beast::http::response<beast::http::string_body> response_;
};

class Server::Impl {
 public:
  Impl(ServerOptions options, Handler handler) {
    hub_.options = std::move(options);
    hub_.handler = std::move(handler);
    hub_.gate->deliver = [this](std::uint64_t id, std::uint64_t request, Response response) {
      asio::post(context_, [this, id, request, answer = std::move(response)]() mutable {
        const auto found = hub_.connections.find(id);
        if (found == hub_.connections.end()) return;
        const auto connection = found->second;  // may leave the table on the way
        connection->deliver(request, std::move(answer));
      });
    };
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ~Impl() {
    {
      const std::lock_guard lock(hub_.gate->mutex);
      hub_.gate->deliver = nullptr;
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
      thread_ = std::jthread([this] { context_.run(); });
    } catch (const std::exception& fault) {
      return std::unexpected(Error{text_of(endpoint), fault.what()});
    }
    pthread_setname_np(thread_.native_handle(), "l4-http");
    return {};
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
      if (!other) return;  // all are at the handler: the new one goes
      other->close();
    }
    const auto connection = std::make_shared<Connection>(hub_, std::move(socket), ++last_id_);
    hub_.connections.emplace(last_id_, connection);
    ++hub_.counters.open;
    connection->wait();
  }

  std::shared_ptr<Connection> least_needed() const {
    std::shared_ptr<Connection> least;
    for (const auto& [id, connection] : hub_.connections)
      if (connection->may_be_evicted() &&
          (!least || connection->eviction_order() < least->eviction_order()))
        least = connection;
    return least;
  }

  /// With every socket and timer closed nothing is left to run, and the thread ends.
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
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler));
  if (const auto listening = impl->listen(); !listening) return std::unexpected(listening.error());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::port() const {
  return impl_->port();
}

ServerCounts Server::counts() const {
  return impl_->counts();
}

}  // namespace l4::http
