#include "tools/l4/commands/demo/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <string_view>
#include <utility>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/demo/play.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::demo {
namespace {

constexpr auto kProgram = "l4 demo";

constexpr auto kFooter =
    R"(An aggregator and an agent for each node run on this machine, on free ports of loopback, with
keys made for the occasion; everything is in a private folder below $TMPDIR. A recorded job is
written again there as if it were now, and what L4 makes of it is shown: the lines, the alert when
it fires, the report. At the end nothing is left. A demo that was killed leaves its folder; the
next one removes it.

Logs of your own are written by the times that they print; lines without a time go with their
neighbours, and a log ends when its file was written last, if the file still says so (cp -p keeps
it). Printed times are moved to now. With -o json all of this goes to standard error, and one
document at the end holds the alert, how soon it came, and the report.

Examples:
  l4 demo
  l4 demo --keep                   then ask it: l4 watch, l4 lines, l4 snapshot
  l4 demo --logs /logs/job-4711 --speed 20

Exit status:
  0   the report was shown, after an alert or without a failure
  1   no alert came, though the job failed
  2   wrong use, logs that cannot be read, or output that cannot be written
  3   something could not start, or ended by itself)";

void add_demo(terminal::Options& to, DemoOptions& options) {
  to.value("--logs", options.logs, "DIR",
           "logs of a job of your own, a folder for each node\n"
           "(default: the sample that comes with l4)");
  to.value("--speed", options.speed, "X", "so many times as fast as it was (default: 1)");
  to.flag("--keep", options.keep, "leave it running until Ctrl-C, to be asked");
  to.format(options.format);
}

Result<void> check_demo(const DemoOptions& options) {
  if (!std::isfinite(options.speed) || options.speed < kSlowest || options.speed > kFastest)
    return std::unexpected(Error{"--speed", fmt::format("{:g} is not from {:g} to {:g}",
                                                        options.speed, kSlowest, kFastest)});
  std::error_code ignored;
  if (!options.logs.empty() && !std::filesystem::is_directory(options.logs, ignored))
    return std::unexpected(Error{"--logs: " + options.logs.string(), "is no folder"});
  if (options.keep && options.format == "json")
    return std::unexpected(Error{"--keep", "does not go with -o json, which is for programs"});
  return {};
}

/// The sentence, then the lines of a log, if there are some.
int tell(const Error& error, int exit) {
  const std::size_t end = error.reason.find('\n');
  terminal::fail({error.where, error.reason.substr(0, end)}, exit, kProgram);
  for (std::size_t at = end; at != std::string::npos;) {
    const std::size_t next = error.reason.find('\n', at + 1);
    std::cerr << "  " << serve::harmless(error.reason.substr(at + 1, next - at - 1)) << '\n';
    at = next;
  }
  return exit;
}

std::string json_of(const Shown& shown) {
  serve::JsonWriter json;
  json.open('{').member("schema", "l4.demo/1").key("alert");
  if (shown.alert) {
    const ask::ChangeRow& alert = *shown.alert;
    json.open('{').member("at", alert.at).member("incident", alert.incident);
    json.member("job", alert.job).member("state", alert.state).member("summary", alert.summary);
    json.member("node", alert.first_node).member("rank", alert.first_rank).close('}');
  } else {
    json.raw("null");
  }
  json.key("delays").open('[');
  for (const Delay& delay : shown.delays)
    json.open('{').member("ms", delay.span.count()).member("since", delay.since).close('}');
  json.close(']').key("report").raw(serve::to_json(shown.report));
  return json.close('}').release();
}

int show_json(const Shown& shown) {
  const auto tidy = ask::tidied_json(json_of(shown));
  return tidy ? terminal::write_text(*tidy, {}, kProgram)
              : terminal::fail(tidy.error(), terminal::kWrongUse, kProgram);
}

int run_demo(const DemoOptions& options) {
  const bool json = options.format == "json";
  Signals signals;
  Display display(json ? STDERR_FILENO : STDOUT_FILENO);
  Play play(options, display, signals);
  const auto shown = play.run();
  display.show("");
  const bool interrupted = options.keep || (!shown && !shown.error().error);
  if (interrupted && display.is_live()) display.say("\n");  // behind the ^C
  if (const auto clean = play.clean_up(); !clean)
    terminal::fail(clean.error(), terminal::kDone, kProgram);
  else if (play.has_started())
    display.say("Everything is gone: the programs have ended, and their folder is removed.\n");
  if (!shown) {
    const Stop& stop = shown.error();
    return stop.error ? tell(*stop.error, stop.exit) : stop.exit;
  }
  const int written = json ? show_json(*shown) : terminal::kDone;
  if (written != terminal::kDone) return written;
  const bool silent = !shown->alert && is_failure(shown->report.verdict.state);
  return silent ? terminal::kFindings : terminal::kDone;
}

}  // namespace

terminal::Command demo_command() {
  return terminal::command<DemoOptions>("demo", "the live system here, while a recorded job breaks",
                                        kFooter, add_demo, run_demo,
                                        [](DemoOptions& options) { return check_demo(options); });
}

}  // namespace l4::commands::demo
