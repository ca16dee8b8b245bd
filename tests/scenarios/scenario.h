// A scenario file: a made-up job, what happens to it, and what the report must say.
// Flow: read_scenario() parses a *.scenario file; tests/scenarios/play.h writes its log files, runs
// the real pipeline over them and checks the expectations. README.md beside it describes the
// format. Plain values; a bad file gives an Error whose `where` is file:line.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/diagnose.h"
#include "common/base/error.h"

namespace l4::scenario {

/// How ranks print an iteration.
enum class Style : std::uint8_t { megatron, last_rank, plain, own };
enum class Times : std::uint8_t { all, says, none };  ///< which lines carry a time
enum class Layout : std::uint8_t { files, torchrun };

struct Head {
  int nodes = 4;
  int ranks = 2;  ///< per node
  Style style = Style::megatron;
  Times times = Times::all;
  Layout layout = Layout::files;
  bool real_mtimes = false;  ///< else all files look like a copy
  Millis pace{1000};
  std::uint64_t seed = 1;

  int all_ranks() const { return nodes * ranks; }
};

/// A rank from 0, or the launcher of node n as -1 - n.
using Speaker = int;

enum class Verb : std::uint8_t { iterates, says, prints, raises, stops };

struct Step {
  Verb verb = Verb::says;
  Millis from{0}, to{0}, each{0};  ///< each 0: once
  std::vector<Speaker> who;
  int attempt = 0;
  Level level = Level::info;
  std::string text;  ///< {k} iteration, {rank}, {node}, {n} times said, {x} random digits
  std::optional<Millis> forward;  ///< the rank's own forward pass takes this long
  std::int64_t first_iteration = 1;
};

using Run = std::vector<Step>;

enum class Weight : std::uint8_t {
  must,
  may,         ///< for a detector that does not reach the verdict yet: only reported
  known_wrong  ///< right, but the program does not do it yet: only reported
};

struct Expectation {
  int line = 0;
  Weight weight = Weight::must;
  std::string text;
  /// Violations in a report; empty if there is none.
  std::function<std::optional<std::string>(const diagnose::Report&)> check;
};

struct Scenario {
  std::filesystem::path path;
  std::string name;
  Head head;
  Run job;
  std::vector<Run> history;
  std::optional<Millis> as_of;
  bool healthy_twin = false;  ///< its name ends in -healthy
  std::vector<Expectation> expectations;
};

Result<Scenario> read_scenario(const std::filesystem::path& path);

/// A word of a scenario line; "quoted" ones may hold blanks, \n and \".
struct Word {
  std::string text;
  bool quoted = false;
};

/// Reads what follows `expect`; the Error has only a reason.
Result<Expectation> read_expectation(const std::vector<Word>& words);

/// "61s", "250ms", "10m".
std::optional<Millis> read_duration(const std::string& text);

/// Time of a scenario's 0s.
TimeMs start_time();

}  // namespace l4::scenario
