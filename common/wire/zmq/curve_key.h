// CURVE keys as 40 characters of Z85, as they stand in files and on command lines.
//
// Flow: `l4 keys` makes them, key files and the allow list hold them, the sockets use them.
// Thread-safe, no state.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"

namespace l4::wire {

struct KeyPair {
  std::string public_key, secret_key;
};

/// Fails if the installed libzmq was built without CURVE.
Result<KeyPair> make_key_pair();
/// Empty if the text is not a key.
std::string public_key_of(const std::string& secret_key);
bool is_curve_key(std::string_view text);

}  // namespace l4::wire
