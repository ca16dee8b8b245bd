// What the logs of a node say about the time of each of them: it completes stamps without a year or
// a date, and shows which stamps are far from all others.
//
// Flow: files of a node -> time_hints -> JobPipeline::open. A file whose first stamps lack a year
// takes it from its own full stamps, else from those of the other files, else from those of other
// nodes, else from its file time, which a copy does not keep. Reads 4 KiB of each file, and of
// those whose first stamps lack a year 256 KiB of either end. Files that cannot be read keep their
// file time; reading them later says why.
#pragma once

#include <optional>
#include <vector>

#include "agent/discover/discover.h"
#include "common/base/time.h"

namespace l4::agent {

struct TimeHint {
  std::optional<TimeMs> year;   ///< decode::Options::year_hint
  std::optional<TimeMs> usual;  ///< decode::Options::usual_time
};

/// One for each file, in their order. `of_job`: a time that another node prints.
std::vector<TimeHint> time_hints(const std::vector<discover::LogFile>& files,
                                 std::optional<TimeMs> of_job = {});

/// The first time with a year that one of the files prints at its begin, the first few of them
/// asked.
std::optional<TimeMs> printed_time(const std::vector<discover::LogFile>& files);

}  // namespace l4::agent
