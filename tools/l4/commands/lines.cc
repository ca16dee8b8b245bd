#include "tools/l4/commands/lines.h"

#include <fmt/format.h>

#include <utility>

#include "common/http/url.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/ask/unknown_name.h"
#include "tools/l4/commands/lines_view.h"
#include "tools/l4/commands/snapshot.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

std::string lines_path(const LinesOptions& options) {
  std::string path =
      fmt::format("/api/v1/jobs/{}/lines?context={}&limit={}", http::percent_encoded(options.job),
                  options.context, options.limit);
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) path += fmt::format("&{}={}", key, http::percent_encoded(value));
  };
  add("template", options.template_id);
  add("node", options.node);
  add("rank", options.rank);
  add("around", options.around);
  return path;
}

}  // namespace

const char* const kLinesFooter =
    R"(The agents read the lines on their nodes, rotated and packed files (.gz, .zst) too, and blot
secrets out there. With --template: lines of it, the newest; else with --around the first line at
or behind that time; else the end of each log. --template, --node and --rank may be combined. A
sign > stands before the lines that were asked for, the others are their context. What is gone,
cannot be reached or was left out is said at the end. The aggregator logs who asks.

Examples:
  l4 lines job-4711 --rank 24
  l4 lines job-4711 --node node-03 --around 2026-11-20T15:54:42Z --context 20
  l4 lines job-4711 --template 00c5ab12f4de7790 --limit 50 -o json

Exit status:
  0   the aggregator answered
  2   wrong use, no such job, node, rank or template, or output that cannot be written
  3   the aggregator did not answer
  10  with --exit-code: something is missing

Environment: as for 'l4 jobs')";

void add_lines(terminal::Options& to, LinesOptions& options) {
  ask::add_asking(to, options);
  to.format(options.format);
  add_job(to, options.job);
  to.value("--template", options.template_id, "ID", "lines of this template; see a report");
  to.value("--node", options.node, "NODE", "lines of this node");
  to.value("--rank", options.rank, "RANK", "lines of this rank");
  to.value("--around", options.around, "TIME", "near this time, such as 2026-11-20T15:54:42Z");
  to.value("--context", options.context, "N", "lines before and behind each (default: 5)")
      .between(0, 100);
  to.value("--limit", options.limit, "N", "so many at most (default: 200)").between(1, 10'000);
  to.value("--out", options.out, "FILE", "write them here and not to standard output");
  to.flag("--exit-code", options.exit_code, "end with 10 if something is missing");
}

Result<void> check_lines(const LinesOptions& options) {
  if (auto wrong = ask::check_asking(options); !wrong) return wrong;
  if (auto wrong = check_job(options.job); !wrong) return wrong;
  if (options.template_id.empty() && options.node.empty() && options.rank.empty())
    return std::unexpected(Error{"", "say which lines: --template, --node or --rank"});
  return terminal::check_writable("--out", options.out);
}

int run_lines(const LinesOptions& options) {
  constexpr auto kProgram = "l4 lines";
  constexpr Millis kTimeout{60'000};
  const auto give_up = [&](const ask::Failure& why) {
    return terminal::fail(why.error, why.exit, kProgram);
  };
  const auto asked = ask::find_aggregator(options);
  if (!asked) return give_up(asked.error());
  const auto body = ask::fetch(*asked, lines_path(options), kTimeout);
  if (!body) {
    ask::Failure why = body.error();
    if (why.is_not_found() && !ask::is_watched_job(*asked, options.job))
      why = ask::no_such_job(*asked, options.job);
    else if (why.status == 404 || why.status == 400)
      why.exit = terminal::kWrongUse;
    return give_up(why);
  }
  const auto list = ask::read_line_list(*body);
  if (!list) return give_up(ask::misread(*asked, list.error()).error());
  std::string text = to_text(*list, {.color = options.out.empty() && terminal::is_color_wanted()});
  if (options.format == "json") {
    auto tidy = ask::tidied_json(*body);
    if (!tidy) return give_up(ask::misread(*asked, tidy.error()).error());
    text = std::move(*tidy);
  }
  if (const int written = terminal::write_text(text, options.out, kProgram);
      written != terminal::kDone)
    return written;
  return options.exit_code && !list->missing.empty() ? terminal::kFailureFound : terminal::kDone;
}

}  // namespace l4::commands
