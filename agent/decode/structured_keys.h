// What the keys of structured loggers mean: one table, in structured_keys.cc.
//
// Keys are compared without regard to case. A parent is the object that holds the key. Pure
// functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace l4::decode {

enum class Role : std::uint8_t {
  message,
  level,
  time,
  rank,
  local_rank,
  host,
  type,
  reason,
  trace
};

struct StructuredKey {
  std::string_view parent;  ///< "*": any; empty: the line itself, or what loggers nest it in
  std::string_view key;     ///< in lower case
  Role role;
  int priority;  ///< the highest of a line wins
};

/// Null for a key that means nothing special.
const StructuredKey* find_key(std::string_view parent, std::string_view key);

/// Keys of who logged where, which tell no event from another.
bool says_nothing(std::string_view parent, std::string_view key);
/// Parents that are not shown before their keys.
bool is_plain_parent(std::string_view parent);
/// Python's numbers of levels differ from others.
bool is_python_level(std::string_view key);

}  // namespace l4::decode
