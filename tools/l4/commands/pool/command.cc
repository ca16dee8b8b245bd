#include "tools/l4/commands/pool/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "aggregator/pool/run_json.h"
#include "aggregator/serve/json_object.h"
#include "aggregator/serve/utf8.h"
#include "common/http/url.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/ask/unknown_name.h"
#include "tools/l4/commands/pool/file.h"
#include "tools/l4/commands/pool/logs.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::pool {
namespace {

constexpr Millis kPoolTimeout{60'000};

const char* program_of(const PoolOptions& options) {
  using enum PoolOptions::Action;
  switch (options.action) {
    case list:
      return "l4 pool list";
    case show:
      return "l4 pool show";
    case add:
      return "l4 pool add";
    case drop:
      return "l4 pool drop";
    case export_runs:
      return "l4 pool export";
    case import_runs:
      return "l4 pool import";
    case outcome:
      break;
  }
  return "l4 outcome";
}

/// The command names a run or a job; if that is not found, the answer suggests others.
bool names_one(const PoolOptions& options) {
  using enum PoolOptions::Action;
  return options.action == show || options.action == drop || options.action == outcome;
}

/// The body of the answer, or the reason why there is none.
ask::Answer<std::string> exchange(const PoolOptions& options, ask::Method method,
                                  const std::string& path, const std::string& body) {
  const auto asked = ask::find_aggregator(options);
  if (!asked) return std::unexpected(asked.error());
  auto response = ask::send(*asked, method, path, body, kPoolTimeout);
  if (!response) return std::unexpected(response.error());
  if (response->status == 200) return std::move(response->body);
  ask::Failure failure = ask::failure_of(*asked, *response);
  if (names_one(options) && failure.is_not_found())
    return std::unexpected(options.action == PoolOptions::Action::outcome
                               ? ask::no_such_job(*asked, options.job)
                               : ask::no_such_run(*asked, options.run));
  const unsigned status = response->status;
  if (status == 400 || status == 404 || status == 409) failure.exit = terminal::kWrongUse;
  return std::unexpected(failure);
}

ask::Answer<std::string> all_runs(const PoolOptions& options) {
  const auto asked = ask::find_aggregator(options);
  if (!asked) return std::unexpected(asked.error());
  const std::string kind =
      options.kind.empty() ? "" : "?kind=" + http::percent_encoded(options.kind);
  return ask::fetch_list(*asked, "/api/v1/pool" + kind, "runs", kPoolTimeout);
}

int give_up(const PoolOptions& options, const ask::Failure& failure) {
  return terminal::fail(failure.error, failure.exit, program_of(options));
}

/// JSON as it came, or the text that `render` makes of it.
template <class Render>
int show_answer(const PoolOptions& options, const ask::Answer<std::string>& body, Render render) {
  if (!body) return give_up(options, body.error());
  const Result<std::string> text =
      options.format == "json" ? ask::tidied_json(*body) : Result<std::string>(render(*body));
  if (!text)
    return terminal::fail(
        {"what the aggregator answered: " + text.error().where, text.error().reason},
        terminal::kNothingRead, program_of(options));
  return terminal::write_text(*text, {}, program_of(options));
}

std::string day(TimeMs time) {
  return to_rfc3339(time).substr(0, 19) + "Z";
}

Result<std::string> render_list(const std::string& body) {
  const auto runs = l4::pool::read_runs(body, false);
  if (!runs) return std::unexpected(runs.error());
  if (runs->empty()) return "no healthy run is known yet\n";
  std::map<std::string, std::size_t> kinds;
  std::size_t width = 3;
  for (const l4::pool::Run& run : *runs) {
    ++kinds[run.kind];
    width = std::max(width, serve::harmless(run.id).size());
  }
  std::string text =
      fmt::format("{} {} of {} {} of job\n", runs->size(), runs->size() == 1 ? "run" : "runs",
                  kinds.size(), kinds.size() == 1 ? "kind" : "kinds");
  text += fmt::format("{:<13}  {:<{}}  {:<20}  {:>5}  {:>6}  {:>8}  {:>6}  {}\n", "kind", "run",
                      width, "ended", "nodes", "ranks", "lines", "events", "origin");
  for (const l4::pool::Run& run : *runs)
    text +=
        fmt::format("{:<13}  {:<{}}  {:<20}  {:>5}  {:>6}  {:>8}  {:>6}  {}\n",
                    serve::harmless(run.kind), serve::harmless(run.id), width, day(run.ended),
                    run.nodes, run.ranks, run.lines, run.events.size(), l4::pool::name(run.origin));
  return text;
}

Result<std::string> render_run(const std::string& body, std::size_t top) {
  auto run = l4::pool::read_run(body);
  if (!run) return std::unexpected(run.error());
  std::string text =
      fmt::format("{} · {} · {} nodes, {} ranks, {} lines · ended {} · by {}\n",
                  serve::harmless(run->id), serve::harmless(run->kind), run->nodes, run->ranks,
                  run->lines, day(run->ended), l4::pool::name(run->origin));
  for (const l4::pool::Pause& pause : run->pauses)
    text +=
        fmt::format("longest pause in {}{}: {}\n", l4::name(pause.stage),
                    pause.startup ? " before the first iteration" : "", to_human(pause.longest));
  std::ranges::stable_sort(run->events, std::greater<>{}, &l4::pool::Event::node_count_max);
  text += fmt::format("{:>10}  {:>6}  {:<7}  {}\n", "most/node", "nodes", "level", "template");
  for (std::size_t i = 0; i < std::min(top, run->events.size()); ++i) {
    const l4::pool::Event& event = run->events[i];
    text += fmt::format("{:>10}  {:>5.0f}%  {:<7}  {}\n", event.node_count_max,
                        100 * event.node_share, l4::name(event.level), serve::harmless(event.text));
  }
  if (run->events.size() > top)
    text += fmt::format("and {} more; --top shows them\n", run->events.size() - top);
  return text;
}

Result<std::string> render_outcome(const std::string& body) {
  auto answer = serve::JsonObject::read(body);
  if (!answer) return std::unexpected(answer.error());
  constexpr std::size_t kMost = 4'096;
  const auto text = [&](const char* name) {
    return serve::harmless(answer->text_or_none(name, kMost));
  };
  std::string shown = fmt::format("{} is a {}", text("job"), text("outcome"));
  if (const std::string before = text("before"); before == text("outcome"))
    shown += ", as was told before";
  shown += '\n';
  if (const std::string run = text("run"); !run.empty())
    shown += fmt::format("run {} is in the pool as {}\n", run, text("kind"));
  if (const std::string why = text("why_not"); !why.empty())
    shown += fmt::format("no run was added to the pool: {}\n", why);
  if (answer->flag_or("labelled", false)) shown += "its report is labelled by that, for 'l4 fit'\n";
  for (const std::string& run : answer->texts_or_none("removed", l4::pool::kRunsMax, kMost))
    shown += fmt::format("run {} has left the pool\n", serve::harmless(run));
  return shown;
}

/// Sends each run as a request of its own, since the size of a body is bounded.
class Sender {
 public:
  explicit Sender(const PoolOptions& options) : options_(options) {}

  /// Sends the run, and keeps the reason of a failure.
  Result<void> send(const l4::pool::Run& run) {
    const auto body = exchange(options_, ask::Method::post, "/api/v1/pool", l4::pool::to_json(run));
    if (!body) {
      failure_ = body.error();
      if (added_ > 0)
        failure_->error.reason += fmt::format("; {} runs before it were added", added_);
      return std::unexpected(failure_->error);
    }
    ++added_;
    if (options_.format == "json") std::cout << *body;
    return {};
  }
  int end() const {
    if (failure_) return give_up(options_, *failure_);
    if (options_.format != "json")
      std::cout << fmt::format("{} {} added\n", added_, added_ == 1 ? "run was" : "runs were");
    return terminal::finish_output(program_of(options_));
  }

 private:
  const PoolOptions& options_;
  std::size_t added_ = 0;
  std::optional<ask::Failure> failure_;
};

/// The whole file is checked before anything is sent.
int import_runs(const PoolOptions& options) {
  const auto file = PoolFile::open(options.path);
  if (!file) return terminal::fail(file.error(), terminal::kWrongUse, program_of(options));
  Sender sender(options);
  const auto checked = (*file)->each([](const l4::pool::Run&) { return Result<void>(); });
  if (!checked) return terminal::fail(checked.error(), terminal::kWrongUse, program_of(options));
  static_cast<void>((*file)->each([&](const l4::pool::Run& run) { return sender.send(run); }));
  return sender.end();
}

int add_logs(const PoolOptions& options) {
  auto read = read_healthy(options);
  if (!read) return give_up(options, read.error());
  Sender sender(options);
  static_cast<void>(sender.send(*read));
  return sender.end();
}

/// Page after page: a pool may be larger than one answer, and than memory.
int export_runs(const PoolOptions& options) {
  PoolWriter out(options.out);
  std::string next;
  do {
    std::string path = "/api/v1/pool?whole=true";
    if (!options.kind.empty()) path += "&kind=" + http::percent_encoded(options.kind);
    if (!next.empty()) path += "&after=" + http::percent_encoded(next);
    const auto body = exchange(options, ask::Method::get, path, {});
    if (!body) return give_up(options, body.error());
    const auto runs = l4::pool::read_runs(*body, true);
    const auto behind = runs ? ask::next_page(*body) : std::unexpected(runs.error());
    if (!behind)
      return terminal::fail(
          {"what the aggregator answered: " + behind.error().where, behind.error().reason},
          terminal::kNothingRead, program_of(options));
    for (const l4::pool::Run& run : *runs) out.append(run);
    next = runs->empty() ? std::string() : *behind;
  } while (!next.empty());
  return out.end(program_of(options));
}

int send_outcome(const PoolOptions& options) {
  serve::JsonWriter body;
  body.open('{').member("outcome", options.outcome);
  if (!options.note.empty()) body.member("note", options.note);
  body.close('}');
  const std::string path = "/api/v1/jobs/" + http::percent_encoded(options.job) + "/outcome";
  return show_answer(options, exchange(options, ask::Method::post, path, body.release()),
                     render_outcome);
}

}  // namespace

int run_pool(const PoolOptions& options) {
  using enum PoolOptions::Action;
  const std::string run_path = "/api/v1/pool/" + http::percent_encoded(options.run);
  switch (options.action) {
    case list:
      return show_answer(options, all_runs(options), render_list);
    case show:
      return show_answer(options, exchange(options, ask::Method::get, run_path, {}),
                         [&](const std::string& body) { return render_run(body, options.top); });
    case add:
      return add_logs(options);
    case drop:
      return show_answer(options, exchange(options, ask::Method::erase, run_path, {}),
                         [&](const std::string&) -> Result<std::string> {
                           return fmt::format("run {} was dropped\n", serve::harmless(options.run));
                         });
    case export_runs:
      return commands::pool::export_runs(options);
    case import_runs:
      return commands::pool::import_runs(options);
    case outcome:
      break;
  }
  return send_outcome(options);
}

}  // namespace l4::commands::pool
