// Settings of `l4-agent`: config/agent.toml shows every key with unit, default and bounds.
//
// Read strictly: an unknown key, a wrong type or a value out of its bounds is an error with file,
// line and key. Paths in it are relative to its folder. Plain values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/daemon/jobs.h"
#include "agent/host/limits.h"
#include "agent/lines/task.h"
#include "agent/nic/nic_watch.h"
#include "agent/pipeline/options.h"
#include "agent/pipeline/redaction.h"
#include "agent/ship/queue.h"
#include "common/base/error.h"
#include "common/config/config_table.h"
#include "common/drain/codes.h"

namespace l4::daemon {

struct Settings {
  std::string aggregator;     ///< tcp://HOST:PORT
  std::filesystem::path key;  ///< made by `l4 keys`
  std::string name;           ///< the agent's name if the key is a fleet's; empty: the host name

  std::string job, node;  ///< for logs without a named job or node
  std::optional<Rank> rank;
  std::optional<std::int32_t> local_rank, world_size;

  std::vector<std::string> sources, excludes;
  Millis old_after{std::chrono::hours{24}};

  std::filesystem::path state;  ///< folder for positions and spool
  ship::QueueOptions queue;

  pipeline::Options pipeline;
  Millis flush{500};
  Jobs::Bounds jobs;

  std::string metrics;  ///< ADDRESS:PORT of the metrics page; empty: none

  bool processes = true, kernel = true;
  host::Limits::Bounds limits;

  bool nics_on = true;  ///< counters of network cards are read
  nic::NicWatch::Options nics;

  bool lines_on = true;  ///< raw lines may be asked for
  lines::Bounds lines;   ///< bounds of one question

  std::filesystem::path frameworks;              ///< folder of the rule packs
  std::filesystem::path masks;                   ///< file of `codes`; empty: none
  std::vector<std::string> redactions;           ///< sources of `redaction`
  std::unique_ptr<const drain::CodeList> codes;  ///< target of `pipeline.drain.codes`
  std::unique_ptr<const pipeline::Redaction> redaction;
  std::unique_ptr<const pipeline::Redaction> secrets;  ///< known secrets; null: not redacted

  NamedPaths named;  ///< lines of the config that name files
};

/// The settings of an empty config; sources are still missing.
Settings default_settings();
/// Derives what follows from other settings (codes, spool, rule packs), once all are set. `config`
/// names the config in errors.
Result<void> complete(Settings& settings, const std::string& config);

/// Error: file:line: key, and what is wrong.
Result<Settings> load_settings(const std::filesystem::path& file);

/// Keys that differ between the two settings and cannot change while the agent runs.
std::vector<std::string> fixed_differences(const Settings& before, const Settings& after);

}  // namespace l4::daemon
