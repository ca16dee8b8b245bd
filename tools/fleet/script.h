// The script of a simulated fleet: its jobs, the faults that strike them, how bad its links are.
//
// Flow: a TOML file -> here -> JobPlan, Fleet, Judge. Strict: an unknown key or a value out of
// range is an Error with file, line and key. Times are seconds since the fleet's start. Plain
// values, no state. Bounds: 20,000 nodes, 64 ranks a node, 1,000 faults, a day.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::fleet {

enum class Kind : std::uint8_t {
  crash,    ///< a rank prints a traceback and exits with 1, the others are ended by SIGTERM
  stop,     ///< a rank is stopped by a signal, the others wait for it
  hang,     ///< all ranks stop printing, and the processes do not show why
  slow,     ///< the ranks of a node take longer, and all others wait for them
  lost,     ///< a node and its agent vanish without a word
  blind,    ///< no message of any agent gets through
  restart,  ///< the aggregator is killed and started again
};
std::string_view name(Kind kind);

struct Fault {
  Kind kind = Kind::crash;
  std::string job;          ///< empty: a fault of the fleet (blind, restart)
  std::int64_t at = 0;      ///< seconds
  std::int64_t lasts = 0;   ///< seconds until the job goes on or starts again; 0: never
  std::size_t node = 0;     ///< number in the job, from 0
  std::size_t rank = 0;     ///< number in the node, from 0
  std::int64_t factor = 2;  ///< slow: how many times as long
};

struct JobScript {
  std::string name;
  std::size_t nodes = 0, ranks = 0;
};

/// Random trouble of the messages on each link.
struct LinkTrouble {
  double loss = 0;         ///< share of messages that vanish
  Millis delay_most{0};    ///< each message is delayed by up to this time
  Millis breaks_every{0};  ///< average time until a link breaks; 0: never
};

/// The limits for finding faults, reconnecting and costs.
struct Limits {
  std::int64_t crash_s = 10, stop_s = 30, hang_s = 120, slow_s = 60, lost_s = 30;
  std::int64_t back_s = 60;          ///< time until all agents are back after a restart
  std::int64_t cpu_percent = 100;    ///< share of one core, user and system, over the whole run
  std::int64_t growth_percent = 10;  ///< memory from the third to the last quarter of the run
  std::int64_t of(Kind kind) const;
};

struct Script {
  std::uint64_t seed = 1;
  std::int64_t seconds = 60;
  std::vector<JobScript> jobs;
  std::vector<Fault> faults;  ///< by time
  LinkTrouble link;
  Limits limits;
  std::size_t nodes() const;
};

Result<Script> read_script(std::string_view text, const std::string& name);
Result<Script> load_script(const std::filesystem::path& file);

}  // namespace l4::fleet
