// What this machine allows: rights of a user, ports, addresses.
//
// Flow: the checks of `l4 setup` ask here. Reads /proc and asks the name service, which may take
// seconds. AsUser changes the rights of the whole process: one at a time, while no other thread
// runs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4::commands::setup {

/// While it lives, files are opened with the rights of this user and its groups, if there is such a
/// user and we may become it; else with ours.
class AsUser {
 public:
  explicit AsUser(const std::string& name);
  ~AsUser();
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

  /// The user whose rights hold.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::optional<std::vector<gid_t>> groups_;  ///< ours; none: nothing was changed
  gid_t group_ = 0;
};

bool is_user(const std::string& name);

bool is_readable(const std::filesystem::path& file);
/// Whether the folder can be written, or be made where it is not there.
bool is_writable_folder(const std::filesystem::path& folder);

/// HOST and PORT of tcp://HOST:PORT or HOST:PORT; an IPv6 address stands in brackets.
struct HostPort {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
};
std::optional<HostPort> host_port_of(std::string_view text);

/// Who keeps the port from being used: "l4-aggregator (pid 71)". Empty: it is free. `host`: an
/// address, or empty for all.
struct PortUse {
  bool taken = false;
  std::string who;     ///< of a taken one
  std::string reason;  ///< why the port cannot be used though nobody has it; empty: it can
};
PortUse use_of_port(const std::string& host, std::uint16_t port);

/// The addresses that a name leads to.
Result<std::vector<std::string>> addresses_of(const std::string& host);
/// The addresses of this machine, loopback included.
std::vector<std::string> own_addresses();
bool is_loopback(std::string_view address);

std::string host_name();

}  // namespace l4::commands::setup
