// The times that complete stamps without a year or a date, taken from what the logs print.
//
// Flow: files of a node -> year_hints -> JobPipeline::open. A file whose first stamps lack a year
// takes it from its own first full stamp, else from another file of the node, else from its file
// time, which a copy does not keep. Reads 4 KiB of each file, and of those whose first stamps
// lack it 256 KiB of either end. Files that cannot be read keep their file time; reading them later
// says why.
#pragma once

#include <optional>
#include <vector>

#include "agent/discover/discover.h"
#include "common/base/time.h"

namespace l4::agent {

/// One for each file, in their order.
std::vector<std::optional<TimeMs>> year_hints(const std::vector<discover::LogFile>& files);

}  // namespace l4::agent
