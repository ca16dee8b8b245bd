// The settings, keys and token of a demo's site, below its folder.
//
//   keys/                of `l4 keys`: the aggregator's, and one for each agent
//   aggregator.toml      loopback, free ports, a token for every question
//   agent-N.toml         one for each node, in the order of the nodes
//   client.toml, token   for `l4`, as long as the site runs
//
// Flow: Site::make -> the aggregator starts and says its ports -> link -> the agents start. All
// files are for the user alone (mode 0600). No state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4::commands::demo {

/// What one agent follows.
struct Watched {
  std::string node;
  std::filesystem::path logs;
};

struct Addresses {
  std::string wire, http;  ///< tcp://..., http://...
};

/// The addresses in the aggregator's log; empty until it listens.
std::optional<Addresses> addresses_in(std::string_view log);

class Site {
 public:
  /// Makes keys, the token and the aggregator's settings. `job`: of logs whose path names none.
  static Result<Site> make(std::filesystem::path folder, std::string job,
                           std::vector<Watched> watched);
  /// Makes the settings of the agents and of `l4`.
  Result<void> link(const Addresses& addresses) const;

  const std::vector<Watched>& watched() const { return watched_; }
  const std::string& token() const { return token_; }
  std::filesystem::path aggregator_settings() const { return folder_ / "aggregator.toml"; }
  std::filesystem::path aggregator_log() const { return folder_ / "aggregator.log"; }
  std::filesystem::path agent_settings(std::size_t agent) const;
  std::filesystem::path agent_log(std::size_t agent) const;
  std::filesystem::path client_settings() const { return folder_ / "client.toml"; }
  std::filesystem::path token_file() const { return folder_ / "token"; }

 private:
  Site(std::filesystem::path folder, std::string job, std::vector<Watched> watched);
  /// The name of an agent and of its key.
  std::string name_of(std::size_t agent) const;

  std::filesystem::path folder_;
  std::string job_, token_;
  std::vector<Watched> watched_;
};

}  // namespace l4::commands::demo
