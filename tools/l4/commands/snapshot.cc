#include "tools/l4/commands/snapshot.h"

#include <fmt/format.h>

#include <utility>

#include "aggregator/serve/utf8.h"
#include "common/http/url.h"
#include "tools/l4/ask/unknown_name.h"
#include "tools/l4/commands/compared.h"
#include "tools/l4/commands/listing.h"
#include "tools/l4/terminal/exit.h"

namespace l4::commands {
namespace {

constexpr Millis kSnapshotTimeout{60'000};
constexpr auto kSnapshotProgram = "l4 snapshot";

std::string job_path(const std::string& job, std::string_view rest) {
  return fmt::format("/api/v1/jobs/{}/{}", http::percent_encoded(job), rest);
}

/// True if the aggregator does not watch this job and has no stored report of it.
bool has_no_reports(const ask::Aggregator& asked, const std::string& job) {
  if (ask::is_watched_job(asked, job)) return false;
  const auto body = ask::fetch(asked, job_path(job, "snapshots?count=1"), kListTimeout);
  const auto rows = body ? ask::read_snapshots(*body) : std::unexpected(Error{});
  return rows ? rows->empty() : body.error().is_not_found();
}

/// The report as of a time, or a stored report. On an error the aggregator's sentence says what is
/// wrong with the id or the time, or that nothing is known of it.
ask::Answer<diagnose::Report> fetch_at(const ask::Aggregator& asked, const std::string& job,
                                       const std::string& at) {
  const auto body = ask::fetch(asked, job_path(job, "snapshot?at=" + http::percent_encoded(at)),
                               kSnapshotTimeout);
  if (body) return parse_report(asked, *body);
  ask::Failure why = body.error();
  const bool is_id = at.starts_with('s');
  if (why.is_not_found() && !is_id && has_no_reports(asked, job))
    return std::unexpected(ask::no_such_job(asked, job));
  if (why.status == 400 || why.status == 404) why.exit = terminal::kWrongUse;
  return std::unexpected(std::move(why));
}

/// Stores the present report and returns its row.
ask::Answer<std::string> store_snapshot(const SnapshotOptions& options,
                                        const ask::Aggregator& asked) {
  const auto response = ask::send(asked, ask::Method::post, job_path(options.job, "snapshots"),
                                  "{}", kSnapshotTimeout);
  if (!response) return std::unexpected(response.error());
  if (response->status == 404) return std::unexpected(ask::no_such_job(asked, options.job));
  if (response->status != 200) return std::unexpected(ask::failure_of(asked, *response));
  const auto row = ask::read_snapshot(response->body);
  if (!row) return ask::misread(asked, row.error());
  if (options.format != "json") return serve::harmless(row->id) + "\n";
  auto tidy = ask::tidied_json(response->body);
  if (!tidy) return ask::misread(asked, tidy.error());
  return std::move(*tidy);
}

/// The open incident of the job, if the report is the one of now; empty: none.
std::string open_incident(const SnapshotOptions& options, const ask::Aggregator& asked) {
  if (!options.at.empty()) return {};
  const auto body =
      ask::fetch(asked, "/api/v1/jobs/" + http::percent_encoded(options.job), kSnapshotTimeout);
  const auto job = body ? ask::read_job(*body) : std::unexpected(Error{});
  return job ? job->incident : std::string();
}

/// Gets the report that --diff names, from a file or the aggregator.
ask::Answer<diagnose::Report> read_before(const SnapshotOptions& options,
                                          const ask::Aggregator& asked) {
  const Compared with = compared_with(options.diff, options.job);
  if (!with.file.empty()) return read_report(with.file);
  auto report = fetch_snapshot(asked, with.job, with.at);
  if (report) return report;
  ask::Failure why = report.error();
  why.error.where = why.error.where.empty() ? "--diff" : "--diff: " + why.error.where;
  return std::unexpected(std::move(why));
}

}  // namespace

const char* const kSnapshotFooter =
    R"(The report is the one that 'l4 diagnose' would make of the same lines. --at TIME shows it as
the job stood then, by the aggregator's clock, as far back as its journal goes. Reports are also
stored, whenever an incident opens and by --store, for longer; --at ID shows one of those. What
--diff names came before: a time or ID of this job, another job (JOB, JOB@TIME, JOB@ID), or a file
that was written with -o json, which 'l4 show FILE' reads anywhere.

Examples:
  l4 snapshot job-4711
  l4 snapshot job-4711 --list
  l4 snapshot job-4711 --at 2026-11-20T15:54:42Z -o json --out before.json
  l4 snapshot job-4711 --diff 2026-11-20T15:54:42Z
  l4 snapshot job-4711 --at 2026-11-20T15:54:42Z --diff s1795190022000
  l4 snapshot job-4711 --diff job-4710
  l4 snapshot job-4711 --diff before.json

Exit status:
  0   here is the report
  2   wrong use, no such job, nothing known of that time, or output that cannot be written
  3   the aggregator did not answer, or was busy
  10  with --exit-code: the job failed

Environment: as for 'l4 jobs')";

void add_job(terminal::Options& to, std::string& job) {
  to.value("JOB", job, "", "its name; see 'l4 jobs'").required();
}

Result<void> check_job(const std::string& job) {
  if (job.empty() || job == "." || job == "..")
    return std::unexpected(Error{"", "say which JOB; 'l4 jobs' names them"});
  return {};
}

void add_snapshot(terminal::Options& to, SnapshotOptions& options) {
  ask::add_asking(to, options);
  to.format(options.format);
  add_job(to, options.job);
  to.value("--at", options.at, "TIME|ID", "as it stood at this time, or the stored one of this id");
  to.flag("--list", options.list, "those that are stored");
  to.flag("--store", options.store, "store the one of now, and name it");
  add_report_options(to, options, "TIME|ID|JOB|FILE");
}

Result<void> check_snapshot(const SnapshotOptions& options) {
  if (auto wrong = ask::check_asking(options); !wrong) return wrong;
  if (auto wrong = check_job(options.job); !wrong) return wrong;
  if ((options.list || options.store) &&
      (!options.at.empty() || !options.diff.empty() || !options.out.empty() ||
       !options.html.empty() || (options.list && options.store)))
    return std::unexpected(
        Error{options.list ? "--list" : "--store", "stands alone: it shows no report"});
  return check_report_options(options);
}

ask::Answer<diagnose::Report> fetch_snapshot(const ask::Aggregator& asked, const std::string& job,
                                             const std::string& at) {
  if (!at.empty()) return fetch_at(asked, job, at);
  const auto body = ask::fetch(asked, job_path(job, "snapshot"), kSnapshotTimeout);
  if (body) return parse_report(asked, *body);
  if (body.error().is_not_found()) return std::unexpected(ask::no_such_job(asked, job));
  return std::unexpected(body.error());
}

int run_snapshot(const SnapshotOptions& options) {
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, kSnapshotProgram);
  if (options.store) {
    const auto text = store_snapshot(options, *asked);
    if (!text) return terminal::fail(text.error().error, text.error().exit, kSnapshotProgram);
    return terminal::write_text(*text, {}, kSnapshotProgram);
  }
  if (options.list)
    return show_list(
        options.format, *asked,
        ask::fetch(*asked, job_path(options.job, "snapshots?count=1000"), kListTimeout),
        ask::read_snapshots, kSnapshotProgram);
  const auto report = fetch_snapshot(*asked, options.job, options.at);
  Beside beside;
  if (report && !options.html.empty())
    beside = fetch_beside(*asked, *report, open_incident(options, *asked), kSnapshotProgram);
  return show_report(
      options, report, kSnapshotProgram,
      [&](const std::string&) { return read_before(options, *asked); }, beside);
}

}  // namespace l4::commands
