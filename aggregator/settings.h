// Settings of l4-aggregator: what its config file says, else the defaults.
// The file is TOML (config/aggregator.toml shows every key) and read strictly: an unknown key or a
// value out of range is an error with file, line and key. Paths in it are relative to its folder.
// Read at the start and again at SIGHUP, which applies `[alerts]`, `[log]`, the certificate of
// `[http]`, and the floors, device_wait_s and confidence of `[detect]`; `after_restart` names the
// other changes. A table of scores (`[detect] scoring_table`) holds from a start on.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"
#include "common/base/error.h"
#include "common/config/config_table.h"

namespace l4::diagnose::clues {
struct Table;
}

namespace l4::aggregator {

struct Settings {
  live::Options live;
  http::ServerOptions http;
  bool http_on = true;
  std::filesystem::path tokens;    ///< file of tokens; empty: everyone may ask
  std::vector<std::string> names;  ///< names of this host, for a server without tokens: own_host.h
  std::string endpoint = "tcp://127.0.0.1:7430";         ///< endpoint of the wire
  std::filesystem::path key, allow_list;                 ///< both must be given
  std::filesystem::path faults;                          ///< folder; empty: the shipped library
  std::filesystem::path scoring_table;                   ///< empty: the shipped one
  std::shared_ptr<const diagnose::clues::Table> scores;  ///< what stands in it; null: as shipped
  std::string log_level = "info";
  NamedPaths named;                          ///< places in the config that name required files
  std::map<std::string, std::string> fixed;  ///< by `table.key`: settings that stay until a restart
};

/// The settings of an empty config.
Settings default_settings();
/// Derives what follows from other settings or from this host (threads, fault library), once all
/// are set. `config` names the config in errors.
Result<void> complete(Settings& settings, const std::string& config);
/// The settings of a config that says nothing of keys, as `l4 local` takes them. Error: it has a
/// table that l4 local fills by itself, [wire] or [http].
Result<Settings> load_settings_without_wire(const std::filesystem::path& file);
/// An error of a table that it names has file, line and key of that table.
Result<Settings> load_settings(const std::filesystem::path& file);
/// For the start of a program, before any thread judges: puts the numbers of the table that the
/// config names in force, and reads the config by them.
Result<Settings> start_settings(const std::filesystem::path& file);
/// The same for `l4 local`.
Result<Settings> start_settings_without_wire(const std::filesystem::path& file);

/// Keys, as `[table] key`, whose new values count only after a restart.
std::vector<std::string> after_restart(const Settings& running, const Settings& read);

/// The fault library that is shipped: L4_CONFIG_DIR, beside the program, in the source tree,
/// /etc/l4.
std::filesystem::path shipped_faults();

}  // namespace l4::aggregator
