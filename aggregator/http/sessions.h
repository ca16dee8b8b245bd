// Sessions of browsers: a cookie that stands for a token, so that a page need not keep the token.
//
// Flow: tokens.h begins one for a POST to kSessionPath with a token, and asks here which token a
// cookie stands for. A session is only as good as its token: with the token's row it ends at once.
// Sessions are kept in memory, by the hash of their cookie: a restart ends them all. Bounded:
// beyond kSessionsMax the oldest one ends. Thread-safe. Private to this room.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "common/base/mutex.h"

namespace l4::http {

inline constexpr std::string_view kSessionPath = "/api/v1/session";

class Sessions {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::hours kLife{12};
  static constexpr std::size_t kSessionsMax = 10'000;

  /// A new session for the token with this hash: 256 random bits as text. Empty: the system gives
  /// none.
  std::string begin(const std::string& token_hash, Clock::time_point now = Clock::now());
  /// Hash of the token; empty for a session that is over or never was.
  std::string token_of(std::string_view session, Clock::time_point now = Clock::now());
  void end(std::string_view session);

 private:
  struct Session {
    std::string token_hash;
    Clock::time_point until;
  };

  Mutex mutex_;
  std::map<std::string, Session> sessions_ L4_GUARDED_BY(mutex_);  // by the hash of their text
};

/// The session in a Cookie header for this host; empty: none. Cookies do not tell ports apart, so
/// the name has the port of the Host header: two aggregators on one host do not end each other's.
std::string_view session_in(std::string_view cookies, std::string_view host);

/// Value of Set-Cookie; an empty session removes the cookie. Browsers send it for pages of this
/// site alone, never to scripts, and over TLS alone unless `origin`, the address of the page, is on
/// this machine.
std::string cookie_of(std::string_view session, std::string_view host, std::string_view origin);

}  // namespace l4::http
