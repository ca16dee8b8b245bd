// The programs of a demo's site: one aggregator, and an agent for each node.
//
// Flow: Site has their settings -> start_aggregator -> Site::link -> start_agents -> ask whether
// one has ended. They are killed in the destructor: what they would save is thrown away. Used by
// the main thread, with which they end (process/child.h).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "tools/l4/commands/demo/site.h"
#include "tools/process/child.h"

namespace l4::commands::demo {

struct Programs {
  std::filesystem::path aggregator, agent;
};

/// l4-aggregator and l4-agent beside this program, else in PATH. Error: one is missing.
Result<Programs> find_programs();

/// The last lines of a program's log, for a message; empty if it has none.
std::string end_of_log(const std::filesystem::path& log);

class Crew {
 public:
  Crew(Programs programs, const Site& site) : programs_(std::move(programs)), site_(site) {}

  /// Waits until it listens. `go_on` is asked meanwhile; false gives up with an Error without
  /// reason.
  Result<Addresses> start_aggregator(const std::function<bool()>& go_on);
  Result<void> start_agents();
  /// Error: a program has ended, with the end of its log.
  Result<void> check();
  void end() { members_.clear(); }

 private:
  struct Member {
    std::string name;
    std::filesystem::path log;
    process::Child child;
  };

  Result<void> start(const std::string& name, const std::filesystem::path& program,
                     const std::filesystem::path& settings, const std::filesystem::path& log);

  Programs programs_;
  const Site& site_;
  std::vector<Member> members_;
};

}  // namespace l4::commands::demo
