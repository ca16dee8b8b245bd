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
#include "agent/pipeline/options.h"
#include "agent/pipeline/redaction.h"
#include "agent/ship/queue.h"
#include "common/base/config_table.h"
#include "common/base/error.h"
#include "common/drain/codes.h"

namespace l4::daemon {

struct Settings {
  std::string aggregator;     ///< tcp://HOST:PORT
  std::filesystem::path key;  ///< made by `l4 keys`
  std::string name;           ///< of the agent, where the key is a fleet's; empty: the host's

  std::string job, node;  ///< of logs that nothing else names
  std::optional<Rank> rank;
  std::optional<std::int32_t> local_rank, world_size;

  std::vector<std::string> sources, excludes;
  Millis old_after{std::chrono::hours{24}};

  std::filesystem::path state;  ///< folder for positions and spool
  ship::QueueOptions queue;

  pipeline::Options pipeline;
  Millis flush{500};
  Jobs::Bounds jobs;

  std::string metrics;  ///< ADDRESS:PORT that they are served at; empty: nowhere

  bool processes = true, kernel = true;
  host::Limits::Bounds limits;

  bool lines_on = true;  ///< raw lines may be asked for
  lines::Bounds lines;   ///< of one question

  std::filesystem::path frameworks;              ///< folder of the rule packs
  std::filesystem::path masks;                   ///< what `codes` was read from; empty: none
  std::vector<std::string> redactions;           ///< what `redaction` was made of
  std::unique_ptr<const drain::CodeList> codes;  ///< what `pipeline.drain.codes` points to
  std::unique_ptr<const pipeline::Redaction> redaction;
  std::unique_ptr<const pipeline::Redaction> secrets;  ///< null: they are not looked for

  NamedPaths named;  ///< where the config names what must be there
};

/// Error: where it stands (file:line: key) and what is wrong. `text` is as `file` would hold it.
Result<Settings> load_settings(const std::filesystem::path& file);

/// What differs between two and cannot change while the agent runs: names of keys.
std::vector<std::string> fixed_differences(const Settings& before, const Settings& after);

}  // namespace l4::daemon
