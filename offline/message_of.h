// The message of one line, as an agent reads it: without wrapping, prefixes and time.
#pragma once

#include <string>
#include <string_view>

namespace l4::offline {

/// Returns the line itself if nothing else would be left.
std::string message_of(std::string_view line);

}  // namespace l4::offline
