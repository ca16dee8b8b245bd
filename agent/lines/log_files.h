// The files of a log on disk now: the file that is written to and the files that it was rotated
// into, packed or not, oldest first.
//
// Flow: search.cc asks for each log, without the tailer, whose view may be older than the disk. A
// link is followed only to a file that the tailer follows itself: a program that writes logs could
// set links to any file. Stateless but for the file system.
#pragma once

#include <string>
#include <vector>

#include "agent/lines/task.h"
#include "agent/tail/file_system.h"
#include "agent/tail/text_file.h"

namespace l4::lines {

struct DiskFile {
  std::string path;
  tail::Status status;  ///< when the folder was read
};

/// At most the newest 1,000 files whose names `may_read` of the task allows.
std::vector<DiskFile> parts_of(const Task& task, const AskedLog& log, tail::FileSystem& files);

/// The text of a file. Error: errno; ESTALE if another file has its name by now.
tail::Outcome<tail::TextFile> open_part(const DiskFile& part, tail::FileSystem& files);

}  // namespace l4::lines
