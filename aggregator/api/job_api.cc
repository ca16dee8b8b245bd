#include "aggregator/api/job_api.h"

#include <fmt/format.h>

#include <functional>

#include "aggregator/api/pages.h"
#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/api/snapshot_api.h"
#include "aggregator/rows/answers.h"
#include "aggregator/serve/report_brief.h"

namespace l4::api {
namespace {

using http::Response;
using live::ReportAge;
using scoring::JobRow;
using scoring::LiveJob;
using scoring::Shard;
using serve::JsonWriter;

constexpr std::size_t kBriefRows = 32;

ReportAge age_of(const http::Request& request) {
  return parameter(request, "last") == "true" ? ReportAge::last : ReportAge::now;
}

/// Answers with the JSON that `write` makes of the job, on the thread of its shard.
template <class Write>
void answer_job(const RouteCall& call, ReportAge age, const Write& write) {
  const bool asked = call.aggregator.job(
      call.id, age,
      [reply = call.reply, id = call.id, write](const LiveJob* job, const Shard& shard) {
        reply(job == nullptr ? nothing("job", id) : write(*job, shard));
      });
  if (!asked) call.reply(busy());
}

Response node_page(const LiveJob& job, const PageQuery& page, const alert::QuietBook& quiet,
                   TimeMs now) {
  const diagnose::Report& report = *job.report();
  JsonWriter text;
  text.open('{').member("job", job.id()).member("attempt", report.job.attempt);
  text.key("nodes").open('[');
  const auto next =
      write_page(rows::node_rows(job.state(), &report), page, std::mem_fn(&rows::NodeRow::node),
                 [&](const rows::NodeRow& node) {
                   const auto silent = quiet.of_node(node.node, now);
                   rows::write(text, node, silent ? std::optional(silent->until) : std::nullopt);
                   return text.size();
                 });
  return next ? finish(text.close(']'), *next) : next.error();
}

Response iteration_page(const LiveJob& job, const JobRow& row, const PageQuery& page) {
  JsonWriter text;
  text.open('{').member("job", row.id).member("attempt", row.attempt);
  text.member("iteration", row.iteration).key("iterations").open('[');
  using Scored = diagnose::ScoredIteration;
  const auto name = [](const Scored& one) { return fmt::format("{}", one.iteration.value()); };
  const auto next = write_page(job.report()->iterations, page, name, [&](const Scored& one) {
    rows::write(text, one);
    return text.size();
  });
  return next ? finish(text.close(']'), *next) : next.error();
}

}  // namespace

void list_jobs(const RouteCall& call) {
  PageQuery page = page_query(call.request);
  page.sorted = true;
  const bool asked = call.aggregator.jobs([reply = call.reply, page, limit = call.request.jobs,
                                           &quiet = call.aggregator.quiet(),
                                           now = call.aggregator.now()](std::vector<JobRow> rows) {
    std::erase_if(rows, [&](const JobRow& row) { return !limit.includes(row.id); });
    JsonWriter text;
    text.open('{').key("jobs").open('[');
    const auto next = write_page(rows, page, std::mem_fn(&JobRow::id), [&](const JobRow& row) {
      rows::write(text, row, rows::notes_of(quiet, row, now));
      return text.size();
    });
    if (!next) return reply(next.error());
    reply(finish(text.close(']'), *next));
  });
  if (!asked) call.reply(busy());
}

void show_job(const RouteCall& call) {
  answer_job(call, ReportAge::none,
             [&quiet = call.aggregator.quiet(), now = call.aggregator.now()](const LiveJob& job,
                                                                             const Shard& shard) {
               const JobRow row = shard.row(job);
               JsonWriter text;
               rows::write(text, row, rows::notes_of(quiet, row, now));
               return json(text);
             });
}

void show_snapshot(const RouteCall& call) {
  if (const auto at = parameter(call.request, "at"); !at.empty()) return show_snapshot_at(call, at);
  answer_job(call, ReportAge::now, [](const LiveJob& job, const Shard&) {
    return Response{200, "application/json", job.report_json()};
  });
}

void show_brief(const RouteCall& call) {
  const std::size_t rows =
      count_in(parameter(call.request, "rows"), kMapRowsMax).value_or(kBriefRows);
  answer_job(call, age_of(call.request), [rows](const LiveJob& job, const Shard&) {
    return Response{200, "application/json", serve::brief_json(*job.report(), rows)};
  });
}

void list_nodes(const RouteCall& call) {
  answer_job(call, age_of(call.request),
             [page = page_query(call.request), &quiet = call.aggregator.quiet(),
              now = call.aggregator.now()](const LiveJob& job, const Shard&) {
               return node_page(job, page, quiet, now);
             });
}

void list_iterations(const RouteCall& call) {
  answer_job(call, ReportAge::now,
             [page = page_query(call.request)](const LiveJob& job, const Shard& shard) {
               return iteration_page(job, shard.row(job), page);
             });
}

}  // namespace l4::api
