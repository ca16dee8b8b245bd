#include "common/http/parsing.h"

#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstddef>
#include <utility>

namespace l4::http {
namespace {

namespace beast = boost::beast;
using boost::system::error_code;
using Fault = beast::http::error;

constexpr std::size_t kPieceMax = 64 << 10;

template <bool kIsRequest>
void read_on(Channel& channel, beast::flat_buffer& buffer,
             beast::http::basic_parser<kIsRequest>& parser, Channel::Done done, std::size_t parsed);

/// False if the parser needs more than the buffer holds.
template <bool kIsRequest>
bool parse(beast::flat_buffer& buffer, beast::http::basic_parser<kIsRequest>& parser,
           error_code& code, std::size_t& parsed) {
  if (buffer.size() == 0) return false;
  const std::size_t used = parser.put(buffer.data(), code);
  buffer.consume(used);
  parsed += used;
  return code != Fault::need_more;
}

template <bool kIsRequest>
void have_read(Channel& channel, beast::flat_buffer& buffer,
               beast::http::basic_parser<kIsRequest>& parser, Channel::Done done,
               std::size_t parsed, error_code code) {
  if (code == boost::asio::error::eof) {
    if (!parser.got_some()) return done(make_error_code(Fault::end_of_stream), parsed);
    code = {};
    parser.put_eof(code);
    return done(code, parsed);
  }
  if (code || parse(buffer, parser, code, parsed)) return done(code, parsed);
  read_on(channel, buffer, parser, std::move(done), parsed);
}

template <bool kIsRequest>
void read_on(Channel& channel, beast::flat_buffer& buffer,
             beast::http::basic_parser<kIsRequest>& parser, Channel::Done done,
             std::size_t parsed) {
  const std::size_t size = beast::read_size(buffer, kPieceMax);
  if (size == 0)
    return channel.post([done = std::move(done), parsed] {
      done(make_error_code(Fault::buffer_overflow), parsed);
    });
  const auto room = buffer.prepare(size);
  channel.read_some({static_cast<char*>(room.data()), room.size()},
                    [&channel, &buffer, &parser, done = std::move(done), parsed](
                        error_code code, std::size_t bytes) mutable {
                      buffer.commit(bytes);
                      have_read(channel, buffer, parser, std::move(done), parsed, code);
                    });
}

}  // namespace

template <bool kIsRequest>
void parse_some(Channel& channel, beast::flat_buffer& buffer,
                beast::http::basic_parser<kIsRequest>& parser, Channel::Done done) {
  error_code code;
  std::size_t parsed = 0;
  if (!parse(buffer, parser, code, parsed))
    return read_on(channel, buffer, parser, std::move(done), parsed);
  channel.post([done = std::move(done), code, parsed] { done(code, parsed); });
}

template void parse_some(Channel&, beast::flat_buffer&, beast::http::basic_parser<true>&,
                         Channel::Done);
template void parse_some(Channel&, beast::flat_buffer&, beast::http::basic_parser<false>&,
                         Channel::Done);

}  // namespace l4::http
