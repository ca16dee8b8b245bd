// The meaning of the keys of structured loggers: one table, in structured_keys.cc.
//
// Keys are compared without case. A parent is the object that holds the key. Pure functions.
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
  std::string_view parent;  ///< "*": any object; empty: the line itself, or a logger's outer object
  std::string_view key;     ///< in lower case
  Role role;
  int priority;  ///< the key with the highest priority wins
};

/// Null for a key that means nothing special.
const StructuredKey* find_key(std::string_view parent, std::string_view key);

/// True for keys of logger, process and source line, which do not distinguish events.
bool says_nothing(std::string_view parent, std::string_view key);
/// True for parents that are not printed before their keys.
bool is_plain_parent(std::string_view parent);
/// True for keys that hold Python's numeric levels, which differ from others.
bool is_python_level(std::string_view key);

}  // namespace l4::decode
