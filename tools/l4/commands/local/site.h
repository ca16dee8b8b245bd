// The folder in which one `l4 local` keeps its state, and the two files by which other commands
// find and may ask it.
//
//   lock         held while it runs
//   token        the token of this run, 0600; tokens: its hash, for the HTTP server
//   client.toml  address and token, while it runs (ask/local_site.h)
//   agent/, aggregator/   the states of the two programs
//   agent.log, aggregator.log
//
// The folder has mode 0700 and belongs to one set of paths, so that jobs below other paths do not
// seem silent. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/folder_lock.h"

namespace l4::commands::local {

/// The folder for these paths below local_states(). Error: no state folder is known.
Result<std::filesystem::path> state_folder_for(const std::vector<std::string>& sources);

class Site {
 public:
  /// Makes and locks the folder, and makes a new token. Error: another `l4 local` follows the same
  /// paths, or the folder cannot be made or written.
  static Result<Site> open(const std::filesystem::path& folder);
  Site(Site&&) = default;
  Site& operator=(Site&&) = delete;
  ~Site();

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path tokens() const { return folder_ / "tokens"; }
  const std::string& token() const { return token_; }
  std::filesystem::path client_file() const;
  /// From now on other commands find the site.
  Result<void> publish(const std::string& address) const;

 private:
  Site(std::filesystem::path folder, FolderLock lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::filesystem::path folder_;
  FolderLock lock_;
  std::string token_;
};

}  // namespace l4::commands::local
