// The paths to read for the paths that the user gives: archives are unpacked, standard input is
// spooled to a file.
//
// Place in the flow: command line -> Inputs -> discover. Owns the private folder and thereby every
// unpacked file, so it must live until the last line was recalled. Make it before any thread (see
// temp_folder.h). An archive that cannot be unpacked becomes a warning if other input is left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/wire/batch.h"
#include "offline/offline.h"
#include "offline/temp_folder.h"

namespace l4::offline {

class Inputs {
 public:
  /// Makes the private folder if one of the paths needs it. `all` is every path of the command
  /// line.
  static Result<Inputs> make(const std::vector<std::filesystem::path>& all,
                             std::uint64_t bytes_max);

  /// Paths to read for those given. Counts bytes in `progress`, which is set back to 0 at the end.
  /// Error if nothing is left.
  Result<std::vector<std::filesystem::path>> resolve(
      const std::vector<std::filesystem::path>& given, std::vector<wire::Warning>& warnings,
      Progress& progress);

  /// Empty if nothing had to be unpacked.
  std::filesystem::path private_folder() const;

 private:
  /// Bytes that may still be unpacked.
  std::uint64_t room() const;
  Result<std::filesystem::path> one(const std::filesystem::path& given,
                                    std::vector<wire::Warning>& warnings, Progress& progress);
  Result<std::filesystem::path> spool(std::vector<wire::Warning>& warnings, Progress& progress);
  Result<std::filesystem::path> open_up(const std::filesystem::path& archive,
                                        const std::string& name, const std::string& stem,
                                        std::vector<wire::Warning>& warnings, Progress& progress);

  std::unique_ptr<TempFolder> folder_;
  std::uint64_t bytes_max_ = 0;
};

}  // namespace l4::offline
