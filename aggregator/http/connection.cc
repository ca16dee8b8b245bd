#include "aggregator/http/connection.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <sstream>
#include <string_view>

#include "aggregator/http/event_stream.h"
#include "aggregator/http/target.h"
#include "common/http/channel.h"
#include "common/http/parsing.h"

namespace l4::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Field = beast::http::field;

constexpr std::size_t kReadAhead = 8 << 10;
constexpr std::size_t kDiscardedMax = 16 << 20;
constexpr std::chrono::seconds kLook{1};  // time between two checks for clients that left
constexpr Millis kLinger{2000};           // how long the rest of a refused request is read
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr char kHandshake = 22;  // the first byte that a client of TLS sends

/// wait -> read header -> read body -> handler -> write -> wait, until one side closes.
class HttpConnection final : public Connection,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Hub& hub, asio::io_context& context, std::uint64_t id)
      : hub_(hub),
        id_(id),
        tls_(hub.tls),
        answer_timer_(context),
        channel_(context),
        buffer_(hub.options.header_bytes_max + kReadAhead) {}

  /// Takes the descriptor over; called before anything else.
  void take(int descriptor, bool is_v6) {
    channel_.assign(descriptor, is_v6);
    peer_ = channel_.peer();
  }

  void start() override { wait(); }

  void wait() {
    state_ = State::waits;
    waits_since_ = Clock::now();
    if (buffer_.size() > 0) return greet();
    channel_.expire_after(hub_.options.idle);
    channel_.read_some(room(), [self = shared_from_this()](error_code code, std::size_t bytes) {
      if (code || self->state_ == State::closed) return self->close();
      self->buffer_.commit(bytes);
      self->greet();
    });
  }

  bool may_be_evicted() const override {
    return state_ != State::handles && state_ != State::streams;
  }
  Need need() const override { return {state_ == State::writes, waits_since_}; }
  void deliver(std::uint64_t request, Response response) override {
    if (state_ == State::handles && request == request_) respond(std::move(response));
  }

  void close() override {
    if (state_ == State::closed) return;
    leave_handler();
    release_response();
    leave_stream();
    state_ = State::closed;
    channel_.close();
    hub_.connections.erase(id_);
    --hub_.counters.open;
  }

 private:
  enum class State : std::uint8_t { waits, reads, handles, writes, streams, leaves, closed };

  /// The TLS handshake begins once the first bytes have arrived, which distinguish it from a
  /// request in plain HTTP.
  void greet() {
    if (!tls_ || channel_.tls() != nullptr) return read_request();
    state_ = State::reads;
    channel_.expire_after(hub_.options.read);
    if (*static_cast<const char*>(buffer_.data().data()) != kHandshake) return refuse(tls_only());
    channel_.open_tls(tls_);
    const auto received = buffer_.data();
    channel_.handshake(Channel::Side::server,
                       {static_cast<const char*>(received.data()), received.size()},
                       [self = shared_from_this()](error_code code, std::size_t bytes) {
                         if (self->state_ == State::closed) return;
                         if (code == asio::error::timed_out) ++self->hub_.counters.timed_out;
                         if (code) return self->hub_.counters.refuse(Refusal::tls), self->close();
                         self->buffer_.consume(bytes);
                         self->wait();
                       });
  }

  void read_request() {
    state_ = State::reads;
    read_bytes_ = 0;
    version_ = 11;
    without_body_ = was_continued_ = false;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(hub_.options.header_bytes_max));
    parser_->body_limit(hub_.options.body_bytes_max);
    channel_.expire_after(hub_.options.read);
    read_more();
  }

  /// Reads piece by piece, because Beast's own limit on the header holds for a single field only.
  void read_more() {
    parse_some(channel_, buffer_, *parser_,
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
      return channel_.write(kContinue, {},
                            [self = shared_from_this()](error_code code, std::size_t) {
                              if (self->can_go_on(code)) self->read_more();
                            });
    }
    read_more();
  }

  /// Handles errors while reading a request.
  bool can_go_on(error_code code) {
    using Fault = beast::http::error;
    if (state_ == State::closed) return false;
    if (!code) return true;
    if (code == asio::error::timed_out) ++hub_.counters.timed_out;
    if (code.category() != beast::http::make_error_code(Fault::bad_version).category() ||
        code == Fault::end_of_stream || code == Fault::partial_message) {
      close();
    } else if (code == Fault::header_limit || code == Fault::buffer_overflow) {
      refuse(header_too_large(hub_.options));
    } else if (code == Fault::body_limit) {
      refuse(body_too_large(hub_.options));
    } else {
      refuse(bad_request("this is not HTTP: " + code.message()));
    }
    return false;
  }

  /// Answers input that is not a request; the rest of the connection cannot be parsed.
  void refuse(Refused refused) {
    hub_.counters.refuse(refused.why);
    keep_alive_ = false;
    respond(std::move(refused.response));
  }

  void handle() {
    auto message = parser_->release();
    version_ = message.version();
    keep_alive_ = message.keep_alive();
    const std::string method(message.method_string());
    without_body_ = method == "HEAD";
    const auto target = read_target({message.target().data(), message.target().size()});
    if (version_ >= 11 && message[Field::host].empty())
      return refuse(bad_request("the request names no host"));
    if (!is_known_method(method)) return refuse(unknown_method());
    if (!target) return refuse(bad_request(target.error().text()));
    ++hub_.counters.requests;
    if (hub_.counters.in_flight >= hub_.options.in_flight_max)
      return respond(hub_.busy(Refusal::busy_requests, "too many requests wait for their answers"));
    ++hub_.counters.in_flight;
    state_ = State::handles;
    ++request_;
    asked_ = std::stop_source();
    await_answer(Clock::now() + hub_.options.answer);
    hub_.ask(id_, request_,
             {without_body_ ? "GET" : method, target->path, target->segments, target->query,
              std::move(message.body()), peer_, std::string(message[Field::authorization]),
              std::string(message[Field::if_none_match]), std::string(message[Field::content_type]),
              std::string(message["Last-Event-ID"]), std::string(message[Field::host]),
              std::string(message[Field::origin]), "", asked_.get_token(),
              std::string(message[Field::accept_encoding]), std::string(message[Field::cookie])});
  }

  /// Waits until the handler answers, its time is over, or the client is gone.
  void await_answer(Clock::time_point end) {
    answer_timer_.expires_at(std::min(end, Clock::now() + kLook));
    answer_timer_.async_wait([self = shared_from_this(), request = request_, end](error_code code) {
      if (code || self->state_ != State::handles || request != self->request_) return;
      if (has_left(self->channel_.descriptor())) return self->close();
      if (Clock::now() < end) return self->await_answer(end);
      self->deliver(request, error_response(504, "too_late", "no answer was found in time"));
    });
  }

  void leave_handler() {
    if (state_ != State::handles) return;
    answer_timer_.cancel();
    asked_.request_stop();
    --hub_.counters.in_flight;
  }

  void release_response() {
    hub_.response_bytes -= response_bytes_;
    response_bytes_ = 0;
  }

  void respond(Response given) {
    leave_handler();
    waits_since_ = Clock::now();
    if (given.stream && !without_body_ && given.status == 200) {
      if (hub_.counters.streams < hub_.options.streams_max) return open(given);
      given = hub_.busy(Refusal::busy_streams, "too many streams of events are open");
    }
    state_ = State::writes;
    if (hub_.response_bytes + given.body.size() > hub_.options.response_bytes_max)
      given = hub_.busy(Refusal::busy_answers, "too many answers wait to be read");
    hub_.counters.answer(given.status);
    const std::size_t size = given.body.size();
    response_bytes_ = without_body_ ? 0 : size;
    hub_.response_bytes += response_bytes_;
    response_.version(version_);
    response_.result(given.status >= 200 && given.status <= 599 ? given.status : 500u);
    for (const auto& [name, value] : headers_of(given)) response_.set(name, value);
    for (const auto& [name, value] : given.headers) response_.set(name, value);
    if (!without_body_) response_.body() = std::move(given.body);
    response_.content_length(size);
    response_.keep_alive(keep_alive_);
    channel_.expire_after(hub_.options.write);
    std::ostringstream head;
    head << response_.base();
    outgoing_ = std::move(head).str();
    channel_.write(outgoing_, response_.body(),
                   [self = shared_from_this()](error_code code, std::size_t) {
                     if (code == asio::error::timed_out) ++self->hub_.counters.timed_out;
                     if (code || self->state_ == State::closed) return self->close();
                     self->written();
                   });
  }

  void written() {
    release_response();
    response_ = {};
    if (keep_alive_) return wait();
    if (channel_.tls() != nullptr) return say_goodbye();
    channel_.end_sending();
    state_ = State::leaves;
    buffer_.consume(buffer_.size());
    channel_.expire_after(kLinger);
    linger(0);
  }

  void open(const Response& given) {
    state_ = State::streams;
    hub_.counters.answer(given.status);
    ++hub_.counters.streams;
    keep_alive_ = false;
    auto& events = events_.emplace(given.stream, version_);
    write(events.head(given.content_type, [gate = hub_.gate, id = id_] { gate->notify(id); }));
    // A client of a stream sends nothing more: readable input means the end of the connection.
    channel_.wait_readable([self = shared_from_this()](error_code) {
      if (self->state_ == State::streams) self->close();
    });
  }

  void news() override {
    if (!events_ || is_sending_) return;
    auto taken = events_->next();
    if (taken.cut) return close();
    if (taken.over) leave_stream();
    if (taken.over || !taken.text.empty()) return write(std::move(taken.text));
    answer_timer_.expires_after(hub_.options.heartbeat);
    answer_timer_.async_wait([self = shared_from_this()](error_code code) {
      if (!code && self->events_ && !self->is_sending_) self->write(self->events_->heartbeat());
    });
  }

  /// Writes the head of a stream, then the events that have come meanwhile.
  void write(std::string text) {
    is_sending_ = true;
    answer_timer_.cancel();
    outgoing_ = std::move(text);
    channel_.expire_after(hub_.options.write);
    channel_.write(outgoing_, {}, [self = shared_from_this()](error_code code, std::size_t) {
      self->is_sending_ = false;
      if (code == asio::error::timed_out) ++self->hub_.counters.timed_out;
      if (code || self->state_ == State::closed) return self->close();
      self->events_ ? self->news() : self->written();
    });
  }

  void leave_stream() {
    if (!events_) return;
    answer_timer_.cancel();
    events_.reset();
    --hub_.counters.streams;
  }

  /// With TLS, the peer is also notified of the end.
  void say_goodbye() {
    state_ = State::leaves;
    channel_.expire_after(kLinger);
    channel_.end_tls([self = shared_from_this()](error_code) { self->close(); });
  }

  /// Reads on for a moment: closing a connection with unread bytes resets it, and then the client
  /// might never see its answer.
  void linger(std::size_t discarded) {
    channel_.read_some(room(),
                       [self = shared_from_this(), discarded](error_code code, std::size_t bytes) {
                         if (code || discarded > kDiscardedMax || self->state_ == State::closed)
                           return self->close();
                         self->linger(discarded + bytes);
                       });
  }

  std::span<char> room() {
    const auto room = buffer_.prepare(kReadAhead);
    return {static_cast<char*>(room.data()), room.size()};
  }

  Hub& hub_;
  const std::uint64_t id_;
  const TlsContext tls_;  // null: plain HTTP
  State state_ = State::waits;
  std::string peer_;
  Clock::time_point waits_since_;
  std::uint64_t request_ = 0;  // number of the request that the handler has
  std::stop_source asked_{std::nostopstate};
  unsigned version_ = 11;
  bool keep_alive_ = false, without_body_ = false, was_continued_ = false, is_sending_ = false;
  std::size_t read_bytes_ = 0, response_bytes_ = 0;  // bytes of this request and its response
  std::optional<EventWriter> events_;                // set while a stream of events is open
  std::string outgoing_;                             // the head of an answer, or a stream's text
  asio::steady_timer answer_timer_;                  // the handler's, or a stream's heartbeat
  Channel channel_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  beast::http::response<beast::http::string_body> response_;
};

}  // namespace

std::shared_ptr<Connection> make_connection(Hub& hub, asio::io_context& context, int descriptor,
                                            bool is_v6, std::uint64_t id) {
  auto connection = std::make_shared<HttpConnection>(hub, context, id);
  connection->take(descriptor, is_v6);
  return connection;
}

}  // namespace l4::http
