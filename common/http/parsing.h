// Reads pieces of an HTTP message from a channel into Beast's parser.
//
// For sources that use Beast, which is compiled for both kinds of messages in parsing.cc alone.
// Rooms outside see client.h and the aggregator's server.h.
#pragma once

#include <memory>

#include "common/http/channel.h"

namespace boost::beast {
template <class Allocator>
class basic_flat_buffer;
namespace http {
template <bool kIsRequest>
class basic_parser;
}
}  // namespace boost::beast

namespace l4::http {

/// Parses one piece: what waits in the buffer, or else what comes next. `done` gets the parser's or
/// the connection's error and how many bytes were parsed; it is called later, never from in here.
/// Channel, buffer and parser live until then. An end of the connection in the middle is
/// partial_message, an end before the first byte end_of_stream, a full buffer buffer_overflow (as
/// Beast's async_read_some).
template <bool kIsRequest>
void parse_some(Channel& channel, boost::beast::basic_flat_buffer<std::allocator<char>>& buffer,
                boost::beast::http::basic_parser<kIsRequest>& parser, Channel::Done done);

}  // namespace l4::http
