// The faults that engineers confirmed, on disk: one file each, in the form of the fault library.
//
// Flow: FaultBook opens this at the start and saves or drops one at a time. Once save() or drop()
// has answered, its change survives a kill and a loss of power: a file is written beside its place,
// made durable, renamed, and the folder made durable. ID.toml holds one entry, and the folder is a
// fault library by itself (`l4 diagnose --faults`). Broken files are reported and skipped; they
// stay where they are. One thread. Bounds: kFaultsMax files of kFileBytesMax.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/faults/fault.h"
#include "aggregator/store/files.h"

namespace l4::confirm {

class ConfirmedFaults {
 public:
  static constexpr std::size_t kFaultsMax = 10'000;
  static constexpr std::uint64_t kFileBytesMax = std::uint64_t{64} << 10U;

  /// Results of open().
  struct Opened {
    std::vector<Error> broken;  ///< files that were passed over, with file, line and key
  };

  ConfirmedFaults(store::Path folder, store::Files& files)
      : folder_(std::move(folder)), files_(&files) {}

  /// Makes the folder if needed, removes unfinished files, reads the others.
  Result<Opened> open();
  /// Stores a new fault, whose id must be free. After an error the fault is not stored.
  Result<void> save(const faults::Fault& fault);
  /// Error: no fault has this id, or its file cannot be removed.
  Result<void> drop(const std::string& id);

  /// By id.
  std::vector<faults::Fault> all() const;
  const faults::Fault* find(std::string_view id) const;
  /// Whether a file of this name exists, readable or not.
  bool is_taken(const std::string& id) const;
  std::size_t size() const { return faults_.size(); }
  const store::Path& folder() const { return folder_; }

 private:
  Result<void> make_folder();
  Result<faults::Fault> read(const std::string& name);
  Result<void> write(const store::Path& path, const std::string& text);

  store::Path folder_;
  store::Files* files_;
  std::map<std::string, faults::Fault, std::less<>> faults_;
  std::vector<std::string> broken_;  ///< names of files
};

}  // namespace l4::confirm
