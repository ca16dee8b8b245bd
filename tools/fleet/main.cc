// l4-fleet: thousands of simulated agents that speak to a real aggregator, with scripted faults.
//
// Command line, signals and exit status; all else is Fleet. Ends with 0 if every fault and nothing
// else was found in time, with 1 if not, with 2 if the script could not be played.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "tools/fleet/fleet.h"

namespace {

using namespace l4;

constexpr auto kHelp =
    "usage: l4-fleet --script FILE --keys FOLDER --endpoint tcp://HOST:PORT --http URL\n"
    "                (--pid PID | --aggregator PROGRAM --config FILE --log FILE) [--seed N]\n"
    "       l4-fleet --script FILE --check\n"
    "\n"
    "Plays a fleet of agents to an aggregator over its real wire, does to it what the script says\n"
    "(tools/fleet/example.toml shows all of it), and holds what the aggregator found against it.\n"
    "\n"
    "  --keys FOLDER         as `l4 keys` made it: nodes/NODE.key, or nodes/fleet.key for all\n"
    "  --pid PID             the aggregator that runs, for its CPU time and memory\n"
    "  --aggregator PROGRAM  starts it itself, so that the script can kill it\n"
    "  --log FILE            where that one's log goes; it is read for nodes that are called lost\n"
    "  --seed N              in place of the script's\n"
    "  --check               reads the script, says what is wrong, and ends\n";

int wrong_use(const std::string& what) {
  std::fprintf(stderr, "l4-fleet: %s\n%s", what.c_str(), kHelp);
  return 2;
}

int fail(const Error& error) {
  std::fprintf(stderr, "l4-fleet: %s\n", error.text().c_str());
  return 2;
}

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

int play(const fleet::Script& script, std::map<std::string, std::string>& given) {
  const bool ours = given.contains("--aggregator");
  const std::filesystem::path log = given["--log"];
  auto aggregator =
      ours ? std::make_unique<fleet::AggregatorProcess>(
                 fleet::AggregatorProcess::Options{given["--aggregator"], given["--config"], log})
           : std::make_unique<fleet::AggregatorProcess>(std::atoi(given["--pid"].c_str()));
  if (ours)
    if (const auto started = aggregator->start(); !started) return fail(started.error());
  say("seed " + std::to_string(script.seed) + ", " + std::to_string(script.nodes()) + " nodes, " +
      std::to_string(script.seconds) + " s");
  auto outcome = [&] {
    fleet::Fleet fleet(script, {given["--endpoint"], given["--http"], given["--keys"], say},
                       *aggregator);
    return fleet.play();
  }();
  if (ours) aggregator->stop();
  if (!outcome) return fail(outcome.error());
  if (ours) {
    outcome->lost_said = fleet::lost_in(log);
    outcome->log_read = true;
  }
  for (const std::string& row : fleet::rows_of(script, *outcome)) say(row);
  const auto wrong = fleet::complaints(script, *outcome);
  for (const std::string& what : wrong) say("WRONG   " + what);
  say(wrong.empty() ? "all is as the script has it" : "not as the script has it");
  return wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::map<std::string, std::string> given;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (option == "--check") {
      check = true;
      continue;
    }
    constexpr std::string_view kOptions =
        " --script --keys --endpoint --http --pid --aggregator --config --log --seed ";
    if (!kOptions.contains(' ' + option + ' ')) return wrong_use("unknown option " + option);
    if (i + 1 == argc) return wrong_use(option + " wants a value");
    given[option] = argv[++i];
  }
  if (!given.contains("--script")) return wrong_use("--script FILE must be given");
  auto script = fleet::load_script(given["--script"]);
  if (!script) return fail(script.error());
  if (given.contains("--seed")) script->seed = std::strtoull(given["--seed"].c_str(), nullptr, 10);
  if (check) {
    say("the script can be played");
    return 0;
  }
  for (const char* needed : {"--keys", "--endpoint", "--http"})
    if (!given.contains(needed)) return wrong_use(std::string(needed) + " must be given");
  if (given.contains("--aggregator")) {
    if (!given.contains("--config") || !given.contains("--log"))
      return wrong_use("--aggregator needs --config and --log");
  } else if (!given.contains("--pid")) {
    return wrong_use("--pid or --aggregator must be given");
  }
  return play(*script, given);
}
