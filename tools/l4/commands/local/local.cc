#include "tools/l4/commands/local/local.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <iostream>
#include <system_error>
#include <utility>

#include "agent/tail/source_survey.h"
#include "agent/tail/sources.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/utf8.h"
#include "common/base/nearest.h"
#include "common/base/thread.h"
#include "tools/l4/commands/local/pair.h"
#include "tools/l4/commands/local/site.h"
#include "tools/l4/commands/local/story.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::local {
namespace {

namespace fs = std::filesystem;

constexpr auto kProgram = "l4 local";

constexpr auto kFooter =
    R"(Follows the logs below these paths, and writes what happens to their jobs. While it runs, 'l4
jobs', 'l4 watch', 'l4 snapshot', 'l4 lines' and the others ask it without further options; nobody
else on this machine may. Ctrl-C ends it, and the next start with the same paths goes on where it
was. A pattern stands in quotes, so that files that appear later are followed, too.

Examples:
  l4 local /logs/job-4711
  l4 local /scratch/me/runs '/tmp/torchelastic_*'
  nohup l4 local ~/runs > l4.out &          goes on after you log out
  l4 local ~/runs -o json                   each change as a line of JSON, for programs

Exit status:
  0   ended by you
  2   wrong use: a path that does not exist, or that another 'l4 local' follows already
  3   it could not start or go on

Environment:
  XDG_STATE_HOME  where the state is kept, in l4/local (default: ~/.local/state)
  L4_CONFIG_DIR   folder of rule packs and faults, where they are not beside the program)";

/// Signals are blocked in all threads, so that `next_signal` alone receives them. A SIGHUP that is
/// ignored, as nohup does, stays so.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  struct sigaction hangup{};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// The next signal, or 0 if none comes in time.
int next_signal(const sigset_t& signals, Millis most) {
  const timespec wait{most.count() / 1000, (most.count() % 1000) * 1'000'000};
  return std::max(sigtimedwait(&signals, nullptr, &wait), 0);
}

/// What stands at a source now: how many logs, or what stands nearest.
std::string survey_of(const tail::SurveyedSource& source, TimeMs now) {
  std::string text = fmt::format("  {}: ", source.pattern);
  if (source.files == 0)
    return text +
           (source.hint.empty() ? "no log yet; those that appear are followed" : source.hint);
  const Millis age = std::max(now - source.written, Millis{0});
  text += fmt::format("{}, the newest written {} ago", serve::counted(source.files, "log"),
                      serve::brief(age));
  if (age > daemon::Settings{}.old_after)
    text += "; logs as old as that are not followed, 'l4 diagnose' reads them";
  if (source.closed > 0)
    text += fmt::format("; {} may not be read, for example {}", source.closed, source.first_closed);
  return text;
}

std::string opening_of(const LocalOptions& options, const Site& site, const std::string& address,
                       const std::vector<std::string>& sources) {
  std::string ask = "l4 jobs";
  if (!options.state.empty())
    ask = fmt::format("L4_CLIENT={} {}", site.client_file().string(), ask);
  std::string text = "Follows\n";
  const auto add = [&text](const std::string& line) { text += serve::harmless(line) + '\n'; };
  const TimeMs now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  if (const auto surveyed = tail::survey_sources(sources, {}))
    for (const tail::SurveyedSource& source : *surveyed) add(survey_of(source, now));
  add(fmt::format("Ask from another terminal: {}, l4 watch JOB, l4 lines JOB", ask));
  add(fmt::format("In a browser: {}/ with the token in {}", address,
                  (site.folder() / "token").string()));
  add(fmt::format("Its own log: {}", (site.folder() / "agent.log").string()));
  return text + "Ctrl-C ends it; the next start goes on from there.\n\n";
}

/// Serves until a signal comes, the reader of standard output goes away, or the agent fails.
int run_until_signal(const LocalOptions& options, const sigset_t& signals, const Site& site,
                     Pair& pair) {
  constexpr Millis kLook{250};
  std::atomic<int> written{terminal::kDone};
  const serve::TextStyle style{.color = terminal::is_color_wanted(),
                               .width = terminal::width_of_output()};
  Story story(style, [] { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); });
  const bool json = options.format == "json";
  const ask::Aggregator asked{pair.address(), site.token()};
  std::jthread teller = start_thread("l4-story", [&] {
    follow(asked, [&](const ask::StreamedEvent& event) {
      std::cout << (json ? json_of(event) : story.text_of(event));
      written = terminal::finish_output(kProgram);
      return written == terminal::kDone;
    });
  });
  while (next_signal(signals, kLook) == 0 && written == terminal::kDone && !pair.has_failed()) {
  }
  const std::vector<std::string> troubles = pair.troubles();
  pair.stop();  // ends the stream, so the thread can be joined
  teller.join();
  if (pair.has_failed())
    return terminal::fail({site.folder().string(), "the agent has ended; agent.log says why"},
                          terminal::kNothingRead, kProgram);
  if (!troubles.empty())
    return terminal::fail(
        {site.folder().string(),
         fmt::format("not all is saved: {}; the logs are read again from what is, "
                     "at the next start",
                     fmt::join(troubles, "; "))},
        terminal::kNothingRead, kProgram);
  if (written == terminal::kDone && !json) std::cout << "\nAll is saved.\n";
  return written != terminal::kDone ? written.load() : terminal::finish_output(kProgram);
}

int run(const LocalOptions& options) {
  const auto fail = [](const Error& error, int exit) {
    return terminal::fail(error, exit, kProgram);
  };
  const auto sources = sources_of(options.paths, fs::current_path());
  if (!sources) return fail(sources.error(), terminal::kWrongUse);
  const auto folder = options.state.empty() ? state_folder_for(*sources)
                                            : Result<fs::path>(fs::absolute(options.state));
  if (!folder) return fail(folder.error(), terminal::kWrongUse);
  const sigset_t signals = block_signals();
  auto site = Site::open(*folder);
  if (!site) return fail(site.error(), terminal::kWrongUse);
  auto pair = Pair::start({*sources, site->folder(), site->tokens(), options.config,
                           static_cast<std::uint16_t>(options.port), !options.no_processes});
  if (!pair) return fail(pair.error(), terminal::kNothingRead);
  if (const auto published = site->publish((*pair)->address()); !published)
    return fail(published.error(), terminal::kNothingRead);
  if (options.format != "json")
    std::cout << opening_of(options, *site, (*pair)->address(), *sources);
  if (const int written = terminal::finish_output(kProgram); written != terminal::kDone)
    return written;
  return run_until_signal(options, signals, *site, **pair);
}

void add(terminal::Options& to, LocalOptions& options) {
  to.value("PATH", options.paths, "", "folders, files or patterns of logs").required();
  to.value("--state", options.state, "FOLDER",
           "where the state is kept; then say L4_CLIENT to ask");
  to.value("--port", options.port, "N", "port of HTTP on 127.0.0.1 (default: any free one)")
      .between(0, 65'535);
  to.value("--config", options.config, "FILE",
           "other settings: [detect], [alerts] and more of aggregator.toml");
  to.format(options.format);
  to.flag("--no-processes", options.no_processes,
          "do not look at the processes that write the logs");
}

}  // namespace

Result<std::vector<std::string>> sources_of(const std::vector<std::string>& paths,
                                            const fs::path& from) {
  std::vector<std::string> sources;  // each once: they name the state folder
  for (const std::string& path : paths) {
    if (path.empty()) return std::unexpected(Error{"", "a PATH is empty"});
    std::string source = tail::normal_path((from / path).string());
    std::error_code failed;
    if (source.find_first_of("*?[") == std::string::npos && !fs::exists(source, failed)) {
      const fs::path parent = fs::path(source).parent_path();
      std::vector<std::string> names;
      for (fs::directory_iterator at(parent, failed), end; !failed && at != end;
           at.increment(failed))
        names.push_back(at->path().filename().string());
      const std::string near = nearest_word(fs::path(source).filename().string(), names);
      return std::unexpected(Error{
          path, near.empty() ? "does not exist; a pattern in quotes may name what comes later"
                             : "does not exist; did you mean " + (parent / near).string() + "?"});
    }
    if (const auto good = tail::Sources::compile({source}, {}); !good)
      return std::unexpected(Error{path, good.error().text()});
    if (std::ranges::find(sources, source) == sources.end()) sources.push_back(std::move(source));
  }
  return sources;
}

terminal::Command local_command() {
  return terminal::command<LocalOptions>("local", "follow logs on this machine, without any setup",
                                         kFooter, add, run);
}

}  // namespace l4::commands::local
