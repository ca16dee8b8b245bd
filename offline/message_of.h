// The message of one line, as an agent reads it: wrapping, prefixes and time taken off.
#pragma once

#include <string>
#include <string_view>

namespace l4::offline {

/// The line itself where nothing is left of it.
std::string message_of(std::string_view line);

}  // namespace l4::offline
