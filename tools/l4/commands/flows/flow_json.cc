#include "tools/l4/commands/flows/flow_json.h"

#include <fmt/format.h>

#include "aggregator/serve/json_value.h"

namespace l4::commands::flows {
namespace {

using l4::flows::Address;
using l4::flows::FlowFinding;
using l4::flows::GroupFlows;
using l4::flows::JobFlows;
using serve::JsonValue;
using Members = JsonValue::Members;
using List = JsonValue::List;

List addresses(const std::vector<Address>& all) {
  List list;
  for (const Address& one : all) list.emplace_back(to_text(one));
  return list;
}

List times(const std::vector<l4::flows::TimeNs>& all) {
  return {all.begin(), all.end()};
}

JsonValue pair_json(const l4::flows::PairFlows& pair) {
  List labels;
  for (const auto label : pair.labels) labels.emplace_back(to_text(label));
  return Members{{"src", to_text(pair.src)}, {"dst", to_text(pair.dst)}, {"labels", labels}};
}

JsonValue finding_json(const FlowFinding& finding) {
  return Members{{"kind", to_text(finding.cause)}, {"at_ns", finding.at},
                 {"since_ns", finding.since},      {"place", finding.place},
                 {"ambiguous", finding.ambiguous}, {"factor", finding.factor},
                 {"steps", finding.steps}};
}

JsonValue strategy_json(const std::optional<l4::flows::Strategy>& strategy) {
  if (!strategy) return {};
  return Members{{"tp", strategy->tensor},
                 {"pp", strategy->pipeline},
                 {"dp", strategy->data},
                 {"cp", strategy->context}};
}

JsonValue job_json(const JobFlows& job) {
  List pairs, groups, findings, lengths;
  for (const auto& pair : job.pairs) pairs.push_back(pair_json(pair));
  for (const GroupFlows& group : job.groups)
    groups.emplace_back(Members{{"label", to_text(group.label)},
                                {"nics", addresses(group.cards)},
                                {"collectives_per_step", group.collectives}});
  for (const FlowFinding& finding : job.findings) findings.push_back(finding_json(finding));
  Members steps;
  for (const auto& [card, group] : job.clock_of)
    steps.emplace_back(to_text(card), times(job.groups[group].ends));
  List timeline;
  for (const auto& [begin, end] : job.steps) timeline.emplace_back(List{begin, end});
  return Members{{"job", job.name},
                 {"servers", job.servers},
                 {"nics", addresses(job.cards)},
                 {"first_ns", job.first},
                 {"last_ns", job.last},
                 {"strategy", strategy_json(job.strategy)},
                 {"period_ns", job.period > 0 ? JsonValue(job.period) : JsonValue()},
                 {"pairs", pairs},
                 {"groups", groups},
                 {"timeline", timeline},
                 {"steps", steps},
                 {"steps_not_judged", job.lossy_steps},
                 {"findings", findings}};
}

double microseconds(l4::flows::TimeNs time) {
  return static_cast<double>(time) / 1e3;
}

}  // namespace

std::string to_json(const l4::flows::FlowReport& report, const std::string& method) {
  List jobs;
  for (const JobFlows& job : report.jobs) jobs.push_back(job_json(job));
  const Members all{
      {"schema", "l4.flows/1"},
      {"method", method},
      {"read", Members{{"records", report.records},
                       {"lost", report.loss_is_known ? JsonValue(report.lost) : JsonValue()},
                       {"streams", report.streams},
                       {"nics", report.cards},
                       {"without_room", report.unplaced},
                       {"first_ns", report.first},
                       {"last_ns", report.last}}},
      {"jobs", jobs}};
  return serve::dump_json(all) + '\n';
}

std::string to_trace(const l4::flows::FlowReport& report) {
  List events;
  const auto name = [&](int process, int thread, const char* what, std::string text) {
    events.emplace_back(Members{{"ph", "M"},
                                {"pid", process},
                                {"tid", thread},
                                {"name", what},
                                {"args", Members{{"name", std::move(text)}}}});
  };
  const auto slice = [&](int process, int thread, std::string text, l4::flows::TimeNs from,
                         l4::flows::TimeNs to) {
    events.emplace_back(Members{{"ph", "X"},
                                {"pid", process},
                                {"tid", thread},
                                {"name", std::move(text)},
                                {"ts", microseconds(from - report.first)},
                                {"dur", microseconds(to - from)}});
  };
  int process = 0;
  for (const JobFlows& job : report.jobs) {
    ++process;
    name(process, 0, "process_name", job.name);
    name(process, 1, "thread_name", "steps");
    for (std::size_t i = 0; i < job.steps.size(); ++i)
      slice(process, 1, fmt::format("step {}", i + 1), job.steps[i].first, job.steps[i].second);
    int lane = 1;
    for (const GroupFlows& group : job.groups) {
      if (group.ends.size() < 2) continue;
      ++lane;
      name(process, lane, "thread_name",
           fmt::format("{} {}, {} NICs", to_text(group.label), to_text(group.cards.front()),
                       group.cards.size()));
      for (std::size_t i = 1; i < group.ends.size(); ++i)
        slice(process, lane, fmt::format("step {}", i + 1), group.ends[i - 1], group.ends[i]);
    }
    for (const FlowFinding& finding : job.findings)
      events.emplace_back(Members{{"ph", "i"},
                                  {"s", "p"},
                                  {"pid", process},
                                  {"tid", 1},
                                  {"name", to_text(finding.cause)},
                                  {"ts", microseconds(finding.at - report.first)},
                                  {"args", Members{{"place", finding.place}}}});
  }
  return serve::dump_json(Members{{"traceEvents", events}, {"displayTimeUnit", "ms"}}) + '\n';
}

}  // namespace l4::commands::flows
