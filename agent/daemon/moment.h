// The time that an owner hands to the agent: steady for deadlines, the host's clocks for stamps.
#pragma once

#include "agent/host/host_time.h"
#include "common/base/time.h"
#include "common/wire/instant.h"

namespace l4::daemon {

struct Moment {
  Millis steady{0};
  host::HostTime host;
  wire::Instant instant() const { return {steady, host.wall}; }
};

}  // namespace l4::daemon
