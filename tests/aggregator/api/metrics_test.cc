#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "aggregator/api/metrics.h"

namespace l4::api {
namespace {

using live::Counts;
using live::Fleet;
using live::Health;
using scoring::JobRow;

bool has_line(const std::string& text, std::string_view line) {
  return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

receive::AgentView agent(bool connected, Millis offset, TimeMs heard) {
  receive::AgentView view;
  view.connected = connected;
  view.lost = !connected;
  view.batches_held = 3;
  view.bytes_held = 100;
  view.shedding = wire::Shedding::order;
  view.offset_known = true;
  view.offset = offset;
  view.heard = heard;
  return view;
}

TEST_CASE("metrics: agents are summed up, and what one said that is gone counts no more") {
  const TimeMs now{Millis{1'000'000}};
  const Fleet sum = live::sum_of({agent(true, Millis{-4'000}, now - Millis{2'000}),
                                  agent(true, Millis{1'000}, now - Millis{5'000}),
                                  agent(false, Millis{90'000}, now - Millis{600'000})},
                                 now);
  CHECK(sum.agents == 3);
  CHECK(sum.connected == 2);
  CHECK(sum.lost == 1);
  CHECK(sum.batches_held == 6);
  CHECK(sum.bytes_held == 200);
  CHECK(sum.shedding.at(static_cast<std::size_t>(wire::Shedding::order)) == 2);
  CHECK(sum.shedding.at(static_cast<std::size_t>(wire::Shedding::nothing)) == 0);
  CHECK(sum.offset_max == Millis{4'000});
  CHECK(sum.silence_max == Millis{5'000});
}

TEST_CASE("metrics: an agent whose clock is not known has none, and a step of ours no silence") {
  const TimeMs now{Millis{1'000'000}};
  receive::AgentView view = agent(true, Millis{9'000}, now + Millis{3'000});
  view.offset_known = false;
  const Fleet sum = live::sum_of({view}, now);
  CHECK(sum.offset_max == Millis{0});
  CHECK(sum.silence_max == Millis{0});
}

TEST_CASE("metrics: what alert rules ask for stands on the page") {
  Counts counts;
  counts.fleet.shedding = {5, 0, 0, 2, 0};
  counts.fleet.offset_max = Millis{1'500};
  counts.ledger = {7, 700, 70};
  counts.journal_bytes_max = 128;
  counts.shards.open_by_state.at(static_cast<std::size_t>(State::hung)) = 2;
  Health health;
  health.database = true;
  http::ServerCounts http;
  http.refused_for.at(static_cast<std::size_t>(http::Refusal::no_token)) = 4;
  http.refused_for.at(static_cast<std::size_t>(http::Refusal::cross_site)) = 1;
  http.answers = {9, 1, 5, 0};
  http.in_flight_max = 192;
  const std::string text = render_metrics(counts, health, http);
  for (const std::string_view line : {
           "l4_aggregator_agents_shedding{step=\"nothing\"} 5",
           "l4_aggregator_agents_shedding{step=\"parameters\"} 2",
           "l4_aggregator_clock_offset_max_seconds 1.5",
           "l4_aggregator_lines_total 7",
           "l4_aggregator_log_bytes_total 700",
           "l4_aggregator_lost_bytes_total 70",
           "l4_aggregator_journal_limit_bytes 128",
           "l4_aggregator_incidents_open{state=\"hung\"} 2",
           "l4_aggregator_incidents_open{state=\"crashed\"} 0",
           "l4_aggregator_degraded{reason=\"database\"} 1",
           "l4_aggregator_degraded{reason=\"journal\"} 0",
           "l4_aggregator_http_refused_total{reason=\"no_token\"} 4",
           "l4_aggregator_http_refused_total{reason=\"cross_site\"} 1",
           "l4_aggregator_http_refused_total{reason=\"bad_request\"} 0",
           "l4_aggregator_http_answers_total{status=\"3xx\"} 1",
           "l4_aggregator_http_answers_total{status=\"4xx\"} 5",
           "l4_aggregator_http_requests_in_flight_limit 192",
       }) {
    CAPTURE(line);
    CHECK(has_line(text, line));
  }
  CHECK(text.find("state=\"healthy\"") == std::string::npos);
}

JobRow running(const std::string& id, TimeMs begin) {
  JobRow job;
  job.id = id;
  job.begin = job.last_seen = begin;
  job.state = State::healthy;
  job.lines = 7;
  return job;
}

TEST_CASE("metrics: a job that runs has series of its own, one that is over has none") {
  Counts counts;
  counts.now = TimeMs{Millis{100'000}};
  JobRow job = running("night \x1b[2J \"run\"", TimeMs{Millis{1'000}});
  job.state = State::hung;
  job.incident = "i-1";
  job.iteration = Iteration{42};
  job.progress = TimeMs{Millis{97'500}};
  job.completeness = .5;
  job.nodes = 4;
  job.ranks = 32;
  JobRow over = running("over", TimeMs{Millis{2'000}});
  over.ended = true;
  counts.jobs = {job, over, running("new", TimeMs{Millis{3'000}})};
  const std::string text = render_metrics(counts, {});
  const std::string of = "{job_id=\"night \u241B[2J \\\"run\\\"\"} ";
  for (const std::string& line :
       {"l4_aggregator_job_iteration" + of + "42", "l4_aggregator_job_nodes" + of + "4",
        "l4_aggregator_job_ranks" + of + "32",
        "l4_aggregator_job_progress_age_seconds" + of + "2.5",
        "l4_aggregator_job_completeness" + of + "0.5", "l4_aggregator_job_incident_open" + of + "1",
        "l4_aggregator_job_lines_total" + of + "7",
        std::string("l4_aggregator_job_state{job_id=\"new\",state=\"healthy\"} 1"),
        std::string("l4_aggregator_job_incident_open{job_id=\"new\"} 0"),
        std::string("l4_aggregator_jobs_without_series 0")}) {
    CAPTURE(line);
    CHECK(has_line(text, line));
  }
  CHECK(text.find("job_iteration{job_id=\"new\"}") == std::string::npos);
  CHECK(text.find("job_progress_age_seconds{job_id=\"new\"}") == std::string::npos);
  CHECK(text.find("\"over\"") == std::string::npos);
}

TEST_CASE("metrics: who may see some jobs gets their series and nothing else") {
  Counts counts;
  counts.jobs = {running("team-a-1", TimeMs{Millis{1'000}}),
                 running("team-b-1", TimeMs{Millis{2'000}})};
  const std::string text = render_job_metrics(counts, http::JobLimit::parse("team-a-*").value());
  CHECK(has_line(text, "l4_aggregator_job_lines_total{job_id=\"team-a-1\"} 7"));
  CHECK(has_line(text, "l4_aggregator_jobs_without_series 0"));
  CHECK_FALSE(text.contains("team-b"));
  CHECK_FALSE(text.contains("l4_aggregator_agents"));
}

TEST_CASE("metrics: series of jobs are bounded: the newest have them, the others are counted") {
  Counts counts;
  for (int i = 0; i < 203; ++i)
    counts.jobs.push_back(running("job-" + std::to_string(i), TimeMs{Millis{i}}));
  const std::string text = render_metrics(counts, {});
  CHECK(has_line(text, "l4_aggregator_jobs_without_series 3"));
  CHECK(has_line(text, "l4_metrics_left_out 0"));
  for (const char* name : {"job_nodes{", "job_lines_total{", "job_completeness{"}) {
    CAPTURE(name);
    const std::string series = "l4_aggregator_" + std::string(name) + "job_id=\"job-";
    CHECK(text.find(series + "2\"") == std::string::npos);
    CHECK(text.find(series + "3\"") != std::string::npos);
    CHECK(text.find(series + "202\"") != std::string::npos);
  }
}

}  // namespace
}  // namespace l4::api
