#include "tools/l4/commands/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <thread>
#include <tuple>

#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/live_view.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/screen.h"

namespace l4::commands {
namespace {

constexpr Millis kWatchTimeout{10'000};

using AskReport = std::function<ask::Answer<diagnose::Report>()>;

TimeMs now() {
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}

bool is_over(State state) {
  return state == State::finished || is_failure(state);
}

/// The line above each screen: who is asked, how fresh it is, how to leave.
std::string header(std::string_view what, TimeMs asked, const ask::Failure* failure,
                   const serve::TextStyle& style) {
  serve::Page page(style);
  const std::string time = to_rfc3339(asked).substr(11, 8);
  page.title({{std::string(what), serve::Tone::strong},
              {fmt::format("  as of {} UTC  ", time), serve::Tone::dim},
              {failure ? "no answer since, asked again" : "q ends",
               failure ? serve::Tone::uneasy : serve::Tone::dim}});
  if (failure) page.title({{serve::harmless(failure->error.text()), serve::Tone::uneasy}});
  page.gap();
  return page.take();
}

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

serve::TextStyle style_of_terminal() {
  serve::TextStyle style;
  style.color = terminal::is_color_wanted();
  style.width = terminal::width_of_output();
  return style;
}

/// With lists as long as the room allows.
std::string fitted(const diagnose::Report& report, std::size_t room, serve::TextStyle style) {
  std::string text;
  for (; style.top >= 1; --style.top) {
    text = serve::to_text(report, style);
    if (lines_of(text) <= room) break;
  }
  return text;
}

/// What is asked again and again, and how it was answered last.
template <class T>
struct Latest {
  T content;
  TimeMs at{};
  bool failed = false;  ///< then `why`
  ask::Failure why;

  const ask::Failure* trouble() const { return failed ? &why : nullptr; }
  void take(ask::Answer<T> answer) {
    failed = !answer;
    if (failed) {
      why = answer.error();
      return;
    }
    content = std::move(*answer);
    at = now();
  }
};

int exit_of(const LiveOptions& options, const diagnose::Report& report) {
  return options.until_over && is_failure(report.verdict.state) ? terminal::kFailureFound
                                                                : terminal::kDone;
}

/// Each change of the verdict, until the job is over or the reader goes away.
int watch_by_lines(const LiveOptions& options, const AskReport& ask,
                   Latest<diagnose::Report> latest) {
  using Told = std::tuple<State, std::optional<TimeMs>, std::string>;
  std::optional<Told> told;
  for (;;) {
    const diagnose::Verdict& verdict = latest.content.verdict;
    const Told news{verdict.state, verdict.since, verdict.summary};
    if (!latest.failed && told != news) {
      told = news;
      if (options.format == "json") {
        const auto line = ask::tidied_json(serve::to_json(latest.content), ask::kOneLine);
        std::cout << line.value_or("{}\n");
      } else {
        std::cout << serve::harmless(fmt::format("{} {} {}: {}", to_rfc3339(latest.at), options.job,
                                                 name(verdict.state), verdict.summary))
                  << '\n';
      }
      if (const int written = terminal::finish_output("l4 watch"); written != terminal::kDone)
        return written;
      if (options.until_over && is_over(verdict.state)) return exit_of(options, latest.content);
    }
    std::this_thread::sleep_for(std::chrono::seconds(options.every_s));
    latest.take(ask());
  }
}

/// All jobs, what is open, and who is connected.
struct Overview {
  std::string jobs, incidents, agents;  ///< the answers as they came
};

ask::Answer<Overview> ask_overview(const ask::Aggregator& asked) {
  Overview overview;
  struct Part {
    const char *path, *key;
    std::string* body;
  };
  for (const Part& part :
       {Part{"/api/v1/jobs", "jobs", &overview.jobs},
        Part{"/api/v1/incidents?open=true&count=1000", "incidents", &overview.incidents},
        Part{"/api/v1/agents", "agents", &overview.agents}}) {
    auto answer = ask::fetch_list(asked, part.path, part.key, kWatchTimeout);
    if (!answer) return std::unexpected(answer.error());
    *part.body = std::move(*answer);
  }
  return overview;
}

std::string agents_in_short(const ask::AgentList& list, const serve::TextStyle& style) {
  const auto count = [&](auto is) {
    return static_cast<std::size_t>(std::ranges::count_if(list.agents, is));
  };
  const std::size_t lost = count([](const ask::AgentRow& agent) { return agent.lost; });
  const std::size_t up = count([](const ask::AgentRow& agent) { return agent.connected; });
  serve::Page page(style);
  std::vector<serve::Span> spans{
      {serve::counted(list.agents.size(), "agent")},
      {fmt::format(" · {} connected", serve::grouped(up)), serve::Tone::dim}};
  if (lost > 0)
    spans.push_back({fmt::format(" · {} lost", serve::grouped(lost)), serve::Tone::bad});
  if (list.blind)
    spans.push_back({" · the aggregator is blind: look at its network", serve::Tone::bad});
  page.title(spans);
  page.gap();
  return page.take();
}

ask::Answer<std::string> to_text(const Overview& overview, const ask::Aggregator& asked,
                                 const serve::TextStyle& style) {
  const auto jobs = ask::read_jobs(overview.jobs);
  if (!jobs) return ask::misread(asked, jobs.error());
  const auto incidents = ask::read_incidents(overview.incidents);
  if (!incidents) return ask::misread(asked, incidents.error());
  const auto agents = ask::read_agents(overview.agents);
  if (!agents) return ask::misread(asked, agents.error());
  std::string text = agents_in_short(*agents, style);
  if (!incidents->incidents.empty()) text += commands::to_text(*incidents, now(), style) + "\n";
  return text + commands::to_text(*jobs, now(), style);
}

int end_with(const ask::Failure& failure, std::string_view program) {
  return terminal::fail(failure.error, failure.exit, program);
}

int top_once(const LiveOptions& options, const ask::Aggregator& asked, const Overview& overview) {
  if (options.format == "json") {
    const auto tidy =
        ask::tidied_json(fmt::format(R"({{"jobs":{},"incidents":{},"agents":{}}})", overview.jobs,
                                     overview.incidents, overview.agents));
    if (!tidy) return end_with(ask::misread(asked, tidy.error()).error(), "l4 top");
    return terminal::write_text(*tidy, {}, "l4 top");
  }
  const auto text = to_text(overview, asked, style_of_terminal());
  if (!text) return end_with(text.error(), "l4 top");
  return terminal::write_text(*text, {}, "l4 top");
}

}  // namespace

int run_watch(const LiveOptions& options, const AskReport& ask) {
  Latest<diagnose::Report> latest;
  latest.take(ask());
  if (latest.failed) return end_with(latest.why, "l4 watch");
  const auto screen = options.format == "json" ? nullptr : terminal::Screen::make();
  if (!screen) return watch_by_lines(options, ask, std::move(latest));
  do {
    const serve::TextStyle style = style_of_terminal();
    const std::string head = header(options.job, latest.at, latest.trouble(), style);
    const std::size_t used = std::min(lines_of(head), screen->height() - 1);
    screen->draw(head + fitted(latest.content, screen->height() - used, style));
    if (options.until_over && !latest.failed && is_over(latest.content.verdict.state))
      return exit_of(options, latest.content);
    if (screen->wait(std::chrono::seconds(options.every_s)) == terminal::Screen::Next::end)
      return terminal::kDone;
    latest.take(ask());
  } while (true);
}

int run_top(const LiveOptions& options, const ask::Aggregator& asked) {
  Latest<Overview> latest;
  latest.take(ask_overview(asked));
  if (latest.failed) return end_with(latest.why, "l4 top");
  const auto screen = options.format == "json" ? nullptr : terminal::Screen::make();
  if (!screen) return top_once(options, asked, latest.content);
  do {
    const serve::TextStyle style = style_of_terminal();
    auto text = to_text(latest.content, asked, style);
    if (!text) latest.take(std::unexpected(text.error()));
    screen->draw(header(asked.address, latest.at, latest.trouble(), style) + text.value_or(""));
    if (screen->wait(std::chrono::seconds(options.every_s)) == terminal::Screen::Next::end)
      return terminal::kDone;
    latest.take(ask_overview(asked));
  } while (true);
}

}  // namespace l4::commands
