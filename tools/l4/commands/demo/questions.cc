#include "tools/l4/commands/demo/questions.h"

#include <algorithm>
#include <utility>

#include "aggregator/serve/report_json.h"
#include "common/http/url.h"

namespace l4::commands::demo {
namespace {

constexpr Millis kAnswer{5'000}, kReport{20'000};

}  // namespace

std::size_t connected_agents(const ask::Aggregator& asked) {
  const auto body = ask::fetch(asked, "/api/v1/agents", kAnswer);
  const auto list = body ? ask::read_agents(*body) : std::unexpected(Error{});
  if (!list) return 0;
  return static_cast<std::size_t>(
      std::ranges::count(list->agents, true, &ask::AgentRow::connected));
}

std::optional<Taken> taken_lines(const ask::Aggregator& asked) {
  const auto body = ask::fetch(asked, "/api/v1/jobs", kAnswer);
  auto list = body ? ask::read_jobs(*body) : std::unexpected(Error{});
  if (!list) return std::nullopt;
  Taken taken;
  for (ask::JobRow& job : list->jobs) {
    taken.lines += job.lines;
    if (!taken.job || taken.job->lines < job.lines) taken.job = std::move(job);
  }
  return taken;
}

ask::Answer<diagnose::Report> fetch_report(const ask::Aggregator& asked, const std::string& job) {
  const auto body =
      ask::fetch(asked, "/api/v1/jobs/" + http::percent_encoded(job) + "/snapshot", kReport);
  if (!body) return std::unexpected(body.error());
  auto report = serve::report_from_json(*body);
  if (!report) return ask::misread(asked, report.error());
  return std::move(*report);
}

}  // namespace l4::commands::demo
