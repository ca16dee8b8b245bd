// One moment on two clocks: the steady one for deadlines, the wall clock for times in messages.
//
// Every state machine of the live system gets its "now" as an argument; no code below main reads a
// clock. A wall clock that is set back moves no deadline. Value type.
#pragma once

#include "common/base/time.h"

namespace l4::wire {

struct Instant {
  Millis steady{0};  ///< since any fixed moment; never goes back
  TimeMs wall{};
};

}  // namespace l4::wire
