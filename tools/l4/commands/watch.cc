#include "tools/l4/commands/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "aggregator/serve/json_value.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/diagnose.h"
#include "tools/l4/commands/refreshed.h"
#include "tools/l4/commands/snapshot.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/screen.h"

namespace l4::commands {
namespace {

constexpr auto kWatchProgram = "l4 watch";

bool is_over(State state) {
  return state == State::finished || is_failure(state);
}

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// The report as text, with lists as long as the screen allows.
std::string fitted(const diagnose::Report& report, std::size_t room, serve::TextStyle style) {
  std::string text;
  for (; style.top >= 1; --style.top) {
    text = serve::to_text(report, style);
    if (lines_of(text) <= room) break;
  }
  return text;
}

int exit_of(const WatchOptions& options, const diagnose::Report& report) {
  return options.until_over && is_failure(report.verdict.state) ? terminal::kFailureFound
                                                                : terminal::kDone;
}

/// What is notable, without what changes while it lasts.
std::vector<std::string> subjects_of(const std::vector<diagnose::Notable>& notable) {
  std::vector<std::string> subjects;
  subjects.reserve(notable.size());
  for (const diagnose::Notable& one : notable)
    subjects.push_back(fmt::format("{} {} {} {}", one.kind, one.node.value_or(""),
                                   one.rank ? one.rank->value() : -1, one.phase.value_or("")));
  return subjects;
}

/// Prints each change of the verdict and of what is notable, until the job is over or the reader
/// goes away.
int watch_by_lines(const WatchOptions& options, const ask::Aggregator& asked,
                   Latest<diagnose::Report> latest) {
  using News = std::tuple<State, std::optional<TimeMs>, std::string, std::vector<std::string>>;
  std::optional<News> written_last;
  std::set<std::string> noted;  // subjects
  for (;;) {
    const diagnose::Verdict& verdict = latest.content.verdict;
    const News news{verdict.state, verdict.since, verdict.summary,
                    subjects_of(latest.content.notable)};
    if (!latest.failed && written_last != news) {
      written_last = news;
      if (options.format == "json") {
        const auto line = ask::tidied_json(serve::to_json(latest.content), serve::kOneLine);
        std::cout << line.value_or("{}\n");
      } else {
        std::cout << serve::harmless(fmt::format("{} {} {}: {}", to_rfc3339(latest.at), options.job,
                                                 name(verdict.state), verdict.summary))
                  << '\n';
      }
      for (std::size_t i = 0; i < latest.content.notable.size(); ++i)
        if (options.format != "json" && noted.insert(std::get<3>(news)[i]).second)
          std::cout << serve::harmless(fmt::format("{} {} notable: {}", to_rfc3339(latest.at),
                                                   options.job, latest.content.notable[i].text))
                    << '\n';
      if (const int written = terminal::finish_output(kWatchProgram); written != terminal::kDone)
        return written;
      if (options.until_over && is_over(verdict.state)) return exit_of(options, latest.content);
    }
    std::this_thread::sleep_for(std::chrono::seconds(options.every_s));
    latest.update(fetch_snapshot(asked, options.job, ""));
  }
}

}  // namespace

const char* const kWatchFooter =
    R"(q or Ctrl-C ends it. Where standard output is no terminal, a line is written each time the
verdict or what is notable changes; with --format json that line is the whole report.

Examples:
  l4 watch job-4711
  l4 watch job-4711 --until-over || notify-send "job-4711 failed"

Exit status:
  0   ended by you; with --until-over: the job finished
  2   wrong use, no such job, or output that cannot be written
  3   the aggregator did not answer the first time
  10  with --until-over: the job failed

Environment: as for 'l4 jobs')";

void add_watch(terminal::Options& to, WatchOptions& options) {
  ask::add_asking(to, options);
  to.format(options.format);
  add_job(to, options.job);
  to.flag("--until-over", options.until_over, "end when the job has failed or finished");
  add_every(to, options.every_s);
}

Result<void> check_watch(const WatchOptions& options) {
  if (auto wrong = ask::check_asking(options); !wrong) return wrong;
  return check_job(options.job);
}

int run_watch(const WatchOptions& options) {
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, kWatchProgram);
  Latest<diagnose::Report> latest;
  latest.update(fetch_snapshot(*asked, options.job, ""));
  if (latest.failed) return terminal::fail(latest.why.error, latest.why.exit, kWatchProgram);
  const auto screen = options.format == "json" ? nullptr : terminal::Screen::make();
  if (!screen) return watch_by_lines(options, *asked, std::move(latest));
  do {
    const serve::TextStyle style = terminal::style_of_output();
    const std::string head = screen_header(options.job, latest.at, latest.trouble(), style);
    const std::size_t used = std::min(lines_of(head), screen->height() - 1);
    screen->draw(head + fitted(latest.content, screen->height() - used, style));
    if (options.until_over && !latest.failed && is_over(latest.content.verdict.state))
      return exit_of(options, latest.content);
    if (screen->wait(std::chrono::seconds(options.every_s)) == terminal::Screen::Next::end)
      return terminal::kDone;
    latest.update(fetch_snapshot(*asked, options.job, ""));
  } while (true);
}

}  // namespace l4::commands
