#include "aggregator/rows/flow_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace l4::rows {
namespace {

using serve::JsonWriter;

constexpr flows::TimeNs kMicrosecond = 1'000;

TimeMs time_of(flows::TimeNs time) {
  return TimeMs{Millis{time / flows::kMillisecond}};
}

std::optional<double> seconds_of(flows::TimeNs time) {
  if (time <= 0) return std::nullopt;
  return static_cast<double>(time) / static_cast<double>(flows::kSecond);
}

void write_addresses(JsonWriter& to, const std::vector<flows::Address>& all) {
  to.open('[');
  for (const flows::Address& one : all) to.value(flows::to_text(one));
  to.close(']');
}

/// What both forms have; the object stays open.
void begin(JsonWriter& to, const flows::JobFlows& job) {
  to.open('{').member("id", job.name).member("servers", job.servers);
  to.member("first", time_of(job.first)).member("last", time_of(job.last));
  to.member("silent", job.silent).member("period_s", seconds_of(job.period)).key("strategy");
  if (job.strategy)
    to.open('{')
        .member("tensor", job.strategy->tensor)
        .member("pipeline", job.strategy->pipeline)
        .member("data", job.strategy->data)
        .member("context", job.strategy->context)
        .close('}');
  else
    to.raw("null");
}

void write_groups(JsonWriter& to, const flows::JobFlows& job) {
  to.key("groups").open('[');
  for (const flows::GroupFlows& group : job.groups) {
    to.open('{').member("label", flows::to_text(group.label));
    to.member("collectives", group.collectives).key("cards");
    write_addresses(to, group.cards);
    to.close('}');
  }
  to.close(']').key("pairs").open('[');
  for (const flows::PairFlows& pair : job.pairs) {
    to.open('{').member("src", flows::to_text(pair.src)).member("dst", flows::to_text(pair.dst));
    to.key("labels").open('[');
    for (const flows::Label label : pair.labels) to.value(flows::to_text(label));
    to.close(']').close('}');
  }
  to.close(']');
}

/// Lanes count from the printed begin, which is cut to milliseconds.
void write_step(JsonWriter& to, const flows::StepShape& step) {
  const flows::TimeNs begin = step.begin / flows::kMillisecond * flows::kMillisecond;
  const auto place = [&](flows::TimeNs time) { return (time - begin) / kMicrosecond; };
  to.open('{').member("begin", time_of(begin)).member("end_us", place(step.end));
  to.member("slow", step.slow).key("lanes").open('[');
  for (const auto& [first, last] : step.groups)
    if (last == 0 || first == 0)
      to.raw("null");
    else
      to.open('[').value(place(first)).value(place(last)).close(']');
  to.close(']').close('}');
}

void write_finding(JsonWriter& to, const flows::FlowFinding& finding) {
  to.open('{').member("kind", flows::to_text(finding.cause)).member("at", time_of(finding.at));
  to.member("since", time_of(finding.since)).member("place", finding.place);
  to.member("ambiguous", finding.ambiguous).member("factor", finding.factor);
  to.member("steps", finding.steps).close('}');
}

}  // namespace

void write_row(JsonWriter& to, const flows::JobFlows& job) {
  begin(to, job);
  to.member("cards", job.cards.size()).member("groups", job.groups.size());
  to.member("findings", job.findings.size()).close('}');
}

void write(JsonWriter& to, const flows::JobFlows& job, std::size_t steps) {
  begin(to, job);
  to.key("cards");
  write_addresses(to, job.cards);
  write_groups(to, job);
  to.member("lossy_steps", job.lossy_steps).key("steps").open('[');
  const std::size_t first = job.shapes.size() - std::min(job.shapes.size(), steps);
  for (std::size_t i = first; i < job.shapes.size(); ++i) write_step(to, job.shapes[i]);
  to.close(']').key("findings").open('[');
  for (const flows::FlowFinding& finding : job.findings) write_finding(to, finding);
  to.close(']').close('}');
}

}  // namespace l4::rows
