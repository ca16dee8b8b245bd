#include "tools/l4/commands/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/live_view.h"
#include "tools/l4/commands/refreshed.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/screen.h"

namespace l4::commands {
namespace {

constexpr Millis kTopTimeout{10'000};
constexpr auto kTopProgram = "l4 top";

/// All jobs, open incidents, and connected agents.
struct Overview {
  std::string jobs, incidents, agents;  ///< the answers as they came
};

ask::Answer<Overview> ask_overview(const ask::Aggregator& asked) {
  Overview overview;
  struct ListRequest {
    const char *path, *key;
    std::string* body;
  };
  for (const ListRequest& list :
       {ListRequest{"/api/v1/jobs", "jobs", &overview.jobs},
        ListRequest{"/api/v1/incidents?open=true&count=1000", "incidents", &overview.incidents},
        ListRequest{"/api/v1/agents", "agents", &overview.agents}}) {
    auto answer = ask::fetch_list(asked, list.path, list.key, kTopTimeout);
    if (!answer) return std::unexpected(answer.error());
    *list.body = std::move(*answer);
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
  return page.release();
}

ask::Answer<std::string> to_text(const Overview& overview, const ask::Aggregator& asked,
                                 const serve::TextStyle& style) {
  const auto jobs = ask::read_jobs(overview.jobs);
  if (!jobs) return ask::misread(asked, jobs.error());
  const auto incidents = ask::read_incidents(overview.incidents);
  if (!incidents) return ask::misread(asked, incidents.error());
  const auto agents = ask::read_agents(overview.agents);
  if (!agents) return ask::misread(asked, agents.error());
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  std::string text = agents_in_short(*agents, style);
  if (!incidents->incidents.empty()) text += commands::to_text(*incidents, now, style) + "\n";
  return text + commands::to_text(*jobs, now, style);
}

int give_up(const ask::Failure& failure) {
  return terminal::fail(failure.error, failure.exit, kTopProgram);
}

int top_once(const TopOptions& options, const ask::Aggregator& asked, const Overview& overview) {
  if (options.format == "json") {
    const auto tidy =
        ask::tidied_json(fmt::format(R"({{"jobs":{},"incidents":{},"agents":{}}})", overview.jobs,
                                     overview.incidents, overview.agents));
    if (!tidy) return give_up(ask::misread(asked, tidy.error()).error());
    return terminal::write_text(*tidy, {}, kTopProgram);
  }
  const auto text = to_text(overview, asked, terminal::style_of_output());
  if (!text) return give_up(text.error());
  return terminal::write_text(*text, {}, kTopProgram);
}

}  // namespace

const char* const kTopFooter =
    R"(Agents in short, open incidents, then all jobs, the ones that need a look first. q or Ctrl-C
ends it. Where standard output is no terminal, it is written once.

Exit status:
  0   the aggregator answered
  2   wrong use, or output that cannot be written
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

void add_top(terminal::Options& to, TopOptions& options) {
  ask::add_asking(to, options);
  to.format(options.format);
  add_every(to, options.every_s);
}

int run_top(const TopOptions& options) {
  const auto found = ask::find_aggregator(options);
  if (!found) return give_up(found.error());
  const ask::Aggregator& asked = *found;
  Latest<Overview> latest;
  latest.update(ask_overview(asked));
  if (latest.failed) return give_up(latest.why);
  const auto screen = options.format == "json" ? nullptr : terminal::Screen::make();
  if (!screen) return top_once(options, asked, latest.content);
  do {
    const serve::TextStyle style = terminal::style_of_output();
    auto text = to_text(latest.content, asked, style);
    if (!text) latest.update(std::unexpected(text.error()));
    screen->draw(screen_header(asked.address, latest.at, latest.trouble(), style) +
                 text.value_or(""));
    if (screen->wait(std::chrono::seconds(options.every_s)) == terminal::Screen::Next::end)
      return terminal::kDone;
    latest.update(ask_overview(asked));
  } while (true);
}

}  // namespace l4::commands
