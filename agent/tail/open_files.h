// Opens files within the bound on descriptors.
//
// Place in the flow: whatever reads a log asks here -> FileSystem. When Options::descriptors_max
// files are open, the one used longest ago is closed, and a deleted file, which cannot be opened
// again, last. If the process runs out of descriptors the bound shrinks. Private to agent/tail; one
// thread.
#pragma once

#include <memory>
#include <string>

#include "agent/tail/context.h"

namespace l4::tail {

class OpenFiles {
 public:
  explicit OpenFiles(Context& context) : context_(context) {}

  Outcome<std::unique_ptr<File>> open(const std::string& path);
  bool make_room();  ///< closes one file; false if none is open

 private:
  Context& context_;
  bool warned_ = false;
};

}  // namespace l4::tail
