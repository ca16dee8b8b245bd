#include "tools/l4/commands/quiet.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <utility>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/utf8.h"
#include "common/http/url.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/ask/unknown_name.h"
#include "tools/l4/commands/listing.h"

namespace l4::commands {
namespace {

using Action = QuietOptions::Action;

constexpr Millis kQuietTimeout{30'000};

constexpr auto kQuietExit =
    R"(Exit status:
  0   done
  2   wrong use, nothing of this name, or refused by the aggregator
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

constexpr auto kAckFooter =
    R"(Says that you look after an incident: its changes are no longer sent to the sinks of alerts,
its end is. Another person is refused until it is taken back with --undo, which anybody may do; what
has changed meanwhile is sent then. The name of the token says who you are.

Examples:
  l4 ack job-4711.0.1795363200 --note "the switch is being replaced"
  l4 ack job-4711.0.1795363200 --undo)";

constexpr auto kMaintenanceAddFooter =
    R"(Incidents of these jobs, and those in which these nodes are suspected first, are recorded,
and no sink is told until the time is over. What is still open then is sent.

Examples:
  l4 maintenance add --node 'rack-7-*' --for 4h --why "new switch"
  l4 maintenance add --job 'test-*' --until 2026-12-01T18:00:00Z --why "tests of the new image")";

constexpr auto kMaintenanceEndFooter = R"(ID as 'l4 maintenance list' names it.)";

const char* program_of(const QuietOptions& options) {
  switch (options.action) {
    case Action::ack:
      return "l4 ack";
    case Action::add:
      return "l4 maintenance add";
    case Action::end:
      return "l4 maintenance end";
    case Action::list:
      break;
  }
  return "l4 maintenance list";
}

struct Request {
  ask::Method method = ask::Method::post;
  std::string path, body;
};

Request request_of(const QuietOptions& options) {
  if (options.action == Action::end)
    return {ask::Method::erase,
            "/api/v1/maintenance/" + http::percent_encoded(options.maintenance),
            {}};
  serve::JsonWriter body;
  body.open('{');
  if (options.action == Action::ack) {
    const std::string path =
        "/api/v1/incidents/" + http::percent_encoded(options.incident) + "/acknowledgement";
    if (options.undo) return {ask::Method::erase, path, {}};
    if (!options.note.empty()) body.member("note", options.note);
    return {ask::Method::post, path, body.close('}').release()};
  }
  if (!options.job.empty()) body.member("job", options.job);
  if (!options.node.empty()) body.member("node", options.node);
  std::string until = options.until;
  if (const auto lasts = parse_duration(options.lasts); until.empty() && lasts)
    until = to_rfc3339(std::chrono::floor<Millis>(std::chrono::system_clock::now()) + *lasts);
  body.member("until", until).member("why", options.why).member("unseen", options.unseen);
  return {ask::Method::post, "/api/v1/maintenance", body.close('}').release()};
}

/// The body of the answer, or the reason why there is none.
ask::Answer<std::string> exchange(const QuietOptions& options, const ask::Aggregator& asked) {
  const Request request = request_of(options);
  auto response = ask::send(asked, request.method, request.path, request.body, kQuietTimeout);
  if (!response) return std::unexpected(response.error());
  if (response->status == 200) return std::move(response->body);
  ask::Failure failure = ask::failure_of(asked, *response);
  if (options.action == Action::ack && failure.is_not_found() && !options.undo)
    return std::unexpected(ask::no_such_incident(asked, options.incident));
  const unsigned status = response->status;
  if (status == 400 || status == 404 || status == 409) failure.exit = terminal::kWrongUse;
  return std::unexpected(failure);
}

std::string minute(TimeMs time) {
  constexpr std::size_t kMinutes = 16;
  std::string text = to_rfc3339(time).substr(0, kMinutes);
  text[10] = ' ';
  return text + " UTC";
}

std::string text_of(const ask::IncidentRow& row) {
  if (row.acknowledged_by.empty())
    return fmt::format("nobody has incident {} now\n", serve::harmless(row.id));
  return fmt::format("{} has incident {}{}{}\n", serve::harmless(row.acknowledged_by),
                     serve::harmless(row.id), row.acknowledged_note.empty() ? "" : ": ",
                     serve::harmless(row.acknowledged_note));
}

std::string text_of(const ask::MaintenanceRow& row) {
  const std::string what = fmt::format("{}  {}s called {}", serve::harmless(row.id),
                                       serve::harmless(row.kind), serve::harmless(row.pattern));
  const std::string held = row.incidents == 0 ? "" : fmt::format(", {} held back", row.incidents);
  if (row.active)
    return fmt::format("{}: silent until {}, by {}: {}{}\n", what, minute(row.until),
                       serve::harmless(row.who), serve::harmless(row.why), held);
  return fmt::format("{}: over since {}{}, begun by {}: {}{}\n", what,
                     minute(row.ended.value_or(row.until)),
                     row.ended_by.empty() ? "" : ", ended by " + serve::harmless(row.ended_by),
                     serve::harmless(row.who), serve::harmless(row.why), held);
}

std::string text_of(const std::vector<ask::MaintenanceRow>& rows) {
  if (rows.empty()) return "nothing is in maintenance\n";
  std::string text;
  for (const ask::MaintenanceRow& row : rows) text += text_of(row);
  return text;
}

template <class Row>
int show(const QuietOptions& options, const ask::Aggregator& asked, const std::string& body,
         const Result<Row>& row) {
  const auto tidy = ask::tidied_json(body);
  if (!row || !tidy) {
    const ask::Failure why = ask::misread(asked, !row ? row.error() : tidy.error()).error();
    return terminal::fail(why.error, why.exit, program_of(options));
  }
  return terminal::write_text(options.format == "json" ? *tidy : text_of(*row), {},
                              program_of(options));
}

void add_shared(terminal::Options& to, QuietOptions& options, Action action) {
  options.action = action;
  ask::add_asking(to, options);
  to.format(options.format);
}

void add_ack(terminal::Options& to, QuietOptions& options) {
  add_shared(to, options, Action::ack);
  to.value("INCIDENT", options.incident, "", "its id; see 'l4 incidents'").required();
  to.value("--note", options.note, "TEXT", "what you do about it");
  to.flag("--undo", options.undo, "take it back");
}

void add_begin(terminal::Options& to, QuietOptions& options) {
  add_shared(to, options, Action::add);
  to.value("--job", options.job, "PATTERN", "jobs of these names, as a shell matches them");
  to.value("--node", options.node, "PATTERN", "nodes of these names");
  to.value("--until", options.until, "TIME", "with its zone: 2026-12-01T18:00:00Z");
  to.value("--for", options.lasts, "DURATION", "from now on: 90s, 30m, 4h or 2d");
  to.value("--why", options.why, "TEXT", "the reason, which everybody sees").required();
  to.flag("--unseen", options.unseen, "also if no such job or node is known yet");
}

void add_maintenance_list(terminal::Options& to, QuietOptions& options) {
  add_shared(to, options, Action::list);
  to.flag("--over", options.over, "also those that are over");
}

void add_end(terminal::Options& to, QuietOptions& options) {
  add_shared(to, options, Action::end);
  to.value("ID", options.maintenance, "", "see 'l4 maintenance list'").required();
}

Result<void> check_quiet(const QuietOptions& options) {
  if (auto wrong = ask::check_asking(options); !wrong) return wrong;
  const auto refuse = [](const char* option, std::string why) -> Result<void> {
    return std::unexpected(Error{option, std::move(why)});
  };
  if (options.action == Action::ack && options.undo && !options.note.empty())
    return refuse("--undo", "takes no --note");
  if (options.action != Action::add) return {};
  if (options.job.empty() == options.node.empty()) return refuse("", "say either --job or --node");
  if (options.until.empty() == options.lasts.empty())
    return refuse("", "say either --until or --for");
  if (!options.lasts.empty())
    if (const auto lasts = parse_duration(options.lasts); !lasts)
      return std::unexpected(lasts.error());
  return {};
}

terminal::Command quiet_row(const char* name, const char* about, const char* footer,
                            void (*add)(terminal::Options&, QuietOptions&)) {
  const std::string whole =
      *footer == '\0' ? kQuietExit : fmt::format("{}\n\n{}", footer, kQuietExit);
  return terminal::command(name, about, whole, add, run_quiet, check_quiet);
}

}  // namespace

Result<Millis> parse_duration(const std::string& text) {
  const auto wrong = [&] {
    return std::unexpected(Error{"--for", "must be a duration such as 90s, 30m, 4h or 2d"});
  };
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, count);
  if (failed != std::errc() || count == 0 || end - at != 1) return wrong();
  switch (*at) {
    case 's':
      return std::chrono::seconds(count);
    case 'm':
      return std::chrono::minutes(count);
    case 'h':
      return std::chrono::hours(count);
    case 'd':
      return std::chrono::days(count);
    default:
      return wrong();
  }
}

terminal::Command ack_command() {
  return quiet_row("ack", "say that you look after an incident", kAckFooter, add_ack);
}

terminal::Command maintenance_command() {
  return terminal::command_group(
      "maintenance", "jobs and nodes about which nobody is alerted: add, list, end",
      "'l4 maintenance COMMAND --help' says more about a command.",
      {quiet_row("add", "silence jobs or nodes for a time", kMaintenanceAddFooter, add_begin),
       quiet_row("list", "what is silent, until when, by whom and why", "", add_maintenance_list),
       quiet_row("end", "end one before its time", kMaintenanceEndFooter, add_end)});
}

int run_quiet(const QuietOptions& options) {
  const auto give_up = [&](const ask::Failure& why) {
    return terminal::fail(why.error, why.exit, program_of(options));
  };
  const auto asked = ask::find_aggregator(options);
  if (!asked) return give_up(asked.error());
  const auto body =
      options.action == Action::list
          ? ask::fetch_list(*asked,
                            options.over ? "/api/v1/maintenance?over=true" : "/api/v1/maintenance",
                            "maintenance", kQuietTimeout)
          : exchange(options, *asked);
  if (!body) return give_up(body.error());
  if (options.action == Action::list)
    return show(options, *asked, *body, ask::read_maintenances(*body));
  if (options.action == Action::ack) return show(options, *asked, *body, ask::read_incident(*body));
  return show(options, *asked, *body, ask::read_maintenance(*body));
}

}  // namespace l4::commands
