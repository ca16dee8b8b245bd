#include "aggregator/api/flow_api.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/api/pages.h"
#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/collect/collector.h"
#include "aggregator/rows/flow_rows.h"
#include "aggregator/rows/node_rows.h"

namespace l4::api {
namespace {

using flows::JobFlows;

/// What is asked for: a job of flows by its name, or a job of logs by its nodes.
struct Question {
  std::string id;
  bool has_logs = false;
  std::set<std::string, std::less<>> nodes;
  std::size_t steps = 0;

  /// Most servers of the flows' job are nodes of the logs' job.
  bool is_meant(const JobFlows& job) const {
    if (job.name == id) return true;
    const auto common = std::ranges::count_if(
        job.servers, [&](const std::string& server) { return nodes.contains(server); });
    return common * 2 > std::ssize(job.servers);
  }
};

http::Response flows_of(const Question& question, const collect::FlowCollector* collector) {
  serve::JsonWriter text;
  text.open('{').member("job", question.id).member("on", collector != nullptr).key("flows");
  text.open('[');
  bool found = question.has_logs;
  const std::vector<JobFlows> jobs =
      collector != nullptr ? collector->jobs() : std::vector<JobFlows>{};
  for (const JobFlows& job : jobs) {
    if (!question.is_meant(job) || text.size() > kPageBytes) continue;
    found = true;
    rows::write(text, job, question.steps);
  }
  if (!found) return nothing("job", question.id);
  text.close(']').close('}');
  return json(text);
}

}  // namespace

void list_flows(const RouteCall& call) {
  const PageQuery page = page_query(call.request);
  const bool asked = call.aggregator.flows([reply = call.reply, page, limit = call.request.jobs](
                                               const collect::FlowCollector* collector) {
    std::vector<JobFlows> jobs = collector != nullptr ? collector->jobs() : std::vector<JobFlows>{};
    std::erase_if(jobs, [&](const JobFlows& job) { return !limit.includes(job.name); });
    serve::JsonWriter text;
    text.open('{').member("on", collector != nullptr).key("flows").open('[');
    const auto next =
        write_page(jobs, page, std::mem_fn(&JobFlows::name), [&](const JobFlows& job) {
          rows::write_row(text, job);
          return text.size();
        });
    if (!next) return reply(next.error());
    reply(finish(text.close(']'), *next));
  });
  if (!asked) call.reply(busy());
}

void show_job_flows(const RouteCall& call) {
  constexpr std::size_t kSteps = 100;
  Question question{call.id, false, {}, kSteps};
  question.steps = count_in(parameter(call.request, "count")).value_or(kSteps);
  live::Aggregator* const aggregator = &call.aggregator;
  const bool asked = aggregator->job(
      call.id, live::ReportAge::none,
      [reply = call.reply, aggregator, question = std::move(question)](
          const scoring::LiveJob* job, const scoring::Shard&) mutable {
        question.has_logs = job != nullptr;
        if (job != nullptr && aggregator->receives_flows())
          for (const rows::NodeRow& row : rows::node_rows(job->state(), nullptr))
            question.nodes.insert(row.node);
        const bool passed_on = aggregator->flows(
            [reply, question = std::move(question)](const collect::FlowCollector* collector) {
              reply(flows_of(question, collector));
            });
        if (!passed_on) reply(busy());
      });
  if (!asked) call.reply(busy());
}

}  // namespace l4::api
