// Counts of the server and the handlers around it: requests, and refusals by reason.
//
// Flow: Server, guarded, unguarded -> Counters -> /metrics. One object for all of them, made by the
// owner of the server; its figures are added to and read on any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace l4::http {

enum class Refusal : std::uint8_t {
  bad_request,       ///< not HTTP, a missing host, or an invalid target
  header_too_large,  ///< 431
  body_too_large,    ///< 413
  method,            ///< 405: a method that no path knows
  tls,               ///< plain HTTP to a server that speaks TLS, or a failed TLS handshake
  busy_requests,     ///< 503: too many requests wait for their answers
  busy_answers,      ///< 503: too many bytes of answers wait to be read
  busy_streams,      ///< 503: too many streams of events are open
  no_token,          ///< 401
  unknown_token,     ///< 401
  not_allowed,       ///< 403: the token may only read, or there are no tokens and the client is on
                     ///< another machine
  wrong_host,        ///< 421
  cross_site,        ///< 403
};
inline constexpr std::array<std::string_view, 13> kRefusals{
    "bad_request",   "header_too_large", "body_too_large", "method",   "tls",
    "busy_requests", "busy_answers",     "busy_streams",   "no_token", "unknown_token",
    "not_allowed",   "wrong_host",       "cross_site"};

/// 2xx to 5xx
inline constexpr std::array<std::string_view, 4> kAnswerKinds{"2xx", "3xx", "4xx", "5xx"};

struct ServerCounts {
  std::uint64_t connections = 0;  ///< accepted so far
  std::uint64_t requests = 0;     ///< complete ones
  std::uint64_t timed_out = 0;    ///< connections given up by a time limit
  std::uint64_t evicted = 0;      ///< connections closed to make room, or refused for lack of it
  std::uint64_t open = 0, in_flight = 0, streams = 0;         ///< now
  std::array<std::uint64_t, kRefusals.size()> refused_for{};  ///< requests, by Refusal
  std::array<std::uint64_t, kAnswerKinds.size()> answers{};   ///< by kAnswerKinds
  std::uint64_t connections_max = 0, in_flight_max = 0;       ///< from the server's options

  std::uint64_t refused() const;
};

struct Counters {
  std::atomic<std::uint64_t> connections = 0, requests = 0, timed_out = 0, evicted = 0, open = 0,
                             in_flight = 0, streams = 0, connections_max = 0, in_flight_max = 0;
  std::array<std::atomic<std::uint64_t>, kRefusals.size()> refused_for{};
  std::array<std::atomic<std::uint64_t>, kAnswerKinds.size()> answers{};

  void refuse(Refusal why) { ++refused_for.at(static_cast<std::size_t>(why)); }
  void answer(unsigned status);
  ServerCounts now() const;
};

}  // namespace l4::http
