// What an installed unit of systemd allows its program: its user, what it sees, what it may write.
//
// Flow: unit files and drop-ins, where systemd looks for them -> Unit -> the checks of `l4 setup`.
// Only the few settings that the shipped units use are read. Plain value.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace l4::commands::setup {

struct Unit {
  std::string name;            ///< "l4-agent"
  std::filesystem::path file;  ///< empty: not installed
  std::string user;
  std::filesystem::path config;  ///< that of --config in ExecStart
  bool private_tmp = false;      ///< has a /tmp and a /var/tmp of its own
  bool hides_homes = false;
  bool reads_all = false;                 ///< has the capability to read every file
  std::vector<std::string> capabilities;  ///< beyond those of its user: "CAP_SYSLOG"
  bool is_strict = false;                 ///< writes below `writable` alone
  std::vector<std::string> writable;
  std::string state;  ///< the folder that systemd makes for it; empty: none

  bool is_installed() const { return !file.empty(); }
  /// Why the program does not see this path, as a sentence with the next step; empty: it does.
  std::string hidden(const std::filesystem::path& path) const;
  bool may_write(const std::filesystem::path& path) const;
};

/// Where systemd looks for units of the system, the strongest first.
std::vector<std::filesystem::path> unit_folders();

Unit find_unit(const std::string& name, const std::vector<std::filesystem::path>& folders);

/// A command line that gives the program the unit's user and capabilities where systemd does not.
/// Empty where the unit has no user.
std::string without_systemd(const Unit& unit);

/// Whether systemd runs this machine, so that `systemctl` works.
bool is_systemd_here();

}  // namespace l4::commands::setup
