// A private folder for unpacked input, gone when the program ends.
//
// Owned by the reader of the input. Made with mode 0700 under $TMPDIR (else /tmp). The destructor
// removes it, and so does a thread that waits for SIGINT, SIGTERM and SIGHUP. These signals are
// blocked in the calling thread, so make the folder before any other thread.
#pragma once

#include <filesystem>
#include <memory>
#include <thread>

#include "common/base/error.h"

namespace l4::offline {

class TempFolder {
 public:
  static Result<std::unique_ptr<TempFolder>> make();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TempFolder(std::filesystem::path path);
  void watch_signals();

  std::filesystem::path path_;
  int signals_ = -1;  ///< descriptor that is readable once a signal waits
  int stop_ = -1;     ///< a descriptor that the destructor makes readable
  std::jthread watcher_;
};

}  // namespace l4::offline
