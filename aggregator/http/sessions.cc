#include "aggregator/http/sessions.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>

#include "aggregator/http/own_host.h"
#include "aggregator/http/tokens.h"
#include "common/base/hex.h"
#include "common/http/url.h"

namespace l4::http {
namespace {

std::string name_for(std::string_view host) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t end = host.find_last_not_of(kDigits);
  const bool has_port = end != std::string_view::npos && host[end] == ':' && end + 1 < host.size();
  return has_port ? fmt::format("l4_session_{}", host.substr(end + 1)) : "l4_session";
}

bool is_on_this_machine(std::string_view origin) {
  const auto url = parse_url(origin);
  return url && !url->tls && is_loopback(url->host);
}

}  // namespace

std::string Sessions::begin(const std::string& token_hash, Clock::time_point now) {
  std::array<unsigned char, 32> bits{};
  if (RAND_bytes(bits.data(), static_cast<int>(bits.size())) != 1) return {};
  std::string session = hex_of(bits);
  const MutexLock lock(mutex_);
  std::erase_if(sessions_, [&](const auto& one) { return one.second.until <= now; });
  if (sessions_.size() >= kSessionsMax)
    sessions_.erase(
        std::ranges::min_element(sessions_, {}, [](const auto& one) { return one.second.until; }));
  sessions_[sha256_of(session)] = {token_hash, now + kLife};
  return session;
}

std::string Sessions::token_of(std::string_view session, Clock::time_point now) {
  if (session.empty()) return {};
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(sha256_of(session));
  if (found == sessions_.end() || found->second.until <= now) return {};
  return found->second.token_hash;
}

void Sessions::end(std::string_view session) {
  const MutexLock lock(mutex_);
  sessions_.erase(sha256_of(session));
}

std::string_view session_in(std::string_view cookies, std::string_view host) {
  const std::string name = name_for(host) + '=';
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.starts_with(name)) return one.substr(name.size());
  }
  return {};
}

std::string cookie_of(std::string_view session, std::string_view host, std::string_view origin) {
  // Without a path it holds for the folder of the address that gave it, below any proxy's prefix.
  const auto seconds = session.empty()
                           ? std::chrono::seconds{0}
                           : std::chrono::duration_cast<std::chrono::seconds>(Sessions::kLife);
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Max-Age={}{}", name_for(host), session,
                     seconds.count(), is_on_this_machine(origin) ? "" : "; Secure");
}

}  // namespace l4::http
