// The aggregator's figures as Prometheus reads them: the present totals, rendered once.
#include <algorithm>
#include <string_view>
#include <vector>

#include "aggregator/api/metrics.h"
#include "aggregator/serve/utf8.h"
#include "common/metrics/families.h"

namespace l4::api {
namespace {

using metrics::Families;
using metrics::seconds;

void add_health(Families& to, const live::Health& health) {
  const auto reason = [&](const char* name, bool value) {
    to.gauge("degraded", "1 while the aggregator is not well, by reason", value, {"reason", name});
  };
  reason("journal", health.journal);
  reason("blind", health.blind);
  reason("database", health.database);
  reason("stalled", health.stalled);
}

void add_fleet(Families& to, const live::Counts& counts) {
  const live::Fleet& fleet = counts.fleet;
  to.gauge("agents", "agents that are known", fleet.agents);
  to.gauge("agents_limit", "agents that may be known at a time", counts.agents_max);
  to.gauge("agents_connected", "agents that are connected", fleet.connected);
  to.gauge("agents_lost", "agents that are lost", fleet.lost);
  to.gauge("agents_held_batches", "batches that connected agents keep", fleet.batches_held);
  to.gauge("agents_held_bytes", "bytes of them", fleet.bytes_held);
  for (std::size_t i = 0; i < wire::kSheddings; ++i)
    to.gauge("agents_shedding", "connected agents by what they leave out under pressure",
             fleet.shedding.at(i), {"step", wire::to_string(static_cast<wire::Shedding>(i))});
  to.gauge("clock_offset_max_seconds", "by how much the clock of a connected agent differs at most",
           seconds(fleet.offset_max));
  to.gauge("agent_silence_max_seconds", "how long a connected agent was not heard at most",
           seconds(fleet.silence_max));
  to.counter("lines_total", "lines of logs that were taken", counts.ledger.lines);
  to.counter("log_bytes_total", "bytes of them", counts.ledger.log_bytes);
  to.counter("lost_bytes_total", "bytes of logs that went away before they were read",
             counts.ledger.lost_bytes);
}

void add_wire(Families& to, const live::Counts& counts) {
  const receive::ServerStats& server = counts.server;
  to.gauge("blind", "1 while most agents fell silent at once", counts.blind);
  to.counter("messages_total", "messages of agents", server.messages);
  to.counter("message_bytes_total", "bytes of them", server.bytes);
  to.counter("hellos_total", "connections of agents", server.hellos);
  to.counter("heartbeats_total", "heartbeats", server.heartbeats);
  to.counter("batches_applied_total", "batches that were counted", server.batches_applied);
  to.counter("batches_committed_total", "batches that are durable", server.batches_committed);
  to.counter("batches_seen_total", "batches that were counted before", server.batches_seen);
  to.counter("batches_failed_total", "batches that the disk did not take", server.batches_failed);
  to.counter("wants_total", "times that an agent was asked to go on elsewhere", server.wants);
  to.counter("answers_full_total", "answers that an agent had no room for", server.answers_full);
  for (std::size_t i = 0; i < wire::kRefusals; ++i)
    to.counter("refused_total", "what was turned away", server.refused.at(i),
               {"reason", wire::to_string(static_cast<wire::Refusal>(i))});
  to.gauge("files", "files whose positions are known", counts.files);
  to.gauge("batches_under_way", "batches that are not durable yet", counts.under_way);
  to.counter("batches_not_taken_total", "batches that the store did not take", counts.not_taken);
}

void add_lines(Families& to, const fetch::LinesCounts& lines) {
  to.counter("lines_questions_total", "questions for raw lines", lines.questions);
  to.counter("lines_questions_refused_total",
             "of those, questions that were not passed on: too many, or no such job, node or rank",
             lines.refused);
  to.counter("lines_questions_incomplete_total", "of those, answers that lack something",
             lines.incomplete);
  to.counter("lines_given_total", "raw lines that were given", lines.lines);
  to.counter("lines_given_bytes_total", "bytes of them", lines.bytes);
}

void add_events(Families& to, const live::EventCounts& events) {
  to.counter("events_published_total", "events for those who follow", events.published);
  to.gauge("event_streams", "clients that follow", events.streams);
  to.counter("event_streams_dropped_total", "clients given up because they read too slowly",
             events.dropped);
}

void add_jobs(Families& to, const scoring::ShardStats& shards) {
  to.gauge("jobs", "jobs in memory", shards.jobs);
  to.gauge("jobs_ended", "of those, jobs that are over", shards.jobs_ended);
  to.gauge("jobs_frozen", "of those, jobs that are too large to be followed", shards.jobs_frozen);
  to.counter("jobs_dropped_total", "jobs that were let go", shards.jobs_dropped);
  to.gauge("jobs_saved_bytes", "bytes of their checkpoints", shards.saved_bytes);
  to.counter("job_batches_total", "batches that came to their job", shards.batches);
  to.counter("job_batches_refused_total", "batches that could not be applied in full",
             shards.batches_refused);
  to.counter("job_left_out_total", "batches and warnings beyond a bound", shards.left_out);
  to.gauge("tasks_waiting", "batches that wait for a scoring thread", shards.waiting);
  to.counter("diagnoses_total", "full diagnoses", shards.diagnoses);
  to.counter("diagnoses_seconds_total", "time they took", seconds(shards.diagnosing));
  to.gauge("diagnosis_longest_seconds", "the longest of them", seconds(shards.diagnosis_longest));
  to.counter("node_checks_total", "comparisons of nodes between diagnoses", shards.checks);
  to.counter("node_checks_seconds_total", "time they took", seconds(shards.checking));
  to.counter("node_check_alarms_total", "nodes that asked for a diagnosis", shards.check_alarms);
  to.counter("notices_total", "notices: what differs and harms nothing", shards.notices_opened);
  to.gauge("notices_open", "notices that stand in the newest reports", shards.notices_open);
  to.counter("incidents_opened_total", "incidents", shards.incidents_opened);
  to.gauge("jobs_with_incident", "jobs with an open incident", shards.incidents_open);
  for (std::size_t i = 0; i < scoring::kStates; ++i)
    if (const auto state = static_cast<State>(i); is_failure(state))
      to.gauge("incidents_open", "open incidents by how the job failed", shards.open_by_state.at(i),
               {"state", name(state)});
  to.gauge("jobs_suspected", "jobs with a suspicion", shards.suspects);
}

/// The newest jobs that run; `left_out`: the number of the others that run.
std::vector<const scoring::JobRow*> jobs_to_show(const std::vector<scoring::JobRow>& jobs,
                                                 std::size_t& left_out) {
  std::vector<const scoring::JobRow*> running;
  for (const scoring::JobRow& job : jobs)
    if (!job.ended) running.push_back(&job);
  std::ranges::sort(running, [](const scoring::JobRow* a, const scoring::JobRow* b) {
    const auto began = [](const scoring::JobRow& job) {
      return job.begin ? job.begin : job.last_seen;
    };
    return std::pair(began(*b), std::string_view(a->id)) <
           std::pair(began(*a), std::string_view(b->id));
  });
  left_out = running.size() - std::min(running.size(), kJobSeriesMax);
  running.resize(running.size() - left_out);
  return running;
}

/// The label is `job_id`, because Prometheus uses `job` itself and would rename ours to
/// `exported_job`.
void add_job(Families& to, const scoring::JobRow& job, TimeMs now) {
  const std::string id = serve::harmless(job.id);
  const metrics::Label of{"job_id", id};
  const auto gauge = [&](const char* what, const char* help, auto value) {
    to.allow(what, kJobSeriesMax);
    to.gauge(what, help, value, of);
  };
  to.allow("job_state", kJobSeriesMax);
  to.gauge("job_state", "1 for the state of a job that runs", 1,
           {"job_id", id, "state", name(job.state)});
  gauge("job_attempt", "attempt that it is in, from 0", job.attempt);
  gauge("job_nodes", "nodes of it", job.nodes);
  gauge("job_ranks", "ranks of it", job.ranks);
  gauge("job_completeness", "share of its known bytes that were parsed", job.completeness);
  gauge("job_incident_open", "1 while it has an open incident", !job.incident.empty());
  gauge("job_suspected", "1 while a failure of it is suspected", job.suspect);
  if (job.iteration) gauge("job_iteration", "newest iteration of it", job.iteration->value());
  if (job.progress)
    gauge("job_progress_age_seconds", "since it last completed an iteration or began a stage",
          seconds(std::max(now - *job.progress, Millis{0})));
  to.allow("job_lines_total", kJobSeriesMax);
  to.counter("job_lines_total", "lines of it", job.lines, of);
}

void add_each_job(Families& to, const std::vector<scoring::JobRow>& jobs, TimeMs now) {
  std::size_t left_out = 0;
  for (const scoring::JobRow* job : jobs_to_show(jobs, left_out)) add_job(to, *job, now);
  to.gauge("jobs_without_series", "jobs that run and are not shown one by one", left_out);
}

void add_pool(Families& to, const pool::PoolStats& pool) {
  to.gauge("pool_runs", "healthy runs that jobs are held against", pool.runs);
  to.gauge("pool_kinds", "kinds of job that they are of", pool.kinds);
  to.gauge("pool_bytes", "bytes of them", pool.bytes);
  to.counter("pool_added_total", "runs that were added or replaced", pool.added);
  to.counter("pool_dropped_total", "runs that have left", pool.dropped);
}

void add_flows(Families& to, const collect::CollectCounts& flows) {
  if (!flows.on) return;
  to.counter("flow_datagrams_total", "datagrams of flow exporters", flows.datagrams);
  to.counter("flow_datagram_bytes_total", "bytes of them", flows.bytes);
  to.counter("flow_datagrams_dropped_total", "datagrams that the kernel dropped", flows.dropped);
  to.counter("flow_strangers_total", "datagrams of senders that may not send", flows.strangers);
  to.counter("flow_unreadable_total", "messages, sets and records that could not be read",
             flows.bad);
  to.counter("flow_unknown_sets_total", "sets of records that came before their template",
             flows.unknown);
  to.counter("flow_records_total", "flow records", flows.flows.records);
  to.counter("flow_records_lost_total", "records that are missing by the exporters' numbers",
             flows.flows.lost);
  to.counter("flow_records_unplaced_total", "records of connections beyond a bound",
             flows.flows.unplaced);
  to.counter("flow_records_ahead_total", "records later than this host's clock", flows.ahead);
  to.counter("flow_busy_seconds_total", "time spent on flow records", seconds(flows.busy));
  to.gauge("flow_buffer_bytes", "what the kernel holds of datagrams", flows.buffer_bytes);
  to.gauge("flow_exporters", "exporters that were heard", flows.exporters);
  to.gauge("flow_streams", "connections that are known", flows.flows.streams);
  to.gauge("flow_cards", "network cards that are known", flows.flows.cards);
  to.gauge("flow_table_bytes", "memory of both at most", flows.flows.table_bytes);
  to.gauge("flow_jobs", "jobs that flow records show", flows.flows.jobs);
  to.gauge("flow_jobs_silent", "of those, jobs that fell silent", flows.flows.silent_jobs);
  to.gauge("flow_findings", "slow steps, their causes and silence that are kept of them",
           flows.flows.findings);
}

void add_faults(Families& to, const live::Counts& counts) {
  to.gauge("faults", "known faults", counts.faults);
  to.gauge("faults_confirmed", "of those, confirmed by engineers", counts.faults_confirmed);
}

void add_store(Families& to, const live::Counts& counts) {
  const store::StoreStats& store = counts.store;
  to.gauge("accepting", "0 while the journal cannot be written", counts.accepting);
  to.counter("journal_records_total", "batches written to the journal", store.commit.records);
  to.counter("journal_written_bytes_total", "bytes of them", store.commit.bytes);
  to.counter("journal_commits_total", "writes to the journal", store.commit.groups);
  to.counter("journal_failures_total", "writes that failed", store.commit.failures);
  to.gauge("journal_bytes", "size of the journal", store.commit.journal_bytes);
  to.gauge("journal_limit_bytes", "size beyond which nothing is taken", counts.journal_bytes_max);
  to.counter("checkpoints_total", "checkpoints", store.checkpoints);
  to.counter("checkpoint_written_bytes_total", "bytes of them", store.checkpoint_bytes);
  to.counter("checkpoint_failures_total", "checkpoints that failed", store.checkpoint_failures);
  to.gauge("checkpoint_bytes", "size of those that are kept", store.checkpoint_bytes_kept);
  to.gauge("checkpoint_limit_bytes", "size that those may have", counts.checkpoint_bytes_max);
}

/// The sinks are those of the config: few, and their names are bounded.
void add_alerts(Families& to, const alert::AlerterStats& alerts) {
  alert::SinkStats webhook;
  for (const alert::SinkStats& sink : alerts.sinks) {
    if (sink.sink == "webhook") webhook = sink;
    to.counter("alert_sink_posts_total", "posts that a sink has taken", sink.posted,
               {"sink", sink.sink});
    to.counter("alert_sink_failures_total", "posts that failed", sink.failures,
               {"sink", sink.sink});
    to.counter("alert_sink_dropped_total", "alerts that could not be kept", sink.dropped,
               {"sink", sink.sink});
    to.gauge("alert_sink_waiting", "alerts that are due", sink.waiting, {"sink", sink.sink});
  }
  to.counter("alerts_total", "alerts", alerts.alerts);
  to.counter("alerts_silenced_total", "of those, silenced", alerts.silenced);
  to.counter("alerts_acknowledged_total", "of those, held back: somebody has their incident",
             alerts.acknowledged);
  to.counter("alerts_maintenance_total", "of those, held back: their job or node is in maintenance",
             alerts.maintenance);
  to.gauge("incidents_acknowledged", "incidents that somebody has, also resolved ones",
           alerts.quiet.acknowledged);
  to.gauge("maintenance", "maintenances of jobs and nodes that are not over",
           alerts.quiet.maintenance);
  to.counter("alerts_grouped_total", "alerts that a sink was told together", alerts.grouped);
  to.counter("webhook_posts_total", "alerts that [alerts] webhook has taken", webhook.posted);
  to.counter("webhook_failures_total", "posts to it that failed", webhook.failures);
  to.counter("alerts_dropped_total", "alerts that could not be kept", alerts.dropped);
}

void add_http(Families& to, const http::ServerCounts& http) {
  to.gauge("http_connections", "HTTP connections that are open", http.open);
  to.gauge("http_connections_limit", "HTTP connections that may be open", http.connections_max);
  to.gauge("http_requests_in_flight", "HTTP requests that wait for their answer", http.in_flight);
  to.gauge("http_requests_in_flight_limit", "HTTP requests that may wait for their answer",
           http.in_flight_max);
  to.counter("http_connections_total", "HTTP connections that were taken", http.connections);
  to.counter("http_requests_total", "HTTP requests", http.requests);
  for (std::size_t i = 0; i < http::kAnswerKinds.size(); ++i)
    to.counter("http_answers_total", "HTTP answers by the kind of their status", http.answers.at(i),
               {"status", http::kAnswerKinds.at(i)});
  for (std::size_t i = 0; i < http::kRefusals.size(); ++i)
    to.counter("http_refused_total",
               "HTTP requests that were turned away: by a bound, for their form, or for who asked",
               http.refused_for.at(i), {"reason", http::kRefusals.at(i)});
  to.counter("http_timed_out_total", "HTTP connections given up by a limit of time",
             http.timed_out);
  to.counter("http_evicted_total", "HTTP connections that made room for others, or found none",
             http.evicted);
}

}  // namespace

std::string render_metrics(const live::Counts& counts, const live::Health& health,
                           const http::ServerCounts& http) {
  Families families("l4_aggregator_");
  add_health(families, health);
  add_fleet(families, counts);
  add_wire(families, counts);
  add_jobs(families, counts.shards);
  add_each_job(families, counts.jobs, counts.now);
  add_lines(families, counts.lines);
  add_events(families, counts.events);
  add_pool(families, counts.pool);
  add_flows(families, counts.flows);
  add_faults(families, counts);
  add_store(families, counts);
  add_alerts(families, counts.alerts);
  add_http(families, http);
  families.process();
  return families.text();
}

std::string render_job_metrics(const live::Counts& counts, const http::JobLimit& limit) {
  std::vector<scoring::JobRow> jobs = counts.jobs;
  std::erase_if(jobs, [&](const scoring::JobRow& job) { return !limit.includes(job.id); });
  Families families("l4_aggregator_");
  add_each_job(families, jobs, counts.now);
  return families.text();
}

}  // namespace l4::api
