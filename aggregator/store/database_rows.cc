// The rows of the database: how each kind is written and read.
#include <fmt/format.h>

#include "aggregator/store/database_impl.h"

namespace l4::store {
namespace {

/// Those that incident_of() reads; the large ones are read only where they are asked for.
constexpr const char* kIncidentColumns =
    "id, job, attempt, state, opened, updated, resolved, told_state, told_node, told_rank, "
    "told_fault, source";
constexpr const char* kHeadColumns = ", head_brief, head_evidence";
constexpr const char* kReportColumns = ", report, evidence";

Incident incident_of(SqlStatement& row) {
  Incident incident{row.text(0), row.text(1), row.number(2), row.text(3), {}, {}, {}, {}, {}, {}};
  incident.opened = time_of(row.number(4));
  incident.updated = time_of(row.number(5));
  if (const auto resolved = row.maybe_number(6)) incident.resolved = time_of(*resolved);
  incident.told = {row.text(7), row.text(8), row.text(10), row.maybe_number(9)};
  incident.source = row.text(11);
  return incident;
}

Incident whole_incident_of(SqlStatement& row) {
  Incident incident = incident_of(row);
  incident.report = row.text(12);
  incident.evidence = row.text(13);
  return incident;
}

Snapshot snapshot_of(SqlStatement& row) {
  return {row.text(0), time_of(row.number(1)), row.text(2), row.text(3), row.text(4), row.text(5)};
}

JobRow job_of(SqlStatement& row) {
  JobRow job;
  job.id = row.text(0);
  job.kind = row.text(1);
  job.begin = time_of(row.number(2));
  job.updated = time_of(row.number(3));
  if (const auto end = row.maybe_number(4)) job.end = time_of(*end);
  job.outcome = row.text(5);
  job.attempts = row.number(6);
  job.nodes = row.number(7);
  job.ranks = row.number(8);
  job.lines = row.number(9);
  job.bytes = row.number(10);
  return job;
}

PoolRun run_of(SqlStatement& row) {
  return {row.text(0), row.text(1), time_of(row.number(2)), row.number(3), row.text(4)};
}

Alert alert_of(SqlStatement& row) {
  Alert alert{row.number(0), row.text(1), row.text(2), row.text(3), {}, {}, row.number(6)};
  alert.created = time_of(row.number(4));
  alert.due = time_of(row.number(5));
  alert.lasts = row.number(7) != 0;
  alert.event = row.text(8);
  alert.job = row.text(9);
  alert.line = row.text(10);
  return alert;
}

constexpr std::string_view kAlertColumns =
    "id, sink, incident, content, created, due, tries, lasts, event, job, line";

Result<void> remove_alerts(SqlConnection& connection, const std::string& sink,
                           const std::string& incident) {
  SqlStatement remove(connection, "DELETE FROM alerts WHERE sink = ? AND incident = ?");
  return remove.bind(sink).bind(incident).done();
}

/// Returns the id of the new row.
Result<std::int64_t> insert_alert(SqlConnection& connection, const Alert& alert) {
  if (alert.replaces)
    if (auto done = remove_alerts(connection, alert.sink, alert.incident); !done)
      return std::unexpected(done.error());
  SqlStatement insert(connection,
                      "INSERT INTO alerts (sink, incident, content, created, due, tries, lasts, "
                      "event, job, line) VALUES (?,?,?,?,?,0,?,?,?,?) RETURNING id");
  insert.bind(alert.sink).bind(alert.incident).bind(alert.content);
  insert.bind(ms(alert.created)).bind(ms(alert.due)).bind(std::int64_t{alert.lasts ? 1 : 0});
  insert.bind(alert.event).bind(alert.job).bind(alert.line);
  const auto row = insert.step();
  if (!row) return std::unexpected(row.error());
  const std::int64_t id = insert.number(0);
  if (auto done = insert.done(); !done) return std::unexpected(done.error());
  return id;
}

std::int64_t most(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

Result<void> insert_incident(SqlConnection& connection, const Incident& incident) {
  SqlStatement insert(connection, fmt::format("INSERT OR REPLACE INTO incidents ({}{}{}) VALUES "
                                              "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                              kIncidentColumns, kHeadColumns, kReportColumns));
  insert.bind(incident.id).bind(incident.job).bind(incident.attempt).bind(incident.state);
  insert.bind(ms(incident.opened)).bind(ms(incident.updated)).bind(ms(incident.resolved));
  const Gist& told = incident.told;
  insert.bind(told.state).bind(told.node).bind(told.rank).bind(told.fault);
  insert.bind(incident.source);
  insert.bind(incident.head.brief).bind(incident.head.evidence);
  insert.bind(incident.report).bind(incident.evidence);
  return insert.done();
}

}  // namespace

Result<void> Database::save(const Incident& incident) {
  return impl_->call<void>(
      [&](SqlConnection& connection) { return insert_incident(connection, incident); });
}

Result<std::optional<Incident>> Database::incident(const std::string& id) {
  return impl_->call<std::optional<Incident>>(
      [&](SqlConnection& connection) -> Result<std::optional<Incident>> {
        SqlStatement select(connection, fmt::format("SELECT {}{} FROM incidents WHERE id = ?",
                                                    kIncidentColumns, kReportColumns));
        select.bind(id);
        const auto row = select.step();
        if (!row) return std::unexpected(row.error());
        return *row ? std::optional(whole_incident_of(select)) : std::nullopt;
      });
}

Result<std::optional<Incident>> Database::incident_head(const std::string& id) {
  return impl_->call<std::optional<Incident>>(
      [&](SqlConnection& connection) -> Result<std::optional<Incident>> {
        SqlStatement select(connection, fmt::format("SELECT {}{} FROM incidents WHERE id = ?",
                                                    kIncidentColumns, kHeadColumns));
        select.bind(id);
        const auto row = select.step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return std::nullopt;
        Incident incident = incident_of(select);
        incident.head = {select.text(12), select.text(13)};
        return incident;
      });
}

Result<std::vector<Incident>> Database::incidents(const IncidentQuery& query) {
  return impl_->call<std::vector<Incident>>([&](SqlConnection& connection) {
    SqlStatement select(connection,
                        fmt::format("SELECT {}{} FROM incidents WHERE (?2 = 0 OR resolved IS NULL) "
                                    "AND (?4 IS NULL OR (opened, id) < (?4, ?5)) {} {} {} "
                                    "ORDER BY opened DESC, id DESC LIMIT ?3",
                                    kIncidentColumns, query.with_reports ? kReportColumns : "",
                                    query.job.empty() ? "" : "AND job = ?1",
                                    query.fault.empty() ? "" : "AND told_fault = ?6",
                                    query.node.empty() ? "" : "AND told_node = ?7"));
    select.bind(query.job).bind(std::int64_t{query.open_only ? 1 : 0}).bind(most(query.count));
    select.bind(query.before ? std::optional(ms(query.before->opened)) : std::nullopt);
    select.bind(query.before ? std::string_view(query.before->id) : std::string_view());
    if (!query.fault.empty() || !query.node.empty()) select.bind(query.fault);
    if (!query.node.empty()) select.bind(query.node);
    return impl_->rows<Incident>(select, query.with_reports ? whole_incident_of : incident_of);
  });
}

Result<void> Database::save(const Snapshot& snapshot) {
  return impl_->call<void>([&](SqlConnection& connection) -> Result<void> {
    SqlTransaction transaction(connection);
    if (!transaction.begun()) return transaction.begun();
    SqlStatement insert(connection, "INSERT OR REPLACE INTO snapshots VALUES (?,?,?,?,?,?)");
    insert.bind(snapshot.job).bind(ms(snapshot.at)).bind(snapshot.why).bind(snapshot.who);
    insert.bind(snapshot.state).bind(snapshot.report);
    if (auto done = insert.done(); !done) return done;
    SqlStatement trim(connection,
                      "DELETE FROM snapshots WHERE job = ?1 AND at IN (SELECT at FROM snapshots "
                      "WHERE job = ?1 ORDER BY at DESC LIMIT -1 OFFSET ?2)");
    trim.bind(snapshot.job).bind(most(impl_->options.snapshots_per_job));
    if (auto done = trim.done(); !done) return done;
    return transaction.commit();
  });
}

Result<std::vector<Snapshot>> Database::snapshots(const std::string& job, TimeMs before,
                                                  std::size_t count) {
  return impl_->call<std::vector<Snapshot>>([&](SqlConnection& connection) {
    SqlStatement select(connection,
                        "SELECT job, at, why, who, state, '' FROM snapshots WHERE job = ? AND at "
                        "< ? ORDER BY at DESC LIMIT ?");
    select.bind(job).bind(ms(before)).bind(most(count));
    return impl_->rows<Snapshot>(select, snapshot_of);
  });
}

Result<std::optional<Snapshot>> Database::snapshot(const std::string& job, TimeMs at) {
  return impl_->call<std::optional<Snapshot>>(
      [&](SqlConnection& connection) -> Result<std::optional<Snapshot>> {
        SqlStatement select(connection,
                            "SELECT job, at, why, who, state, report FROM snapshots WHERE job = ? "
                            "AND at <= ? ORDER BY at DESC LIMIT 1");
        select.bind(job).bind(ms(at));
        const auto row = select.step();
        if (!row) return std::unexpected(row.error());
        return *row ? std::optional(snapshot_of(select)) : std::nullopt;
      });
}

Result<void> Database::save(const JobRow& job) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement insert(connection, "INSERT OR REPLACE INTO jobs VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    insert.bind(job.id).bind(job.kind).bind(ms(job.begin)).bind(ms(job.updated));
    insert.bind(ms(job.end)).bind(job.outcome).bind(job.attempts).bind(job.nodes);
    insert.bind(job.ranks).bind(job.lines).bind(job.bytes);
    return insert.done();
  });
}

Result<std::vector<JobRow>> Database::jobs(std::size_t count) {
  return impl_->call<std::vector<JobRow>>([&](SqlConnection& connection) {
    SqlStatement select(
        connection,
        "SELECT id, kind, begin, updated, \"end\", outcome, attempts, nodes, ranks, "
        "lines, bytes FROM jobs ORDER BY begin DESC, id DESC LIMIT ?");
    select.bind(most(count));
    return impl_->rows<JobRow>(select, job_of);
  });
}

Result<void> Database::save(const PoolRun& run) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement insert(connection, "INSERT OR REPLACE INTO pool VALUES (?,?,?,?,?)");
    insert.bind(run.kind).bind(run.job).bind(ms(run.ended)).bind(run.events);
    insert.bind_bytes(std::as_bytes(std::span(run.content)));
    return insert.done();
  });
}

Result<std::vector<PoolRun>> Database::pool(const std::string& kind) {
  return impl_->call<std::vector<PoolRun>>([&](SqlConnection& connection) {
    SqlStatement select(connection,
                        "SELECT kind, job, ended, events, content FROM pool WHERE kind = ? ORDER "
                        "BY ended DESC, job DESC");
    select.bind(kind);
    return impl_->rows<PoolRun>(select, run_of);
  });
}

Result<std::vector<PoolRun>> Database::pool() {
  return impl_->call<std::vector<PoolRun>>([&](SqlConnection& connection) {
    SqlStatement select(connection,
                        "SELECT kind, job, ended, events, content FROM pool ORDER BY ended DESC, "
                        "job DESC");
    return impl_->rows<PoolRun>(select, run_of);
  });
}

Result<void> Database::change_pool(const std::optional<PoolRun>& run,
                                   const std::vector<std::string>& gone) {
  return impl_->call<void>([&](SqlConnection& connection) -> Result<void> {
    SqlTransaction transaction(connection);
    if (!transaction.begun()) return transaction.begun();
    SqlStatement remove(connection, "DELETE FROM pool WHERE job = ?");
    const auto drop = [&](const std::string& name) {
      remove.reset();
      return remove.bind(name).done();
    };
    for (const std::string& name : gone)
      if (auto done = drop(name); !done) return done;
    if (run) {
      if (auto done = drop(run->job); !done) return done;
      SqlStatement insert(connection, "INSERT INTO pool VALUES (?,?,?,?,?)");
      insert.bind(run->kind).bind(run->job).bind(ms(run->ended)).bind(run->events);
      insert.bind_bytes(std::as_bytes(std::span(run->content)));
      if (auto done = insert.done(); !done) return done;
    }
    return transaction.commit();
  });
}

Result<void> Database::save(const Outcome& outcome) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement insert(connection, "INSERT OR REPLACE INTO outcomes VALUES (?,?,?,?,?)");
    insert.bind(outcome.job).bind(outcome.outcome).bind(outcome.note).bind(outcome.who);
    return insert.bind(ms(outcome.told)).done();
  });
}

Result<std::vector<Outcome>> Database::outcomes() {
  return impl_->call<std::vector<Outcome>>([&](SqlConnection& connection) {
    SqlStatement select(connection, "SELECT job, outcome, note, who, told FROM outcomes");
    return impl_->rows<Outcome>(select, [](SqlStatement& row) {
      return Outcome{row.text(0), row.text(1), row.text(2), row.text(3), time_of(row.number(4))};
    });
  });
}

Result<void> Database::save(const Label& label) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement insert(connection, "INSERT OR REPLACE INTO labels VALUES (?,?,?,?,?,?,?)");
    insert.bind(label.subject).bind(label.job).bind(label.source).bind(label.truth);
    return insert.bind(label.claims).bind(label.who).bind(ms(label.told)).done();
  });
}

Result<std::vector<Label>> Database::labels() {
  return impl_->call<std::vector<Label>>([&](SqlConnection& connection) {
    SqlStatement select(connection,
                        "SELECT subject, job, source, truth, claims, who, told FROM labels ORDER "
                        "BY subject");
    return impl_->rows<Label>(select, [](SqlStatement& row) {
      return Label{row.text(0), row.text(1), row.text(2),           row.text(3),
                   row.text(4), row.text(5), time_of(row.number(6))};
    });
  });
}

Result<bool> Database::has_job(const std::string& id) {
  return impl_->call<bool>([&](SqlConnection& connection) -> Result<bool> {
    SqlStatement select(connection, "SELECT 1 FROM jobs WHERE id = ?");
    select.bind(id);
    return select.step();
  });
}

Result<void> Database::save(const Acknowledgement& told) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement insert(connection, "INSERT OR REPLACE INTO acknowledgements VALUES (?,?,?,?,?)");
    insert.bind(told.incident).bind(told.job).bind(told.who).bind(told.note);
    return insert.bind(ms(told.at)).done();
  });
}

Result<void> Database::drop_acknowledgement(const std::string& incident) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement remove(connection, "DELETE FROM acknowledgements WHERE incident = ?");
    return remove.bind(incident).done();
  });
}

Result<std::vector<Acknowledgement>> Database::acknowledgements() {
  return impl_->call<std::vector<Acknowledgement>>([&](SqlConnection& connection) {
    SqlStatement select(connection, "SELECT incident, job, who, note, at FROM acknowledgements");
    return impl_->rows<Acknowledgement>(select, [](SqlStatement& row) {
      return Acknowledgement{row.text(0), row.text(1), row.text(2), row.text(3),
                             time_of(row.number(4))};
    });
  });
}

Result<std::int64_t> Database::save(const Maintenance& maintenance) {
  return impl_->call<std::int64_t>([&](SqlConnection& connection) -> Result<std::int64_t> {
    SqlStatement insert(connection,
                        "INSERT OR REPLACE INTO maintenance VALUES (?,?,?,?,?,?,?,?,?) "
                        "RETURNING id");
    insert.bind(maintenance.id == 0 ? std::nullopt : std::optional(maintenance.id));
    insert.bind(maintenance.kind).bind(maintenance.pattern).bind(maintenance.who);
    insert.bind(maintenance.why).bind(ms(maintenance.began)).bind(ms(maintenance.until));
    insert.bind(ms(maintenance.ended)).bind(maintenance.ended_by);
    const auto row = insert.step();
    if (!row) return std::unexpected(row.error());
    const std::int64_t id = insert.number(0);
    if (auto done = insert.done(); !done) return std::unexpected(done.error());
    return id;
  });
}

Result<std::vector<Maintenance>> Database::maintenance() {
  return impl_->call<std::vector<Maintenance>>([&](SqlConnection& connection) {
    SqlStatement select(connection,
                        "SELECT id, kind, pattern, who, why, began, until, ended, ended_by FROM "
                        "maintenance ORDER BY id");
    return impl_->rows<Maintenance>(select, [](SqlStatement& row) {
      Maintenance maintenance{row.number(0),         row.text(1), row.text(2),
                              row.text(3),           row.text(4), time_of(row.number(5)),
                              time_of(row.number(6))};
      if (const auto ended = row.maybe_number(7)) maintenance.ended = time_of(*ended);
      maintenance.ended_by = row.text(8);
      return maintenance;
    });
  });
}

Result<void> Database::save(const HeldIncident& held) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement insert(connection, "INSERT OR REPLACE INTO held_incidents VALUES (?,?,?)");
    return insert.bind(held.incident).bind(held.maintenance).bind(ms(held.at)).done();
  });
}

Result<std::vector<HeldIncident>> Database::held_incidents() {
  return impl_->call<std::vector<HeldIncident>>([&](SqlConnection& connection) {
    SqlStatement select(connection, "SELECT incident, maintenance, at FROM held_incidents");
    return impl_->rows<HeldIncident>(select, [](SqlStatement& row) {
      return HeldIncident{row.text(0), row.number(1), time_of(row.number(2))};
    });
  });
}

Result<std::int64_t> Database::enqueue(const Alert& alert) {
  return impl_->call<std::int64_t>([&](SqlConnection& connection) -> Result<std::int64_t> {
    SqlTransaction transaction(connection);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto id = insert_alert(connection, alert);
    if (!id) return id;
    if (auto done = transaction.commit(); !done) return std::unexpected(done.error());
    return id;
  });
}

Result<void> Database::enqueue(const std::vector<Alert>& alerts, const Incident* incident) {
  return impl_->call<void>([&](SqlConnection& connection) -> Result<void> {
    SqlTransaction transaction(connection);
    if (!transaction.begun()) return transaction.begun();
    if (incident != nullptr)
      if (auto saved = insert_incident(connection, *incident); !saved) return saved;
    for (const Alert& alert : alerts)
      if (auto id = insert_alert(connection, alert); !id) return std::unexpected(id.error());
    return transaction.commit();
  });
}

Result<std::vector<Alert>> Database::due(const std::string& sink, TimeMs now, std::size_t count) {
  return impl_->call<std::vector<Alert>>([&](SqlConnection& connection) {
    SqlStatement select(
        connection,
        fmt::format("SELECT {} FROM alerts WHERE sink = ? AND due <= ? ORDER BY id LIMIT ?",
                    kAlertColumns));
    select.bind(sink).bind(ms(now)).bind(most(count));
    return impl_->rows<Alert>(select, alert_of);
  });
}

Result<std::vector<Alert>> Database::untaken(const std::string& sink, TimeMs now,
                                             std::size_t count) {
  return impl_->call<std::vector<Alert>>([&](SqlConnection& connection) {
    SqlStatement select(
        connection,
        fmt::format("SELECT {} FROM alerts WHERE sink = ? AND (lasts = 0 OR tries > 0 OR due <= ?) "
                    "ORDER BY id LIMIT ?",
                    kAlertColumns));
    select.bind(sink).bind(ms(now)).bind(most(count));
    return impl_->rows<Alert>(select, alert_of);
  });
}

Result<void> Database::sent(std::int64_t id) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement remove(connection, "DELETE FROM alerts WHERE id = ?");
    return remove.bind(id).done();
  });
}

Result<void> Database::sent(std::int64_t id, TimeMs again) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement update(connection, "UPDATE alerts SET tries = 0, due = ? WHERE id = ?");
    return update.bind(ms(again)).bind(id).done();
  });
}

Result<void> Database::failed(std::int64_t id, TimeMs again) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement update(connection, "UPDATE alerts SET tries = tries + 1, due = ? WHERE id = ?");
    return update.bind(ms(again)).bind(id).done();
  });
}

Result<void> Database::withdraw(const std::string& sink, const std::string& incident) {
  return impl_->call<void>(
      [&](SqlConnection& connection) { return remove_alerts(connection, sink, incident); });
}

Result<void> Database::retry_now(const std::string& sink, TimeMs now) {
  return impl_->call<void>([&](SqlConnection& connection) {
    SqlStatement update(connection,
                        "UPDATE alerts SET due = ?2 WHERE sink = ?1 AND tries > 0 AND due > ?2");
    return update.bind(sink).bind(ms(now)).done();
  });
}

Result<std::uint64_t> Database::drop_sink(const std::string& sink) {
  return impl_->call<std::uint64_t>([&](SqlConnection& connection) -> Result<std::uint64_t> {
    SqlTransaction transaction(connection);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    SqlStatement count(connection,
                       "SELECT count(*) FROM alerts WHERE sink = ? AND NOT (lasts = 1 AND tries = "
                       "0 AND due > created)");
    count.bind(sink);
    if (const auto row = count.step(); !row) return std::unexpected(row.error());
    const auto waited = static_cast<std::uint64_t>(count.number(0));
    SqlStatement remove(connection, "DELETE FROM alerts WHERE sink = ?1 OR sink GLOB ?1 || '/*'");
    if (auto done = remove.bind(sink).done(); !done) return std::unexpected(done.error());
    if (auto done = transaction.commit(); !done) return std::unexpected(done.error());
    return waited;
  });
}

Result<std::vector<std::string>> Database::sinks() {
  return impl_->call<std::vector<std::string>>([&](SqlConnection& connection) {
    SqlStatement select(connection,
                        "SELECT DISTINCT sink FROM alerts WHERE sink NOT LIKE '%/%' ORDER BY sink");
    return impl_->rows<std::string>(select, [](SqlStatement& row) { return row.text(0); });
  });
}

Result<std::uint64_t> Database::waiting(const std::string& sink, TimeMs now) {
  return impl_->call<std::uint64_t>([&](SqlConnection& connection) -> Result<std::uint64_t> {
    SqlStatement select(connection,
                        "SELECT count(*) FROM alerts WHERE sink = ? AND (due <= ? OR tries > 0)");
    select.bind(sink).bind(ms(now));
    if (const auto row = select.step(); !row) return std::unexpected(row.error());
    return static_cast<std::uint64_t>(select.number(0));
  });
}

Result<std::uint64_t> Database::trim(const std::string& sink, std::size_t count, TimeMs before) {
  return impl_->call<std::uint64_t>([&](SqlConnection& connection) -> Result<std::uint64_t> {
    SqlStatement remove(connection,
                        "DELETE FROM alerts WHERE sink = ?1 AND (created < ?2 OR id IN (SELECT id "
                        "FROM alerts WHERE sink = ?1 ORDER BY id DESC LIMIT -1 OFFSET ?3))");
    remove.bind(sink).bind(ms(before)).bind(most(count));
    if (auto done = remove.done(); !done) return std::unexpected(done.error());
    return static_cast<std::uint64_t>(connection.changes());
  });
}

}  // namespace l4::store
