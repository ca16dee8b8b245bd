// Access: bearer tokens with roles; only their hashes are stored.
//
// Flow: a file of rows `ROLE NAME SHA256` -> Tokens -> guarded(), a handler before the handler.
// `l4 keys token` makes tokens and rows. A row's hash is that of the token's text; what a client
// sends is hashed and compared, so the file is no secret. The file is read again when it has
// changed, at most once a second; if it is broken, the former tokens stay valid and a warning is
// logged. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
using AccessOf = std::function<Access(const Request&)>;

struct TokenRow {
  Role role = Role::read;
  std::string name;
  std::string hash;  ///< SHA-256, 64 hexadecimal digits in lower case
};

/// Rows, blank lines and lines that begin with #; an Error names the line (`where`: FILE:LINE).
Result<std::vector<TokenRow>> read_tokens(const std::filesystem::path& file);

/// SHA-256 in hexadecimal digits.
std::string sha256_of(std::string_view text);

/// Calls the handler for requests that have the access which `access_of` names; the name of their
/// token goes into Request::who. 401 without a token, 403 with a token of too small a role. Error:
/// the file cannot be read now. `warn`: any thread. `counters` counts the refusals.
Result<Handler> guarded(const std::filesystem::path& file, Handler handler, AccessOf access_of,
                        std::function<void(const std::string&)> warn,
                        std::shared_ptr<Counters> counters);

/// Calls the handler where no tokens are asked for. Everybody may read; clients on this machine may
/// change things, too, as `local`, and others are answered 403. Pages of other sites must not use a
/// browser on this machine for that (own_host.h): a request whose Host is no address, not localhost
/// and none of `names` is answered 421, unless its path is open, and a change from another site
/// 403.
Handler unguarded(Handler handler, AccessOf access_of, std::vector<std::string> names,
                  std::shared_ptr<Counters> counters);

/// Answers of 200 carry an ETag; a client that has the same one is answered 304 without a body.
Handler tagged(Handler handler);

}  // namespace l4::http
