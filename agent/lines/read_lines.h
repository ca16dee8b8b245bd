// Answers a question for raw lines out of the files on this node.
//
// Flow: called on the desk's thread -> search.h for each log, each with its share of the bounds
// that are left -> parts that fit a message. All lines are redacted. Reads no clock but `now`.
// Stateless.
#pragma once

#include <functional>
#include <vector>

#include "agent/lines/task.h"
#include "agent/tail/file_system.h"

namespace l4::lines {

/// Gives at least one part. `now`: steady time; `stop`: the question is given up.
std::vector<wire::LinesAnswer> read_lines(const Task& task, tail::FileSystem& files,
                                          const std::function<Millis()>& now,
                                          const std::function<bool()>& stop);

}  // namespace l4::lines
