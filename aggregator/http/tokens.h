// Who may ask: bearer tokens with roles, of which only hashes are known here.
//
// Flow: a file of rows `ROLE NAME SHA256` -> Tokens -> guarded(), a handler before the handler.
// `l4 keys token` makes tokens and rows. A row's hash is that of the token's text; what a client
// sends is hashed and compared, so the file is no secret. It is looked at again when it has
// changed, at most once a second; one that cannot be understood leaves the former in force, and
// says so. Thread-safe.
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
  read,     ///< GET
  operate,  ///< all methods
};

struct TokenRow {
  Role role = Role::read;
  std::string name;
  std::string hash;  ///< SHA-256, 64 hexadecimal digits in lower case
};

/// Rows, blank lines and lines that begin with #; an Error names the line (`where`: FILE:LINE).
Result<std::vector<TokenRow>> read_tokens(const std::filesystem::path& file);

/// SHA-256 in hexadecimal digits.
std::string sha256_of(std::string_view text);

/// The handler for who has a token, whose name it gets as Request::who. Without one 401, with one
/// of too small a role 403. /healthz and /readyz are for all. Error: the file cannot be read now.
/// `warn`: any thread. `counters` counts who was refused.
Result<Handler> guarded(const std::filesystem::path& file, Handler handler,
                        std::function<void(const std::string&)> warn,
                        std::shared_ptr<Counters> counters);

/// The handler where no token is asked for: everybody may ask, and who is on this machine may
/// change things, too, as `local`; who is not is answered 403. So that no page of another site does
/// so through a browser here: what is addressed to a name that is none of `names`, of localhost or
/// an address is answered 421, and a change that comes from another site 403 (own_host.h).
Handler unguarded(Handler handler, std::vector<std::string> names,
                  std::shared_ptr<Counters> counters);

/// Answers of 200 carry an ETag; who has that already is answered 304 without a body.
Handler tagged(Handler handler);

}  // namespace l4::http
