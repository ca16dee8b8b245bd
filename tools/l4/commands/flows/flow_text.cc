#include "tools/l4/commands/flows/flow_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "common/base/time.h"

namespace l4::commands::flows {
namespace {

using l4::flows::Cause;
using l4::flows::FlowFinding;
using l4::flows::FlowReport;
using l4::flows::GroupFlows;
using l4::flows::JobFlows;
using l4::flows::Label;
using l4::flows::TimeNs;
using serve::counted;
using serve::Page;
using serve::Tone;

TimeMs to_ms(TimeNs time) {
  return TimeMs(Millis(time / l4::flows::kMillisecond));
}

std::string seconds(TimeNs time) {
  return fmt::format("{:.3f} s", static_cast<double>(time) / 1e9);
}

std::string_view headline(Cause cause) {
  switch (cause) {
    case Cause::slow_gpu:
      return "SLOW SERVER";
    case Cause::imbalance:
      return "IMBALANCE";
    case Cause::degraded_link:
      return "SLOW LINK";
    case Cause::congested_switch:
      return "SLOW SWITCH";
    case Cause::pause:
      return "PAUSE";
    case Cause::data_stall:
      return "LATE BEGIN";
    case Cause::hang:
      return "HUNG";
    case Cause::crash:
      return "CRASHED";
    case Cause::stopped:
      return "STOPPED";
  }
  return "";
}

std::string_view meaning(Cause cause) {
  switch (cause) {
    case Cause::slow_gpu:
      return "One server comes late in step after step; transfers are as fast as before.";
    case Cause::imbalance:
      return "Another server is late in each step: the work is not spread evenly.";
    case Cause::degraded_link:
      return "Transfers that touch one card are slow; others are not.";
    case Cause::congested_switch:
      return "Transfers that cross one switch are slow; others are not.";
    case Cause::pause:
      return "A server stood still within a step, and everybody waited for it.";
    case Cause::data_stall:
      return "A step began late: everybody, or one server, had nothing to send yet.";
    case Cause::hang:
      return "The job waits for someone who does not come: transfers of a step are missing.";
    case Cause::crash:
      return "All transfers were cut at the same moment.";
    case Cause::stopped:
      return "The job sends nothing any more. Flows cannot tell whether it crashed, hangs or "
             "ended.";
  }
  return "";
}

std::string places(const FlowFinding& finding, std::size_t top) {
  if (finding.place.empty()) return "place not known";
  std::string text;
  for (std::size_t i = 0; i < std::min(top, finding.place.size()); ++i)
    text += (i == 0 ? "" : finding.ambiguous ? " or " : ", ") + finding.place[i];
  if (finding.place.size() > top) text += fmt::format(" and {} more", finding.place.size() - top);
  return text;
}

void write_finding(Page& page, const FlowReport& report, const JobFlows& job,
                   const FlowFinding& finding, const serve::TextStyle& style) {
  page.label(job.name);
  page.row({{std::string(headline(finding.cause)), Tone::bad},
            {" · " + places(finding, style.top), Tone::strong}});
  const bool is_silent = finding.cause >= Cause::hang;
  page.facts({fmt::format("since {}", serve::time_text(to_ms(finding.since), to_ms(report.first))),
              is_silent || finding.steps == 0 ? "" : counted(finding.steps, "step"),
              is_silent || finding.factor <= 1 ? "" : fmt::format("{:.2f} x", finding.factor),
              finding.ambiguous ? "the records cannot tell these apart" : ""});
  page.prose("", meaning(finding.cause), 2, 0);
}

std::string strategy_text(const JobFlows& job) {
  if (!job.strategy) return "strategy not known";
  const auto& s = *job.strategy;
  std::string text = fmt::format("TP {} x PP {} x DP {}", s.tensor, s.pipeline, s.data);
  if (s.context > 1) text += fmt::format(" x CP {}", s.context);
  return text;
}

std::string steps_text(const JobFlows& job) {
  if (job.period == 0) return "no step clock: no collective repeats as steps do";
  std::vector<double> lengths;
  for (std::size_t i = 1; i < job.steps.size(); ++i)  // the capture began within the first one
    lengths.push_back(static_cast<double>(job.steps[i].second - job.steps[i].first));
  std::ranges::sort(lengths);
  std::string text =
      fmt::format("{} of {}", counted(job.steps.size(), "step"), seconds(job.period));
  if (lengths.size() >= 10)
    text += fmt::format(" (90 % within {:.3f} to {:.3f} s)", lengths[lengths.size() / 20] / 1e9,
                        lengths[lengths.size() * 19 / 20] / 1e9);
  return text;
}

void write_groups(Page& page, const JobFlows& job, std::size_t top) {
  std::map<std::tuple<Label, std::size_t, unsigned>, std::size_t> kinds;
  for (const GroupFlows& group : job.groups)
    ++kinds[{group.label, group.cards.size(), group.collectives}];
  page.label("groups");
  std::size_t shown = 0;
  for (const auto& [kind, number] : kinds) {
    if (++shown > top) {
      page.facts({fmt::format("and {} more kinds", kinds.size() - top)});
      break;
    }
    const auto& [label, cards, collectives] = kind;
    page.row(
        fmt::format("{} x {} of {}{}", number, to_text(label), counted(cards, "card"),
                    collectives > 0 ? fmt::format(", {} a step", collectives) : ", no step clock"));
  }
  if (kinds.empty()) page.row("no collective between servers");
}

void write_job(Page& page, const FlowReport& report, const JobFlows& job,
               const serve::TextStyle& style) {
  page.gap();
  page.label(job.name);
  page.row({{strategy_text(job), Tone::strong},
            {fmt::format(" · {} · {}", counted(job.servers.size(), "server"),
                         counted(job.cards.size(), "card"))}});
  if (!job.servers.empty())
    page.facts({fmt::format("{}{}", job.servers.front(),
                            job.servers.size() > 1 ? " to " + job.servers.back() : ""),
                fmt::format("{} to {}", serve::time_text(to_ms(job.first), to_ms(report.first)),
                            serve::time_text(to_ms(job.last), to_ms(report.first)))});
  page.label("steps");
  page.row(steps_text(job));
  if (job.lossy_steps > 0)
    page.facts({fmt::format("{} not judged: records of them were lost",
                            counted(job.lossy_steps, "step"))});
  write_groups(page, job, style.top);
  std::map<Label, std::size_t> labels;
  std::size_t unknown = 0;
  for (const auto& pair : job.pairs) {
    for (const Label label : pair.labels) ++labels[label];
    unknown += pair.labels.empty() ? 1 : 0;
  }
  std::vector<std::string> pairs;
  pairs.reserve(labels.size() + 1);
  for (const auto& [label, number] : labels)
    pairs.push_back(fmt::format("{} {}", serve::grouped(number), to_text(label)));
  if (unknown > 0) pairs.push_back(fmt::format("{} not known", serve::grouped(unknown)));
  page.label("pairs");
  page.facts(pairs, 0, Tone::plain);
}

void write_read(Page& page, const FlowReport& report, const FlowInput& input) {
  page.gap();
  page.label("read");
  page.facts({counted(report.records, "record"), counted(input.files.size(), "file"),
              to_human(Millis((report.last - report.first) / l4::flows::kMillisecond)),
              counted(report.streams, "stream"), counted(report.cards, "card"),
              input.sampling > 1 ? fmt::format("1 of {} packets", input.sampling) : "",
              input.is_paper ? "by the paper's rules" : ""});
  std::vector<std::string> unclear;
  if (input.bad > 0)
    unclear.push_back(fmt::format("{} could not be read", serve::grouped(input.bad)));
  if (input.unknown > 0)
    unclear.push_back(fmt::format("{} sets without their template", serve::grouped(input.unknown)));
  if (report.loss_is_known && report.lost > 0)
    unclear.push_back(fmt::format("{} records lost on the way", serve::grouped(report.lost)));
  if (report.unplaced > 0)
    unclear.push_back(fmt::format("no room for {} records", serve::grouped(report.unplaced)));
  if (!unclear.empty()) {
    page.label("unclear");
    page.facts(unclear, 0, Tone::plain);
  }
  for (const Error& error : input.told) page.prose("", error.text(), 2, 0);
  std::vector<std::string> unknown;
  if (!input.has_topology)
    unknown.emplace_back("servers, switches and storage: no topology was given");
  if (!report.loss_is_known && report.records > 0)
    unknown.emplace_back("whether records were lost: they have no sequence numbers");
  for (const std::string& name : input.left_out)
    unknown.push_back(
        fmt::format("what {} holds: it has the records of another file again, or of "
                    "another kind",
                    name));
  if (!unknown.empty()) page.label("not known");
  for (const std::string& text : unknown) page.prose("", text, 2, 0);
}

}  // namespace

std::string to_text(const FlowReport& report, const FlowInput& input,
                    const serve::TextStyle& style) {
  Page page(style);
  std::size_t findings = 0;
  for (const JobFlows& job : report.jobs) findings += job.findings.size();
  page.title({{fmt::format("{} · {}", counted(report.jobs.size(), "job"),
                           findings == 0 ? "nothing found" : counted(findings, "finding")),
               findings == 0 ? Tone::good : Tone::bad}});
  if (report.jobs.empty())
    page.title_prose("No records between training cards repeat as those of a job do.", 2);
  for (const JobFlows& job : report.jobs)
    for (std::size_t i = 0; i < std::min(style.top, job.findings.size()); ++i) {
      page.gap();
      write_finding(page, report, job, job.findings[i], style);
    }
  for (std::size_t i = 0; i < std::min(style.top, report.jobs.size()); ++i)
    write_job(page, report, report.jobs[i], style);
  if (report.jobs.size() > style.top) {
    page.gap();
    page.facts({fmt::format("and {} more jobs", report.jobs.size() - style.top)});
  }
  write_read(page, report, input);
  return page.release();
}

}  // namespace l4::commands::flows
