// The folder with the keys of the wire: the aggregator's, the allow list, one file for each node.
//
//   aggregator.key   0600   public and secret key of the aggregator
//   allow-list       0600   lines of `name public-key`; what the aggregator reads
//   tokens           0600   lines of `role name sha256`: the tokens of HTTP
//   nodes/NAME.key   0600   what a node's agent needs; bring it there, then it may be deleted
//
// Used by `l4 keys`, `l4 local` and `l4 demo`. Everything is written beside its place and renamed,
// under a lock, so that readers see the old or the new state, and an error half way changes no
// list.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "aggregator/http/job_limit.h"
#include "common/base/error.h"
#include "common/wire/zmq/allow_list.h"

namespace l4::keyring {

class Keyring {
 public:
  explicit Keyring(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Makes the folder, the aggregator's key, the list, and a key for each node: all or none. Fails
  /// if there is an aggregator's key already.
  Result<void> init(const std::vector<std::string>& names = {}) const;
  /// Adds all or none. A name that is in the list already is an error; `replace` replaces its keys.
  Result<void> add(const std::vector<std::string>& names, bool replace) const;
  /// Revokes all or none: a name that is not in the list is an error. Also removes their key files.
  Result<void> revoke(const std::vector<std::string>& names) const;
  Result<wire::AllowList> list() const;
  /// Makes a token for HTTP; the file gets its hash. `jobs`: the jobs that it is limited to.
  Result<std::string> add_token(const std::string& name, const std::string& role,
                                const http::JobLimit& jobs = {}) const;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path allow_list() const { return folder_ / "allow-list"; }
  std::filesystem::path tokens() const { return folder_ / "tokens"; }
  std::filesystem::path aggregator_key() const { return folder_ / "aggregator.key"; }
  /// `*`, the fleet's, is called fleet.key.
  std::filesystem::path node_key(const std::string& name) const;

 private:
  std::filesystem::path folder_;
};

/// Writes the whole file beside its place and renames it; on an error the former content stays.
/// Mode 0600. `durable`: it is on the disk when this returns.
Result<void> write_private(const std::filesystem::path& file, const std::string& text,
                           bool durable);

/// Names of a file, one a line; empty lines and those that begin with # are skipped. An Error names
/// file and line.
Result<std::vector<std::string>> read_names(const std::filesystem::path& file);

}  // namespace l4::keyring
