// A file of healthy runs (l4.pool/1) of any size, read and written a run at a time.
//
// Flow: `l4 pool export` -> PoolWriter; `l4 pool import` -> PoolFile -> the aggregator. One run is
// in memory; standard input is kept in a private folder, as it is read twice. Blocking.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string_view>

#include "aggregator/pool/run.h"
#include "common/base/error.h"
#include "offline/temp_folder.h"

namespace l4::commands::pool {

class PoolFile {
 public:
  /// `-`: standard input.
  static Result<std::unique_ptr<PoolFile>> open(const std::filesystem::path& path);

  /// Calls `visit` for each run until it returns an Error. Errors name the file and the place in
  /// it.
  Result<void> each(const std::function<Result<void>(const l4::pool::Run&)>& visit) const;

 private:
  std::filesystem::path named_, kept_;
  std::unique_ptr<offline::TempFolder> folder_;  ///< holds the pool of standard input
};

class PoolWriter {
 public:
  /// An empty `file`: standard output. Otherwise writes FILE.part, which is renamed when complete.
  explicit PoolWriter(std::filesystem::path file);
  ~PoolWriter();
  PoolWriter(const PoolWriter&) = delete;
  PoolWriter& operator=(const PoolWriter&) = delete;

  void append(const l4::pool::Run& run);
  /// Completes the file and returns the exit status of `program`; an error is printed to standard
  /// error.
  int end(std::string_view program);

 private:
  std::filesystem::path file_, part_;  ///< part_: empty where it is written in place
  std::ofstream out_;
  bool is_first_ = true;
};

}  // namespace l4::commands::pool
