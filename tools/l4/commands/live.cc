#include "tools/l4/commands/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "aggregator/serve/report_diff.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "aggregator/serve/utf8.h"
#include "common/http/url.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/ask/unknown_name.h"
#include "tools/l4/commands/compared.h"
#include "tools/l4/commands/diagnose.h"
#include "tools/l4/commands/follow.h"
#include "tools/l4/commands/lines_view.h"
#include "tools/l4/commands/live_view.h"
#include "tools/l4/commands/watch.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

constexpr Millis kListTimeout{10'000};

const char* program_of(const LiveOptions& options) {
  using enum LiveOptions::Action;
  switch (options.action) {
    case jobs:
      return "l4 jobs";
    case snapshot:
      return "l4 snapshot";
    case agents:
      return "l4 agents";
    case incidents:
      return "l4 incidents";
    case lines:
      return "l4 lines";
    case watch:
      return "l4 watch";
    case top:
      return "l4 top";
    case show:
      break;
  }
  return "l4 show";
}

/// A list, as JSON or as the text that `read` and to_text make of it.
template <class Read>
ask::Answer<std::string> show_list(const LiveOptions& options, const ask::Aggregator& asked,
                                   const ask::Answer<std::string>& body, Read read) {
  if (!body) return std::unexpected(body.error());
  const auto list = read(*body);
  if (!list) return ask::misread(asked, list.error());
  if (options.format == "json") {
    const auto tidy = ask::tidied_json(*body);
    if (!tidy) return ask::misread(asked, tidy.error());
    return *tidy;
  }
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  return to_text(*list, now,
                 {.color = terminal::is_color_wanted(), .width = terminal::width_of_output()});
}

/// The body of a path that names one thing; `nobody` says what it is when there is none.
template <class Nobody>
ask::Answer<std::string> fetch_one(const ask::Aggregator& asked, const std::string& path,
                                   Millis timeout, Nobody nobody) {
  unsigned status = 0;
  auto body = ask::fetch(asked, path, timeout, &status);
  if (!body && status == 404 && !body.error().error.reason.starts_with("answered"))
    return std::unexpected(nobody());
  return body;
}

ask::Answer<diagnose::Report> parsed_report(const ask::Aggregator& asked, std::string_view text) {
  auto report = serve::report_from_json(text);
  if (!report) return ask::misread(asked, report.error());
  return std::move(*report);
}

std::string job_path(const LiveOptions& options, std::string_view rest) {
  return fmt::format("/api/v1/jobs/{}/{}", http::percent_encoded(options.job), rest);
}

/// As of a time, or one that was stored; what is wrong with the id or time, or that nothing is
/// known of it, is the aggregator's sentence.
ask::Answer<diagnose::Report> fetch_at(const LiveOptions& options, const ask::Aggregator& asked) {
  unsigned status = 0;
  const auto body =
      ask::fetch(asked, job_path(options, "snapshot?at=" + http::percent_encoded(options.at)),
                 Millis{60'000}, &status);
  const std::string why = body ? std::string() : body.error().error.reason;
  const bool nothing_known = why.starts_with("there is no job") &&
                             why.find("no snapshot of it was stored") != std::string::npos;
  if (!body && status == 404 && nothing_known)
    return std::unexpected(ask::no_such_job(asked, options.job));
  if (!body && (status == 400 || status == 404))
    return std::unexpected(ask::Failure{body.error().error, terminal::kWrongUse});
  if (!body) return std::unexpected(body.error());
  return parsed_report(asked, *body);
}

/// The row of the one that is stored by this.
ask::Answer<std::string> store_snapshot(const LiveOptions& options, const ask::Aggregator& asked) {
  const auto response =
      ask::send(asked, ask::Method::post, job_path(options, "snapshots"), "{}", Millis{60'000});
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

ask::Answer<std::string> show_stored(const LiveOptions& options, const ask::Aggregator& asked) {
  if (options.store) return store_snapshot(options, asked);
  return show_list(options, asked,
                   ask::fetch(asked, job_path(options, "snapshots?count=1000"), kListTimeout),
                   ask::read_snapshots);
}

ask::Answer<diagnose::Report> fetch_snapshot(const LiveOptions& options,
                                             const ask::Aggregator& asked) {
  if (!options.at.empty()) return fetch_at(options, asked);
  const auto body = fetch_one(asked, job_path(options, "snapshot"), Millis{60'000},
                              [&] { return ask::no_such_job(asked, options.job); });
  if (!body) return std::unexpected(body.error());
  return parsed_report(asked, *body);
}

ask::Answer<diagnose::Report> fetch_incident(const LiveOptions& options,
                                             const ask::Aggregator& asked) {
  const std::string& id = options.incident;
  const auto body = fetch_one(asked, "/api/v1/incidents/" + http::percent_encoded(id),
                              Millis{10'000}, [&] { return ask::no_such_incident(asked, id); });
  if (!body) return std::unexpected(body.error());
  const auto text = ask::report_of_incident(*body, options.opening);
  if (!text) return ask::misread(asked, text.error());
  return parsed_report(asked, *text);
}

ask::Answer<diagnose::Report> read_report(const std::filesystem::path& from) {
  const bool piped = from == "-";
  const std::string name = piped ? "standard input" : from.string();
  std::error_code ignored;
  std::ifstream file;
  if (!piped) file.open(from, std::ios::binary);
  if (!piped && (!file || std::filesystem::is_directory(from, ignored)))
    return ask::failed(name, "cannot be read");
  std::ostringstream text;
  text << (piped ? std::cin.rdbuf() : file.rdbuf());
  auto report = serve::report_from_json(text.view());
  if (report) return std::move(*report);
  return ask::failed(name, "is no report of l4: " + report.error().text());
}

/// What --diff names; of `l4 snapshot` the aggregator may have it.
ask::Answer<diagnose::Report> read_before(const LiveOptions& options,
                                          const ask::Aggregator* asked) {
  if (asked == nullptr || options.action != LiveOptions::Action::snapshot)
    return read_report(options.diff);
  const Compared with = compared_with(options.diff, options.job);
  if (!with.file.empty()) return read_report(with.file);
  LiveOptions other = options;
  other.job = with.job;
  other.at = with.at;
  auto report = fetch_snapshot(other, *asked);
  if (report) return report;
  ask::Failure why = report.error();
  why.error.where = why.error.where.empty() ? "--diff" : "--diff: " + why.error.where;
  return std::unexpected(std::move(why));
}

/// `asked`: null where nobody is.
int show_report(const LiveOptions& options, const ask::Answer<diagnose::Report>& report,
                const ask::Aggregator* asked) {
  if (!report)
    return terminal::fail(report.error().error, report.error().exit, program_of(options));
  serve::TextStyle style;
  style.color = options.out.empty() && terminal::is_color_wanted();
  style.top = options.top;
  const bool json = options.format == "json";
  if (!options.diff.empty()) {
    const auto before = read_before(options, asked);
    if (!before)
      return terminal::fail(before.error().error, before.error().exit, program_of(options));
    const std::string text =
        json ? serve::diff_json(*before, *report) : serve::diff_text(*before, *report, style);
    return terminal::write_text(text, options.out, program_of(options));
  }
  const std::string text = json ? serve::to_json(*report) : serve::to_text(*report, style);
  if (const int written = terminal::write_text(text, options.out, program_of(options));
      written != terminal::kDone)
    return written;
  return options.exit_code && is_failure(report->verdict.state) ? terminal::kFailureFound
                                                                : terminal::kDone;
}

std::string lines_path(const LiveOptions& options) {
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

int show_lines(const LiveOptions& options, const ask::Aggregator& asked) {
  constexpr Millis kTimeout{60'000};
  const auto failure = [&](const ask::Failure& why) {
    return terminal::fail(why.error, why.exit, program_of(options));
  };
  unsigned status = 0;
  const auto body = ask::fetch(asked, lines_path(options), kTimeout, &status);
  if (!body && status == 404 && body.error().error.reason.starts_with("there is no job"))
    return failure(ask::no_such_job(asked, options.job));
  if (!body && (status == 404 || status == 400))
    return failure({body.error().error, terminal::kWrongUse});
  if (!body) return failure(body.error());
  const auto list = ask::read_line_list(*body);
  if (!list) return failure(ask::misread(asked, list.error()).error());
  std::string text = to_text(*list, {.color = options.out.empty() && terminal::is_color_wanted()});
  if (options.format == "json") {
    auto tidy = ask::tidied_json(*body);
    if (!tidy) return failure(ask::misread(asked, tidy.error()).error());
    text = std::move(*tidy);
  }
  if (const int written = terminal::write_text(text, options.out, program_of(options));
      written != terminal::kDone)
    return written;
  return options.exit_code && !list->missing.empty() ? terminal::kFailureFound : terminal::kDone;
}

ask::Answer<std::string> list_incidents(const LiveOptions& options, const ask::Aggregator& asked) {
  std::string path = "/api/v1/incidents";
  if (!options.job.empty()) path += "?job=" + http::percent_encoded(options.job);
  if (options.open) path += options.job.empty() ? "?open=true" : "&open=true";
  return show_list(options, asked,
                   ask::fetch_list(asked, path, "incidents", kListTimeout, options.count),
                   ask::read_incidents);
}

/// Of jobs, agents, incidents.
ask::Answer<std::string> list(const LiveOptions& options, const ask::Aggregator& asked) {
  const auto whole = [&](const std::string& what) {
    return ask::fetch_list(asked, "/api/v1/" + what, what, kListTimeout);
  };
  using enum LiveOptions::Action;
  if (options.action == jobs) return show_list(options, asked, whole("jobs"), ask::read_jobs);
  if (options.action == agents) return show_list(options, asked, whole("agents"), ask::read_agents);
  return list_incidents(options, asked);
}

/// --job names one that is not watched, and of which no incident is known.
std::optional<ask::Failure> unknown_job(const LiveOptions& options, const ask::Aggregator& asked) {
  if (options.action != LiveOptions::Action::incidents || options.job.empty()) return std::nullopt;
  const std::string job = http::percent_encoded(options.job);
  unsigned status = 0;
  if (ask::fetch(asked, "/api/v1/jobs/" + job, Millis{10'000}, &status) || status != 404)
    return std::nullopt;
  const auto body = ask::fetch(asked, "/api/v1/incidents?count=1&job=" + job, Millis{10'000});
  const auto past = body ? ask::read_names(*body, "incidents", "id") : std::unexpected(Error{});
  if (!past || !past->empty()) return std::nullopt;
  return ask::no_such_job(asked, options.job);
}

}  // namespace

int run_live(const LiveOptions& options) {
  using enum LiveOptions::Action;
  if (options.action == show) return show_report(options, read_report(options.file), nullptr);
  const auto found = ask::find_aggregator(options);
  if (!found) return terminal::fail(found.error().error, found.error().exit, program_of(options));
  const ask::Aggregator& asked = *found;
  if (options.action == snapshot && (options.list || options.store)) {
    const auto text = show_stored(options, asked);
    if (!text) return terminal::fail(text.error().error, text.error().exit, program_of(options));
    return terminal::write_text(*text, {}, program_of(options));
  }
  if (options.action == snapshot)
    return show_report(options, fetch_snapshot(options, asked), &asked);
  if (options.action == incidents && !options.incident.empty())
    return show_report(options, fetch_incident(options, asked), &asked);
  if (options.action == incidents && options.follow) return run_follow(options, asked);
  if (options.action == lines) return show_lines(options, asked);
  if (options.action == watch)
    return run_watch(options, [&] { return fetch_snapshot(options, asked); });
  if (options.action == top) return run_top(options, asked);
  if (const auto unknown = unknown_job(options, asked))
    return terminal::fail(unknown->error, unknown->exit, program_of(options));
  const auto text = list(options, asked);
  if (!text) return terminal::fail(text.error().error, text.error().exit, program_of(options));
  return terminal::write_text(*text, {}, program_of(options));
}

}  // namespace l4::commands
