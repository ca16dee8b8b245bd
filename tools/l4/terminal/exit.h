// Exit codes of every command of `l4`.
#pragma once

namespace l4::terminal {

enum Exit : int { kDone = 0, kFindings = 1, kWrongUse = 2, kNothingRead = 3, kFailureFound = 10 };

}  // namespace l4::terminal
