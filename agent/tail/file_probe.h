// Opens a file that may be a log: its first bytes, its size, whether it is text.
//
// Place in the flow: Placement asks for each file that it must identify -> here -> Candidate, which
// TextMatcher compares with the parts that are known. Private to agent/tail; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agent/tail/folders.h"
#include "agent/tail/open_files.h"

namespace l4::tail {

/// A file whose text is to be identified.
struct Candidate {
  Folder& folder;
  const FolderEntry& entry;
  std::string path = {}, head = {};
  std::uint64_t bytes = 0;  ///< size of the text that begins with `head`; 0 if it is packed
  bool waited = false;      ///< has waited long enough for a copy to be complete
  std::unique_ptr<TextFile> text = {};
  bool rotated() const { return entry.name != entry.base; }
};

class FileProbe {
 public:
  FileProbe(Context& context, Folders& folders, OpenFiles& open_files)
      : context_(context), folders_(folders), open_files_(open_files) {}

  /// Opens the file and reads its first bytes. False: nothing can be done with the file now.
  bool open(Candidate& file, Inspection& inspection);
  /// Tells by the first bytes whether the file is a log; warns once if it is left out.
  bool is_log(const Candidate& file, Inspection& inspection);

 private:
  Outcome<bool> measure(Candidate& file);
  void retry_later(Candidate& file, Inspection& inspection, int error);

  Context& context_;
  Folders& folders_;
  OpenFiles& open_files_;
};

}  // namespace l4::tail
