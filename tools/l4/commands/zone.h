// Time zones on the command line: an offset, or a name of the zone database.
#pragma once

#include <string>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::commands {

/// Offset to UTC: "+02:00", "-0530", "UTC", "Z", or a name such as Europe/Berlin (its offset now).
Result<Millis> parse_zone(const std::string& text);

}  // namespace l4::commands
