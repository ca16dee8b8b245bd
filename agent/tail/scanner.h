// Scans the folders that are dirty: which files there are, and which part each of them holds.
//
// Place in the flow: Folders says what is dirty -> here: lists a folder, sorts its files ->
// Placement decides what each file is. Private to agent/tail; one thread.
#pragma once

#include <cstddef>
#include <vector>

#include "agent/tail/placement.h"

namespace l4::tail {

class Scanner {
 public:
  Scanner(Context& context, Folders& folders, Placement& placement)
      : context_(context), folders_(folders), placement_(placement) {}

  /// Scans dirty folders, some 20,000 names in one call. True if some are left.
  bool work();
  /// The file of a part holds another text now: finds where the part is, and what the file is.
  void replaced(LogPart& part);

 private:
  std::size_t scan(Folder& folder);
  void lose_names(Folder& folder, const std::vector<FolderEntry>& entries);
  void lose_folder(Folder& folder, int error);
  void search_resumed();

  Context& context_;
  Folders& folders_;
  Placement& placement_;
};

}  // namespace l4::tail
