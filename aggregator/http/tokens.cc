#include "aggregator/http/tokens.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "aggregator/http/own_host.h"
#include "aggregator/http/sessions.h"
#include "aggregator/serve/utf8.h"
#include "common/base/hash.h"
#include "common/base/hex.h"
#include "common/base/mutex.h"

namespace l4::http {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRowsMax = 10'000;
constexpr Millis kLookEvery{1'000};

bool is_hash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<Role> role_of(std::string_view word) {
  if (word == "read") return Role::read;
  if (word == "operate") return Role::operate;
  return std::nullopt;
}

/// Reads both texts to their ends wherever they differ, so that the time taken tells nothing.
bool same_throughout(std::string_view a, std::string_view b) {
  unsigned char differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

/// Distinguishes one state of the file from another.
struct Stand {
  fs::file_time_type time;
  std::uintmax_t size = 0;
  bool operator==(const Stand&) const = default;
};

std::optional<Stand> stand_of(const fs::path& file) {
  std::error_code wrong;
  Stand stand{fs::last_write_time(file, wrong), 0};
  if (!wrong) stand.size = fs::file_size(file, wrong);
  return wrong ? std::nullopt : std::optional(stand);
}

/// The rows of a file as it is now.
class TokenFile {
 public:
  TokenFile(fs::path file, std::vector<TokenRow> rows, std::function<void(const std::string&)> warn)
      : file_(std::move(file)), warn_(std::move(warn)), rows_(std::move(rows)) {
    stand_ = stand_of(file_);
  }

  /// The row with the most rights, if there are several.
  std::optional<TokenRow> row_of(std::string_view hash) {
    const MutexLock lock(mutex_);
    reload();
    std::optional<TokenRow> found;
    for (const TokenRow& row : rows_)
      if (same_throughout(row.hash, hash) && (!found || row.role > found->role)) found = row;
    return found;
  }

 private:
  /// Reads the file again if it has changed, at most once a second.
  void reload() L4_REQUIRES(mutex_) {
    if (Clock::now() < next_look_) return;
    next_look_ = Clock::now() + kLookEvery;
    const auto stand = stand_of(file_);
    if (stand == stand_) return;
    stand_ = stand;
    if (auto rows = read_tokens(file_)) {
      rows_ = std::move(*rows);
    } else if (warn_) {
      warn_(rows.error().text() + "; the tokens read before stay in force");
    }
  }

  const fs::path file_;
  const std::function<void(const std::string&)> warn_;
  Mutex mutex_;
  std::vector<TokenRow> rows_ L4_GUARDED_BY(mutex_);
  std::optional<Stand> stand_ L4_GUARDED_BY(mutex_);
  Clock::time_point next_look_ L4_GUARDED_BY(mutex_);
};

std::string_view token_in(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c) != kScheme[i]) return {};
  }
  authorization.remove_prefix(kScheme.size());
  const std::size_t from = authorization.find_first_not_of(' ');
  return from == std::string_view::npos ? std::string_view() : authorization.substr(from);
}

/// Counts the refusal and gives its answer, whose code is the word of the refusal.
Response refusal(Counters& counters, unsigned status, Refusal code, std::string_view why) {
  counters.refuse(code);
  return error_response(status, kRefusals.at(static_cast<std::size_t>(code)), why);
}

/// The tokens of a site and the sessions that were begun with them.
struct Keys {
  TokenFile tokens;
  Sessions sessions;
};

/// The row of the request's token, or of the token that its session was begun with; else the answer
/// that refuses the request.
std::expected<TokenRow, Response> row_of(Keys& keys, const Request& request, const Need& need,
                                         Counters& counters) {
  const auto refused = [&](unsigned status, Refusal code, std::string_view why) {
    return std::unexpected(refusal(counters, status, code, why));
  };
  const std::string_view token = token_in(request.authorization);
  const std::string hash = token.empty()
                               ? keys.sessions.token_of(session_in(request.cookie, request.host))
                               : sha256_of(token);
  if (hash.empty())
    return refused(401, Refusal::no_token, "this needs a token: Authorization: Bearer TOKEN");
  auto row = keys.tokens.row_of(hash);
  if (!row) return refused(401, Refusal::unknown_token, "this token is not known, or no longer");
  // A browser sends the cookie by itself, so what changes something must name its own page.
  if (token.empty() && request.method != "GET" &&
      (request.origin.empty() || !is_same_site(request.origin, request.host)))
    return refused(403, Refusal::cross_site, "no page of another site may change anything");
  if (need.access == Access::change && row->role != Role::operate)
    return refused(403, Refusal::not_allowed, "this token may read and change nothing");
  if (need.whole_site && row->jobs.is_limited())
    return refused(403, Refusal::not_allowed,
                   fmt::format("this is about the whole site, and this token is limited to the "
                               "jobs {}",
                               row->jobs.text()));
  return *std::move(row);
}

bool is_of_session(const Request& request) {
  return request.path == kSessionPath && request.method != "GET";
}

/// The reply to a request that begins or ends a session: the handler's answer with the cookie.
Reply with_cookie(const std::shared_ptr<Keys>& keys, const Request& request, const TokenRow& row,
                  const Reply& reply) {
  return [keys, reply, begins = request.method == "POST", hash = row.hash,
          session = std::string(session_in(request.cookie, request.host)), host = request.host,
          origin = request.origin](Response response) {
    if (response.status == 200) {
      keys->sessions.end(session);
      response.headers.emplace_back(
          "Set-Cookie", cookie_of(begins ? keys->sessions.begin(hash) : "", host, origin));
    }
    reply(std::move(response));
  };
}

bool is_this_machine(std::string_view peer) {
  return peer.starts_with("127.") || peer.starts_with("[::1]:") || peer.starts_with("[::ffff:127.");
}

void hand_on(const Handler& handler, const Request& request, std::string who, bool may_change,
             JobLimit jobs, const Reply& reply) {
  Request known = request;
  known.who = std::move(who);
  known.may_change = may_change;
  known.jobs = std::move(jobs);
  handler(known, reply);
}

}  // namespace

std::string sha256_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    return {};  // equals no row
  return hex_of(std::span(digest).first(size));
}

Result<std::vector<TokenRow>> read_tokens(const fs::path& file) {
  std::ifstream in(file);
  if (!in) return std::unexpected(Error{file.string(), "cannot be read"});
  std::vector<TokenRow> rows;
  std::map<std::string, JobLimit> limits;  // by hash
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const auto wrong = [&](const std::string& why) {
      return std::unexpected(Error{fmt::format("{}:{}", file.string(), number), why});
    };
    std::istringstream words(line);
    std::string role, name, hash, patterns, more;
    if (!(words >> role) || role[0] == '#') continue;
    if (!(words >> name >> hash) || (words >> patterns && words >> more))
      return wrong(
          "a row is ROLE NAME SHA256, and JOBS behind it where the token is limited to "
          "jobs; 'l4 keys token' makes them");
    const auto known = role_of(role);
    if (!known) return wrong(fmt::format("the role is read or operate, not '{}'", role));
    if (!is_hash(hash)) return wrong("the third word is no SHA-256 in lower-case hexadecimal");
    if (rows.size() == kRowsMax) return wrong(fmt::format("more than {} tokens", kRowsMax));
    JobLimit jobs;
    if (!patterns.empty()) {
      auto limit = JobLimit::parse(patterns);
      if (!limit) return wrong(limit.error().reason);
      jobs = std::move(*limit);
    }
    const auto [same, first] = limits.try_emplace(hash, jobs);
    if (!first && same->second != jobs)
      return wrong("this token stands in a row before with other jobs, and not the same");
    rows.push_back({*known, name, hash, std::move(jobs)});
  }
  if (in.bad()) return std::unexpected(Error{file.string(), "cannot be read to its end"});
  return rows;
}

Result<Handler> guarded(const fs::path& file, Handler handler, NeedOf need_of,
                        std::function<void(const std::string&)> warn,
                        std::shared_ptr<Counters> counters) {
  auto rows = read_tokens(file);
  if (!rows) return std::unexpected(rows.error());
  const std::shared_ptr<Keys> keys(
      new Keys{TokenFile(file, std::move(*rows), std::move(warn)), Sessions()});
  return [keys, need_of = std::move(need_of), counters = std::move(counters),
          handler = std::move(handler)](const Request& request, const Reply& reply) {
    const Need need = need_of(request);
    if (need.access == Access::open) return handler(request, reply);
    auto row = row_of(*keys, request, need, *counters);
    if (!row) return reply(std::move(row.error()));
    hand_on(handler, request, row->name, row->role == Role::operate, row->jobs,
            is_of_session(request) ? with_cookie(keys, request, *row, reply) : reply);
  };
}

Handler unguarded(Handler handler, NeedOf need_of, std::vector<std::string> names,
                  std::shared_ptr<Counters> counters) {
  return [handler = std::move(handler), need_of = std::move(need_of), names = std::move(names),
          counters = std::move(counters)](const Request& request, const Reply& reply) {
    const auto refuse = [&](unsigned status, Refusal code, const std::string& why) {
      reply(refusal(*counters, status, code, why));
    };
    // HTTP/1.0 may name no host.
    if (!request.host.empty() && !is_own_host(request.host, names) &&
        need_of(request).access != Access::open)
      return refuse(421, Refusal::wrong_host,
                    fmt::format("without tokens this answers to addresses, localhost and `names` "
                                "of [http], not to '{}'",
                                serve::cut(request.host, 80)));
    if (request.method != "GET" && !is_same_site(request.origin, request.host))
      return refuse(403, Refusal::cross_site,
                    "without tokens no page of another site may change anything");
    if (request.method != "GET" && !is_this_machine(request.peer))
      return refuse(403, Refusal::not_allowed,
                    "without tokens only who is on the aggregator's machine may change anything");
    hand_on(handler, request, "local", is_this_machine(request.peer), JobLimit(), reply);
  };
}

Handler tagged(Handler handler) {
  return [handler = std::move(handler)](const Request& request, const Reply& reply) {
    if (request.method != "GET") return handler(request, reply);
    handler(request, [reply, known = request.if_none_match](Response response) {
      if (response.status == 200 && !response.stream) {
        response.etag = fmt::format("\"{:016x}\"",
                                    hashing::of_bytes(response.body.data(), response.body.size()));
        leave_out_known(response, known);
      }
      reply(std::move(response));
    });
  };
}

}  // namespace l4::http
