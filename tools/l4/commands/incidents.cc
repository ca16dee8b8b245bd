#include "tools/l4/commands/incidents.h"

#include "common/http/url.h"
#include "tools/l4/ask/unknown_name.h"
#include "tools/l4/commands/follow.h"
#include "tools/l4/commands/listing.h"

namespace l4::commands {
namespace {

constexpr auto kIncidentsProgram = "l4 incidents";

ask::Answer<diagnose::Report> fetch_incident(const IncidentsOptions& options,
                                             const ask::Aggregator& asked) {
  const std::string& id = options.incident;
  const auto body =
      ask::fetch(asked, "/api/v1/incidents/" + http::percent_encoded(id), Millis{10'000});
  if (!body && body.error().is_not_found())
    return std::unexpected(ask::no_such_incident(asked, id));
  if (!body) return std::unexpected(body.error());
  const auto text = ask::report_of_incident(*body, options.opening);
  if (!text) return ask::misread(asked, text.error());
  return parse_report(asked, *text);
}

/// True if the aggregator does not watch this job and knows no incident of it.
bool has_no_incidents(const ask::Aggregator& asked, const std::string& name) {
  if (ask::is_watched_job(asked, name)) return false;
  const auto body = ask::fetch(
      asked, "/api/v1/incidents?count=1&job=" + http::percent_encoded(name), Millis{10'000});
  const auto past = body ? ask::read_names(*body, "incidents", "id") : std::unexpected(Error{});
  return past && past->empty();
}

int list_incidents(const IncidentsOptions& options, const ask::Aggregator& asked) {
  if (!options.job.empty() && has_no_incidents(asked, options.job)) {
    const ask::Failure unknown = ask::no_such_job(asked, options.job);
    return terminal::fail(unknown.error, unknown.exit, kIncidentsProgram);
  }
  std::string path = "/api/v1/incidents";
  if (!options.job.empty()) path += "?job=" + http::percent_encoded(options.job);
  if (options.open) path += options.job.empty() ? "?open=true" : "&open=true";
  return show_list(options.format, asked,
                   ask::fetch_list(asked, path, "incidents", kListTimeout, options.count),
                   ask::read_incidents, kIncidentsProgram);
}

}  // namespace

const char* const kIncidentsFooter =
    R"(Open ones stand first, then the newest. With the id of one its report is shown: the newest
one that was made while it was open, or with --opening the first. With --follow nothing of the
past is listed: each incident that opens, changes or is resolved from now on is a line (with
-o json an object, schema l4.alert/1), and so is it when agents fall silent; the aggregator is
asked again where the connection ends.

Examples:
  l4 incidents
  l4 incidents --job job-4711 --open
  l4 incidents --follow -o json | while read -r change; do ...; done
  l4 incidents job-4711.0.1795363200
  l4 incidents job-4711.0.1795363200 --format json --out incident.json

Exit status:
  0   the aggregator answered
  2   wrong use, no such incident, or output that cannot be written
  3   the aggregator did not answer
  10  with --exit-code: the job of this incident failed

Environment: as for 'l4 jobs')";

void add_incidents(terminal::Options& to, IncidentsOptions& options) {
  ask::add_asking(to, options);
  to.format(options.format);
  to.value("ID", options.incident, "", "this one, with its report");
  to.value("--job", options.job, "JOB", "of this job");
  to.flag("--open", options.open, "only those that are open");
  to.flag("--follow", options.follow, "each change from now on, a line each, until Ctrl-C");
  to.flag("--opening", options.opening, "the report as it was at its opening");
  to.value("--count", options.count, "N", "so many at most (default: 100)").between(1, 1'000'000);
  add_report_options(to, options);
}

Result<void> check_incidents(const IncidentsOptions& options) {
  if (auto wrong = ask::check_asking(options); !wrong) return wrong;
  if (options.opening && options.incident.empty())
    return std::unexpected(Error{"--opening", "say the ID of the incident"});
  if (options.follow &&
      (!options.incident.empty() || options.open || !options.diff.empty() || !options.out.empty()))
    return std::unexpected(Error{"--follow",
                                 "goes with --job, and not with ID, --open, --diff "
                                 "or --out"});
  if (!options.html.empty() && options.incident.empty())
    return std::unexpected(Error{"--html", "say the ID of the incident"});
  return check_report_options(options);
}

int run_incidents(const IncidentsOptions& options) {
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, kIncidentsProgram);
  if (!options.incident.empty()) {
    const auto report = fetch_incident(options, *asked);
    Beside beside;
    if (report && !options.html.empty())
      beside = fetch_beside(*asked, *report, options.incident, kIncidentsProgram);
    return show_report(options, report, kIncidentsProgram, read_report, beside);
  }
  if (options.follow) return run_follow(*asked, options.job, options.format);
  return list_incidents(options, *asked);
}

}  // namespace l4::commands
