// The files on disk that a log is made of now: the one that is written to and what it was rotated
// into, packed or not, oldest first.
//
// Flow: read_lines.h asks for each log; what is on disk is the truth, whatever the tailer saw
// before. A link is followed only where it leads to a file that the tailer follows itself: whoever
// writes logs could point anywhere. Stateless but for the file system.
#pragma once

#include <string>
#include <vector>

#include "agent/lines/task.h"
#include "agent/tail/file_system.h"
#include "agent/tail/text_file.h"

namespace l4::lines {

struct DiskFile {
  std::string path;
  tail::Status status;  ///< as it was found
};

/// At most 1,000, the newest. `may_read` of the task is asked for each name.
std::vector<DiskFile> parts_of(const Task& task, const AskedLog& log, tail::FileSystem& files);

/// The text of a part. Error: errno; ESTALE if another file stands there meanwhile.
tail::Outcome<tail::TextFile> open_part(const DiskFile& part, tail::FileSystem& files);

}  // namespace l4::lines
