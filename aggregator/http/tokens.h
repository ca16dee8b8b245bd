// Access: bearer tokens with roles; only their hashes are stored. Flow: a file of rows `ROLE NAME
// SHA256 [JOBS]` -> guarded(), which calls the next handler. JOBS limits a token to jobs
// (job_limit.h). `l4 keys token` makes tokens and rows. A
// row's hash is that of the token's text; what a client sends is hashed and compared, so the file
// is no secret. The file is read again when it has changed, at most once a second; if it is broken,
// the former tokens stay valid and a warning is logged. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/http/job_limit.h"
#include "aggregator/http/server.h"
#include "common/base/error.h"

namespace l4::http {

enum class Role : std::uint8_t {
  read,     ///< may read
  operate,  ///< may change things, too
};

/// The access that a request needs.
enum class Access : std::uint8_t {
  open,    ///< no token
  read,    ///< any token
  change,  ///< a token of the role operate
};

struct Need {
  Access access = Access::change;
  bool whole_site = true;  ///< a token that is limited to jobs is not enough
};
using NeedOf = std::function<Need(const Request&)>;

struct TokenRow {
  Role role = Role::read;
  std::string name;
  std::string hash;  ///< SHA-256, 64 hexadecimal digits in lower case
  JobLimit jobs = {};
};

/// Rows, blank lines and lines that begin with #; an Error names the line (`where`: FILE:LINE). A
/// hash may stand in several rows, but then with the same jobs in all of them.
Result<std::vector<TokenRow>> read_tokens(const std::filesystem::path& file);

/// SHA-256 in hexadecimal digits.
std::string sha256_of(std::string_view text);

/// Calls the handler for requests with the access that `need_of` asks for; Request::who gets the
/// name of their token, and Request::jobs its jobs. Answers 401 without a token and 403 if the
/// role of the token is not enough, or if it is limited to jobs and the whole site is asked for.
/// A POST to kSessionPath (sessions.h) begins a session, whose cookie then stands for the token; a
/// DELETE ends it. A change by cookie must come from a page of this server (403 otherwise).
/// Error: the file cannot be read now. `warn` may be called on any thread. `counters` counts the
/// refusals.
Result<Handler> guarded(const std::filesystem::path& file, Handler handler, NeedOf need_of,
                        std::function<void(const std::string&)> warn,
                        std::shared_ptr<Counters> counters);

/// Calls the handler of a server without tokens. Everyone may read. Clients on this machine may
/// also change things, as `local`; others get 403. Pages of other sites must not do that through a
/// browser on this machine (own_host.h). So a request gets 421 if its path is not open and its Host
/// is neither an address nor localhost nor one of `names`, and a change from another site gets 403.
Handler unguarded(Handler handler, NeedOf need_of, std::vector<std::string> names,
                  std::shared_ptr<Counters> counters);

/// Adds an ETag to answers of 200; a client that has the same ETag gets 304 without a body.
Handler tagged(Handler handler);

}  // namespace l4::http
