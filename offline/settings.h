// Settings of `l4 diagnose` and `l4 inspect`: the defaults, and over them the values of `--config`.
//
// The file is TOML (config/diagnose.toml shows every key) and read strictly: an unknown key or a
// value out of range is an error with file, line and key. Paths in it are relative to its folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "agent/node_agent.h"
#include "aggregator/detect/hang/silence.h"
#include "common/base/error.h"
#include "common/drain/codes.h"
#include "offline/offline.h"

namespace l4::offline {

struct Settings {
  agent::Options agent;
  Shares shares;
  detect::hang::Options hang;
  std::uint64_t archive_bytes_max = 200'000'000'000;
  std::filesystem::path frameworks;  ///< folder of the rule packs
  std::filesystem::path faults;      ///< folder of the fault library
  /// The list that `agent.drain.codes` points to, if it is set.
  std::unique_ptr<const drain::CodeList> codes;
};

/// Loads `file` over the defaults; an empty path gives the defaults. Error: file, line and key.
Result<Settings> load_settings(const std::filesystem::path& file);

}  // namespace l4::offline
