#include "common/http/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cctype>
#include <chrono>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "common/http/channel.h"
#include "common/http/parsing.h"
#include "common/http/tls.h"
#include "common/http/url.h"

namespace l4::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

using OnData = std::function<bool(std::string_view)>;

constexpr std::uint32_t kHeaderMax = 64 << 10;

std::string brief(Millis span) {
  return span.count() % 1000 == 0 ? fmt::format("{} s", span.count() / 1000)
                                  : fmt::format("{} ms", span.count());
}

std::string sized(std::size_t bytes) {
  return bytes >= (1 << 20) ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} bytes", bytes);
}

/// One request and its answer, over a connection of its own.
class Exchange {
 public:
  /// `trust`: for TLS, else null.
  Exchange(const Url& url, const ClientOptions& options, const TlsContext& trust,
           const OnData* on_data)
      : url_(url), options_(options), on_data_(on_data), deadline_(Clock::now() + options.timeout) {
    if (trust) channel_.open_tls(trust);
  }

  Result<ClientResponse> run(beast::http::request<beast::http::string_body>& request) {
    if (const error_code wrong = connect()) return failed(wrong);
    if (channel_.tls() != nullptr)
      if (const error_code wrong = shake_hands()) return failed(wrong);
    request.set(beast::http::field::host, url_.peer());
    request.set(beast::http::field::user_agent, "l4");
    request.set(beast::http::field::accept, "*/*");
    for (const auto& [name, value] : options_.headers) request.set(name, value);
    request.keep_alive(false);
    request.prepare_payload();
    std::ostringstream head;
    head << request.base();
    const std::string sent = std::move(head).str();
    const error_code unsent =
        await([&](auto done) { channel_.write(sent, request.body(), std::move(done)); });
    if (unsent == asio::error::timed_out) return failed(unsent);
    // A server that refuses a request may answer before it has read the whole request.
    auto response = receive();
    if (!response && unsent) return failed(unsent);
    return response;
  }

 private:
  /// Starts one operation and waits for it, at most until the deadline.
  template <class Start>
  error_code await(Start start) {
    std::optional<error_code> result;
    start([&result](error_code code, auto&&...) { result = code; });
    context_.restart();
    while (!result && context_.run_one_until(deadline_) > 0) {
    }
    return result.value_or(error_code(asio::error::timed_out));
  }

  error_code connect() {
    return await([&](auto done) { channel_.connect(url_.host, url_.port, std::move(done)); });
  }

  /// The server must prove that it is the host of the URL.
  error_code shake_hands() {
    if (!expect_host(channel_.tls(), url_.host)) return asio::error::invalid_argument;
    shaking_ = true;
    const error_code wrong =
        await([&](auto done) { channel_.handshake(Channel::Side::client, {}, std::move(done)); });
    shaking_ = static_cast<bool>(wrong);
    return wrong;
  }

  /// The pieces of the body as they come.
  Result<ClientResponse> follow(beast::http::response_parser<beast::http::string_body>& parser) {
    std::string& body = parser.get().body();
    while (body.empty() || (*on_data_)(std::exchange(body, {}))) {
      if (parser.is_done()) break;
      deadline_ = Clock::now() + options_.timeout;
      if (const error_code wrong = read_some(parser)) return failed(wrong);
    }
    return ClientResponse{.status = parser.get().result_int(), .content_type = {}, .body = {}};
  }

  Result<ClientResponse> receive() {
    connecting_ = false;
    for (;;) {
      beast::http::response_parser<beast::http::string_body> parser;
      parser.header_limit(kHeaderMax);
      parser.body_limit(options_.body_max);
      if (on_data_ != nullptr) parser.body_limit(std::numeric_limits<std::uint64_t>::max());
      if (const error_code wrong = read(parser)) return failed(wrong);
      if (is_followed(parser)) return follow(parser);
      auto message = parser.release();
      if (message.result_int() / 100 == 1) continue;  // the answer itself is still to come
      return ClientResponse{message.result_int(),
                            std::string(message[beast::http::field::content_type]),
                            std::move(message.body())};
    }
  }

  /// Reads piece by piece, because Beast's own limit on the header holds for a single field only.
  error_code read(beast::http::response_parser<beast::http::string_body>& parser) {
    for (read_bytes_ = 0; !parser.is_done();) {
      if (const error_code wrong = read_some(parser)) return wrong;
      if (!parser.is_header_done() && read_bytes_ > kHeaderMax)
        return beast::http::error::header_limit;
      if (parser.is_header_done() && is_followed(parser)) return {};
      if (read_bytes_ > kHeaderMax + 2 * options_.body_max) return beast::http::error::body_limit;
    }
    return {};
  }

  bool is_followed(const beast::http::response_parser<beast::http::string_body>& parser) const {
    return on_data_ != nullptr && parser.get().result_int() == 200;
  }

  error_code read_some(beast::http::response_parser<beast::http::string_body>& parser) {
    const error_code wrong = await([&](auto done) {
      parse_some(channel_, buffer_, parser, [this, done](error_code code, std::size_t more) {
        read_bytes_ += more;
        done(code);
      });
    });
    return wrong == asio::ssl::error::stream_truncated ? cut_off(parser) : wrong;
  }

  /// The connection ended without the end mark of TLS: a body without a length may be incomplete.
  static error_code cut_off(const beast::http::response_parser<beast::http::string_body>& parser) {
    return parser.got_some() ? beast::http::error::partial_message
                             : beast::http::error::end_of_stream;
  }

  std::unexpected<Error> failed(error_code code) {
    return std::unexpected(Error{url_.peer(), reason(code)});
  }

  std::string reason(error_code code) {
    using Fault = beast::http::error;
    if (shaking_ && code != asio::error::timed_out) {
      if (auto why = trust_problem(channel_.tls(), url_.host); !why.empty()) return why;
      if (code == asio::ssl::error::stream_truncated || code == asio::error::eof ||
          code.category() == asio::error::get_ssl_category())
        return "does not speak TLS as it should; is it an http:// address? (" + code.message() +
               ")";
    }
    if (code == asio::error::timed_out)
      return fmt::format("no {} within {}", connecting_ ? "connection" : "answer",
                         brief(options_.timeout));
    if (code == asio::error::host_not_found || code == asio::error::no_data)
      return "there is no host of this name";
    if (code == asio::error::host_not_found_try_again)
      return "the name of the host cannot be looked up now";
    if (code == Fault::end_of_stream || code == asio::error::eof)
      return "closed the connection without an answer";
    if (code == Fault::partial_message) return "closed the connection in the middle of its answer";
    if (code == Fault::body_limit) return "the answer is larger than " + sized(options_.body_max);
    if (code == Fault::header_limit || code == Fault::buffer_overflow)
      return "the header of the answer is larger than " + sized(kHeaderMax);
    std::string text = code.message();
    if (code.category() == beast::http::make_error_code(Fault::bad_version).category())
      return "what answers there does not speak HTTP: " + text;
    if (!text.empty())
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
  }

  const Url& url_;
  const ClientOptions& options_;
  const OnData* on_data_;  // set by follow(), else null
  std::size_t read_bytes_ = 0;
  Clock::time_point deadline_;
  bool connecting_ = true, shaking_ = false;
  beast::flat_buffer buffer_{std::size_t{2} * kHeaderMax};
  // Destroyed last: unfinished operations are in it and refer to the sockets.
  asio::io_context context_{1};
  Channel channel_{context_};
};

Result<ClientResponse> ask(std::string_view text,
                           beast::http::request<beast::http::string_body> request,
                           const ClientOptions& options, const OnData* on_data = nullptr) {
  const auto url = parse_url(text);
  if (!url) return std::unexpected(url.error());
  request.target(url->target);
  TlsContext trust;
  if (url->tls) {
    auto made = client_tls(options.ca);
    if (!made) return std::unexpected(made.error());
    trust = std::move(*made);
  }
  try {
    return Exchange(*url, options, trust, on_data).run(request);
  } catch (const std::exception& wrong) {  // the system has no descriptor or thread left
    return std::unexpected(Error{url->peer(), wrong.what()});
  }
}

}  // namespace

Result<ClientResponse> get(std::string_view url, const ClientOptions& options) {
  return ask(url, {beast::http::verb::get, "/", 11}, options);
}

Result<ClientResponse> follow(std::string_view url, const ClientOptions& options,
                              const std::function<bool(std::string_view)>& on_data) {
  return ask(url, {beast::http::verb::get, "/", 11}, options, &on_data);
}

Result<ClientResponse> erase(std::string_view url, const ClientOptions& options) {
  return ask(url, {beast::http::verb::delete_, "/", 11}, options);
}

Result<ClientResponse> post(std::string_view url, std::string_view content_type,
                            std::string_view body, const ClientOptions& options) {
  beast::http::request<beast::http::string_body> request{beast::http::verb::post, "/", 11};
  request.set(beast::http::field::content_type,
              beast::string_view(content_type.data(), content_type.size()));
  request.body() = body;
  return ask(url, std::move(request), options);
}

bool is_about_trust(const Error& error) {
  return error.reason.starts_with(kUntrusted);
}

}  // namespace l4::http
