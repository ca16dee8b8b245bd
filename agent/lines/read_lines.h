// Answers a question for raw lines out of the files on this node.
//
// Flow: desk.h calls it on a thread of its own -> search.h for each log, each with its share of
// what is left of the bounds -> parts that fit a message. Nothing leaves it that was not blotted.
// Reads no clock but `now`. Stateless.
#pragma once

#include <functional>
#include <vector>

#include "agent/lines/task.h"
#include "agent/tail/file_system.h"

namespace l4::lines {

/// At least one part; `now` is steady time, `stop` says that nobody waits any more.
std::vector<wire::LinesAnswer> read_lines(const Task& task, tail::FileSystem& files,
                                          const std::function<Millis()>& now,
                                          const std::function<bool()>& stop);

}  // namespace l4::lines
