#include "aggregator/store/database.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "aggregator/store/schema.h"
#include "aggregator/store/sqlite.h"
#include "tests/aggregator/store/failing_vfs.h"
#include "tests/aggregator/store/numbered.h"
#include "tests/temp_folder.h"

using namespace l4;
using namespace l4::store;
using namespace l4::store::test;

namespace {

Incident incident(int number, std::optional<TimeMs> resolved = std::nullopt) {
  return {"job-" + std::to_string(number) + "/0",
          "job-" + std::to_string(number % 3),
          number,
          "hung",
          at_ms(number * 1000),
          at_ms(number * 1000 + 1),
          resolved,
          "{\"a\": \"" + std::string(1, '\0') + "\xff\"}",
          "[]",
          {"hung", "node-" + std::to_string(number), "xid_79",
           number % 2 == 0 ? std::nullopt : std::optional<std::int64_t>(number)}};
}

wire::Batch batch(std::uint64_t key, std::uint64_t to) {
  wire::Batch made;
  made.agent = "node-1";
  made.coverage.push_back({"x.log", {0, to}, 3, to, {key, 1, ~std::uint64_t{0}, key * 7, 256}});
  return made;
}

}  // namespace

TEST_CASE("database: incidents in pages, of one millisecond, too, while some come and go") {
  const l4::test::TempFolder folder;
  Database database(folder.path() / "state.db", {});
  for (int i = 1; i <= 9; ++i) {
    Incident one = incident(i);
    one.opened = at_ms(1000 * (i / 4));
    CHECK(database.save(one));
  }
  IncidentQuery query{"", false, 2};
  query.with_reports = false;
  std::vector<std::string> seen;
  for (;;) {
    const auto rows = database.incidents(query);
    REQUIRE(rows);
    if (rows->empty()) break;
    for (const Incident& row : *rows) {
      CHECK(row.report.empty());
      CHECK(row.evidence.empty());
      seen.push_back(row.id);
    }
    query.before = IncidentCursor{rows->back().opened, rows->back().id};
    Incident fresh = incident(100 + static_cast<int>(seen.size()));
    fresh.opened = at_ms(1'000'000);
    CHECK(database.save(fresh));
  }
  std::vector<std::string> all;
  for (int i = 9; i >= 1; --i) all.push_back(incident(i).id);
  CHECK(seen == all);
}

TEST_CASE("database: the head of an incident is read without its reports") {
  const l4::test::TempFolder folder;
  Database database(folder.path() / "state.db", {});
  Incident one = incident(3);
  one.head = {"{\"report\": {}}", "{\"openings\": 1}"};
  CHECK(database.save(one));
  const auto head = database.incident_head(one.id);
  REQUIRE((head && *head));
  CHECK((*head)->head == one.head);
  CHECK((*head)->told == one.told);
  CHECK((*head)->report.empty());
  const auto whole = database.incident(one.id);
  REQUIRE((whole && *whole));
  CHECK((*whole)->report == one.report);
  CHECK((*whole)->evidence == one.evidence);
  CHECK_FALSE(database.incident_head("none")->has_value());
  IncidentQuery of_another{"job-1"};
  CHECK(database.incidents(of_another)->empty());
}

TEST_CASE("database: incidents of one known fault, in pages; alerts that no sink has taken") {
  const l4::test::TempFolder folder;
  Database database(folder.path() / "state.db", {});
  for (int i = 1; i <= 6; ++i) {
    Incident one = incident(i);
    one.opened = at_ms(1000 * i);
    one.told.fault = i % 2 == 0 ? "oom_host" : "";
    CHECK(database.save(one));
  }
  IncidentQuery query;
  query.fault = "oom_host";
  query.count = 2;
  auto rows = database.incidents(query);
  REQUIRE(rows);
  REQUIRE(rows->size() == 2);
  CHECK(rows->at(0).id == incident(6).id);
  CHECK(rows->at(1).id == incident(4).id);
  query.before = IncidentCursor{rows->back().opened, rows->back().id};
  rows = database.incidents(query);
  REQUIRE(rows);
  REQUIRE(rows->size() == 1);
  CHECK(rows->at(0).id == incident(2).id);
  query.fault = "of nobody";
  CHECK(database.incidents(query)->empty());
  query = {};
  query.node = "node-4";
  rows = database.incidents(query);
  REQUIRE(rows);
  REQUIRE(rows->size() == 1);
  CHECK(rows->at(0).id == incident(4).id);
  query.fault = "oom_host";
  CHECK(database.incidents(query)->size() == 1);
  query.fault = "of nobody";
  CHECK(database.incidents(query)->empty());

  Alert later{0, "chat", "i-1", "body", at_ms(1), at_ms(900), 0};
  later.event = "opened";
  later.job = "job-1";
  later.line = "crashed: x";
  Alert repeated{0, "chat", "i-2", "body", at_ms(1), at_ms(1), 0};
  repeated.lasts = true;
  CHECK(database.enqueue({later, repeated}));
  auto waiting = database.untaken("chat", at_ms(5), 10);
  REQUIRE(waiting);
  REQUIRE(waiting->size() == 2);
  CHECK(waiting->at(0).line == "crashed: x");
  CHECK(waiting->at(0).event == "opened");
  CHECK(waiting->at(0).job == "job-1");
  CHECK(database.sent(waiting->at(1).id, at_ms(700)));
  waiting = database.untaken("chat", at_ms(5), 10);
  CHECK(waiting->size() == 1);  // the repeated one was taken, and is not due again
  CHECK(database.untaken("chat", at_ms(5), 0)->empty());
  CHECK(database.untaken("other", at_ms(5), 10)->empty());
}

TEST_CASE("database: incidents, jobs, pool and alerts come back from disk") {
  const l4::test::TempFolder folder;
  const Path path = folder.path() / "state.db";
  JobRow job{"job-1", "llama", at_ms(5), at_ms(6), std::nullopt, "", 1, 2000, 16000, 77, 88};
  PoolRun run{"llama", "job-0", at_ms(9), 3, std::string("\0\1\2", 3)};
  std::int64_t alert = 0;
  {
    Database database(path, {});
    CHECK(database.ready());
    for (int i = 1; i <= 5; ++i) CHECK(database.save(incident(i)));
    Incident updated = incident(2, at_ms(9000));
    updated.state = "crashed";
    CHECK(database.save(updated));
    CHECK(database.save(job));
    job.end = at_ms(8);
    job.outcome = "finished";
    CHECK(database.save(job));
    CHECK(database.save(run));
    alert = *database.enqueue({0, "webhook", "job-1/0", "{}", at_ms(1), at_ms(50), 0});
    CHECK(*database.enqueue({0, "webhook", "job-1/0", "{}", at_ms(1), at_ms(60), 0}) == alert + 1);
  }
  Database database(path, {});
  CHECK(**database.incident("job-2/0") == [] {
    Incident updated = incident(2, at_ms(9000));
    updated.state = "crashed";
    return updated;
  }());
  CHECK_FALSE(database.incident("none")->has_value());
  CHECK(database.incidents({})->front() == incident(5));
  CHECK(database.incidents({"job-2", false, 100})->size() == 2);
  CHECK(database.incidents({"", true, 100})->size() == 4);
  CHECK(database.incidents({"", false, 2})->size() == 2);
  CHECK(*database.jobs(10) == std::vector<JobRow>{job});
  CHECK(*database.pool("llama") == std::vector<PoolRun>{run});
  CHECK(database.due("webhook", at_ms(49), 9)->empty());
  CHECK(database.due("webhook", at_ms(50), 9)->size() == 1);
  CHECK(database.failed(alert, at_ms(100)));
  CHECK(database.due("webhook", at_ms(60), 9)->front().id == alert + 1);
  CHECK(database.sent(alert + 1));
  REQUIRE(database.due("webhook", at_ms(100), 9)->size() == 1);
  CHECK(database.due("webhook", at_ms(100), 9)->front().tries == 1);
}

TEST_CASE("database: a sink is removed with its marks, undelivered rows are counted") {
  const l4::test::TempFolder folder;
  Database database(folder.path() / "state.db", {});
  const auto alert = [](const char* sink, const char* incident, bool lasts = false) {
    Alert made{0, sink, incident, "{}", at_ms(1), at_ms(1), 0};
    made.lasts = lasts;
    return made;
  };
  CHECK(database.enqueue({alert("a_b", "i"), alert("a_b", "told", true), alert("a_b", "new", true),
                          alert("a_b/storm", "s"), alert("axb", "i"), alert("axb/storm", "s")}));
  CHECK(database.sent(database.due("a_b", at_ms(1), 9)->at(1).id, at_ms(60)));
  CHECK(*database.sinks() == std::vector<std::string>{"a_b", "axb"});
  CHECK(*database.drop_sink("a_b") == 2);
  CHECK(*database.drop_sink("a_b") == 0);
  CHECK(database.due("a_b/storm", at_ms(99), 9)->empty());
  CHECK(database.due("axb/storm", at_ms(99), 9)->size() == 1);
  CHECK(*database.sinks() == std::vector<std::string>{"axb"});
}

TEST_CASE("database: retry_now makes failed alerts due") {
  const l4::test::TempFolder folder;
  Database database(folder.path() / "state.db", {});
  const Alert later{0, "a", "later", "{}", at_ms(1), at_ms(80), 0};
  const auto failed = database.enqueue({0, "a", "failed", "{}", at_ms(1), at_ms(1), 0});
  CHECK(database.failed(*failed, at_ms(90)));
  CHECK(database.enqueue(later));
  CHECK(database.retry_now("b", at_ms(5)));
  CHECK(database.due("a", at_ms(79), 9)->empty());
  CHECK(database.retry_now("a", at_ms(5)));
  REQUIRE(database.due("a", at_ms(79), 9)->size() == 1);
  CHECK(database.due("a", at_ms(5), 9)->front().incident == "failed");
}

TEST_CASE("database: each sink has its own alerts, in order, replaced and postponed") {
  const l4::test::TempFolder folder;
  Database database(folder.path() / "state.db", {});
  const auto alert = [](const char* sink, const char* incident, const char* content) {
    return Alert{0, sink, incident, content, at_ms(1), at_ms(5), 0};
  };
  CHECK(database.enqueue({alert("a", "i", "1"), alert("b", "i", "2"), alert("a", "k", "3")}));
  Alert newer = alert("a", "i", "4");
  newer.replaces = newer.lasts = true;
  CHECK(database.enqueue(std::vector{newer}));
  auto rows = *database.due("a", at_ms(5), 9);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].content == "3");
  CHECK(rows[1].content == "4");
  CHECK_FALSE(rows[0].lasts);
  CHECK(rows[1].lasts);
  CHECK(*database.waiting("a", at_ms(4)) == 0);
  CHECK(*database.waiting("a", at_ms(5)) == 2);
  CHECK(database.failed(rows[1].id, at_ms(50)));
  CHECK(*database.waiting("a", at_ms(5)) == 2);  // a try has failed
  CHECK(database.sent(rows[1].id, at_ms(60)));
  CHECK(*database.waiting("a", at_ms(5)) == 1);
  CHECK(database.due("a", at_ms(60), 9)->size() == 2);
  CHECK(database.withdraw("a", "i"));
  CHECK(database.due("a", at_ms(60), 9)->size() == 1);
  CHECK(database.due("b", at_ms(60), 9)->size() == 1);
  CHECK(database.enqueue(alert("a", "m", "5")));
  CHECK(*database.trim("a", 1, at_ms(0)) == 1);
  CHECK(database.due("a", at_ms(60), 9)->front().content == "5");
  CHECK(*database.trim("a", 9, at_ms(2)) == 1);
  CHECK(database.due("b", at_ms(60), 9)->size() == 1);
}

TEST_CASE("database: the mirror of the offsets is replaced as a whole") {
  const l4::test::TempFolder folder;
  const Path path = folder.path() / "state.db";
  const auto mirror = [&](const OffsetTable& offsets, Seq position) {
    CHECK(Database(path, {}).mirror(offsets, position));
    auto connection = SqlConnection::open(path, "");
    REQUIRE(connection);
    return *connection->text(
        "SELECT position || ': ' || group_concat(agent || ' ' || file || ' ' || offset) FROM "
        "mirror, "
        "(SELECT * FROM offsets ORDER BY offset)");
  };
  OffsetTable offsets;
  offsets.commit(batch(~std::uint64_t{0}, 10), at_ms(1));
  offsets.commit(batch(2, 20), at_ms(2));
  CHECK(mirror(offsets, Seq{7}) == "7: node-1 -1 10,node-1 2 20");
  OffsetTable fewer;
  fewer.commit(batch(2, 30), at_ms(3));
  CHECK(mirror(fewer, Seq{8}) == "8: node-1 2 30");
}

TEST_CASE("database: what people are quiet about is kept as long as it is of use") {
  const l4::test::TempFolder folder;
  DatabaseOptions options;
  options.maintenance = 2;
  Database database(folder.path() / "state.db", options);
  CHECK(database.save(incident(1)));
  const Incident known = database.incidents({})->at(0);
  const TimeMs told = known.updated;
  CHECK(database.save(Acknowledgement{known.id, known.job, "me", "a note", told}));
  CHECK(database.save(Acknowledgement{"gone.0.1", "gone", "me", "", told}));
  CHECK(database.save(HeldIncident{known.id, 1, told}));
  CHECK(database.save(HeldIncident{"gone.0.1", 1, told}));
  Maintenance one{0, "job", "a*", "me", "why", told, told + Millis{1'000}};
  for (const std::int64_t id : {1, 2, 3}) CHECK(database.save(one) == id);
  one.id = 1;
  one.until = told + Millis{9'000};
  one.ended = told + Millis{8'000};
  one.ended_by = "you";
  CHECK(database.save(one) == 1);
  CHECK(database.retain(told + std::chrono::hours(2)));
  REQUIRE(database.acknowledgements()->size() == 1);
  CHECK(database.acknowledgements()->at(0).note == "a note");
  REQUIRE(database.held_incidents()->size() == 1);
  CHECK(database.held_incidents()->at(0).incident == known.id);
  REQUIRE(database.maintenance()->size() == 2);
  CHECK(database.maintenance()->at(0) == one);
  CHECK(database.drop_acknowledgement(known.id));
  CHECK(database.acknowledgements()->empty());
}

TEST_CASE("database: labels survive a restart, are replaced by subject and bounded by number") {
  const l4::test::TempFolder folder;
  const Path path = folder.path() / "state.db";
  DatabaseOptions options;
  options.labels = 2;
  const auto label = [](const std::string& subject, std::int64_t told) {
    return Label{subject, "job-1", "fault f", "{}", "[]", "me", at_ms(told)};
  };
  {
    Database database(path, options);
    CHECK(database.save(label("job-1.0.1", 5)));
    CHECK(database.save(label("job-2.0.1", 2)));
    CHECK(database.save(label("job job-3", 1)));
    Label again = label("job-1.0.1", 6);
    again.truth = R"({"state":"hung"})";
    CHECK(database.save(again));
  }
  Database database(path, options);
  const auto kept = database.labels();
  REQUIRE((kept && kept->size() == 3));
  CHECK((*kept)[0].subject == "job job-3");
  CHECK((*kept)[1].truth == R"({"state":"hung"})");
  CHECK((*kept)[2] == label("job-2.0.1", 2));
  CHECK(database.retain(at_ms(10)));
  const auto newest = database.labels();
  REQUIRE((newest && newest->size() == 2));
  CHECK((*newest)[0].subject == "job-1.0.1");
}

TEST_CASE("database: an older schema is brought up to date, a newer one left alone") {
  const l4::test::TempFolder folder;
  const Path path = folder.path() / "state.db";
  {
    Database database(path, {});
    CHECK(database.save(incident(1)));
  }
  {
    auto connection = SqlConnection::open(path, "");
    CHECK(connection->run(
        "DROP TABLE alerts; DROP TABLE snapshots; DROP TABLE outcomes; DROP INDEX pool_by_run; "
        "DROP INDEX incidents_by_fault; DROP INDEX incidents_by_node; "
        "ALTER TABLE incidents DROP COLUMN told_state; ALTER TABLE incidents DROP COLUMN "
        "told_node; "
        "ALTER TABLE incidents DROP COLUMN told_rank; ALTER TABLE incidents DROP COLUMN "
        "told_fault; ALTER TABLE incidents DROP COLUMN source; "
        "ALTER TABLE incidents DROP COLUMN head_brief; "
        "ALTER TABLE incidents DROP COLUMN head_evidence; "
        "DROP TABLE acknowledgements; DROP TABLE maintenance; DROP TABLE held_incidents; DROP "
        "TABLE labels; "
        "PRAGMA user_version = 1;"));
  }
  {
    Database database(path, {});
    CHECK(database.enqueue({0, "log", "job-1/0", "{}", at_ms(1), at_ms(1), 0}));
    CHECK(database.save(Snapshot{"job-1", at_ms(1), "asked", "me", "hung", "{}"}));
    CHECK(database.save(Acknowledgement{"job-1/0", "job-1", "me", "", at_ms(1)}));
    const auto kept = database.incidents({});
    REQUIRE((kept && kept->size() == 1));
    CHECK(kept->front().report == incident(1).report);
    CHECK(kept->front().told == Gist{});
    CHECK(database.incident_head(kept->front().id)->value().head == IncidentHead{});
  }
  {
    auto connection = SqlConnection::open(path, "");
    CHECK(connection->run("PRAGMA user_version = 99"));
  }
  Database database(path, {});
  const auto refused = database.ready();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason.find("schema 99") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(path.string() + ".corrupt"));
}

TEST_CASE("database: a damaged file is renamed with a warning, and a new one begun") {
  const l4::test::TempFolder folder;
  const Path path = folder.path() / "state.db";
  {
    Database database(path, {});
    for (int i = 0; i < 200; ++i) CHECK(database.save(incident(i)));
  }
  SUBCASE("no database at all") {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << std::string(9000, 'x');
  }
  SUBCASE("pages overwritten") {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    for (int page = 1; page < 12; ++page) {
      file.seekp(page * 4096);
      file << std::string(512, '\xa5');
    }
  }
  std::vector<std::string> warnings;
  Database database(path, {}, [&](const std::string& text) { warnings.push_back(text); });
  CHECK(database.save(incident(1)));
  CHECK(database.incidents({})->size() == 1);
  REQUIRE(warnings.size() == 1);
  CHECK(std::filesystem::exists(path.string() + ".corrupt"));
}

TEST_CASE("database: rows and ages are bounded") {
  const l4::test::TempFolder folder;
  DatabaseOptions options;
  options.incidents = 10;
  options.jobs = 5;
  options.alerts = 4;
  options.age = Millis{1'000'000};
  options.alert_age = Millis{500'000};
  Database database(folder.path() / "state.db", options);
  for (int i = 0; i < 30; ++i) {
    CHECK(database.save(incident(i)));
    const std::string id = std::to_string(i);
    const TimeMs at = at_ms(i * 1000);
    CHECK(database.save(JobRow{id, "k", at, at, at, "finished", 1, 1, 1, 1, 1}));
    CHECK(database.save(PoolRun{"kind-" + std::to_string(i % 5), id, at, 1, "x"}));
    CHECK(database.enqueue({0, "log", id, "{}", at, at, 0}));
  }
  CHECK(*database.retain(at_ms(30'000)) > 0);
  CHECK(database.incidents({})->size() == 10);
  CHECK(database.incidents({})->back() == incident(20));
  CHECK(database.jobs(100)->size() == 5);
  CHECK(database.due("log", at_ms(99'000), 100)->size() == 4);
  CHECK(database.pool("kind-4")->size() == 6);  // pool_book bounds the pool
  Alert lasting{0, "pager", "1", "{}", at_ms(1), at_ms(1), 0};
  lasting.lasts = true;
  CHECK(database.enqueue({lasting, {0, "pager/storm", "1", "{}", at_ms(1), at_ms(1), 0}}));
  CHECK(*database.retain(at_ms(530'000)) == 4);
  CHECK(database.due("pager", at_ms(99'000), 100)->size() ==
        1);  // an alert that lasts is kept until it ends
  CHECK(database.due("pager/storm", at_ms(99'000), 100)->size() == 1);
  CHECK(*database.retain(at_ms(1'100'000)) == 10 + 5);
}

TEST_CASE("database: the size of the file is bounded; a full one can still be read") {
  const l4::test::TempFolder folder;
  DatabaseOptions options;
  options.bytes_max = 400'000;
  Database database(folder.path() / "state.db", options);
  Incident large = incident(1);
  large.report.assign(50'000, 'x');
  int number = 0;
  for (; number < 100; ++number) {
    large.id = std::to_string(number);
    if (!database.save(large)) break;
  }
  CHECK(number > 3);
  CHECK(number < 10);
  CHECK(database.incidents({})->size() == static_cast<std::size_t>(number));
}

TEST_CASE("database: any failing call to the disk is an error, and afterwards all is well") {
  FailingVfs vfs;
  for (const int count : {1, 1'000'000}) {
    for (int n = 1; n < 60; ++n) {
      INFO("call ", n, " count ", count);
      const l4::test::TempFolder folder;
      const Path path = folder.path() / "state.db";
      DatabaseOptions options;
      options.vfs = vfs.name();
      std::vector<std::string> done;
      {
        std::vector<std::string> warnings;
        Database database(path, options,
                          [&](const std::string& text) { warnings.push_back(text); });
        vfs.fail(n, count);
        for (int i = 0; i < 6; ++i)
          if (database.save(incident(i))) done.push_back(incident(i).id);
        vfs.heal();
        CHECK(database.save(incident(100)));
        for (const std::string& id : done) CHECK(database.incident(id)->has_value());
        CHECK(warnings.empty());
      }
      Database again(path, {});
      for (const std::string& id : done) CHECK(again.incident(id)->has_value());
      CHECK(again.incident(incident(100).id)->has_value());
    }
  }
}

TEST_CASE("database: snapshots of a job are bounded, listed newest first, and found by time") {
  const l4::test::TempFolder folder;
  const Path path = folder.path() / "state.db";
  DatabaseOptions options;
  options.snapshots_per_job = 3;
  options.snapshots = 4;
  options.snapshot_age = Millis{1'000};
  const auto snapshot = [](const char* job, int at) {
    return Snapshot{job, at_ms(at), "asked", "me", "hung", "{\"at\": " + std::to_string(at) + "}"};
  };
  const auto times = [](const std::vector<Snapshot>& rows) {
    std::vector<TimeMs> all;
    for (const Snapshot& row : rows) all.push_back(row.at);
    return all;
  };
  Database database(path, options);
  for (const int at : {10, 20, 30, 40}) CHECK(database.save(snapshot("a", at)));
  CHECK(database.save(snapshot("b", 25)));
  CHECK(database.save(snapshot("b", 25)));  // an equal snapshot again
  CHECK(times(*database.snapshots("a", at_ms(1'000), 10)) ==
        std::vector{at_ms(40), at_ms(30), at_ms(20)});
  CHECK(times(*database.snapshots("a", at_ms(40), 1)) == std::vector{at_ms(30)});
  CHECK((*database.snapshots("a", at_ms(40), 1))[0].report.empty());
  CHECK(*database.snapshot("a", at_ms(39)) == snapshot("a", 30));
  CHECK_FALSE(*database.snapshot("a", at_ms(19)));
  CHECK(*database.snapshot("b", at_ms(1'000)) == snapshot("b", 25));
  CHECK_FALSE(*database.snapshot("c", at_ms(1'000)));
  CHECK(database.save(snapshot("c", 50)));
  CHECK(*database.retain(at_ms(100)) == 1);  // the oldest of all
  CHECK(times(*database.snapshots("a", at_ms(1'000), 10)) == std::vector{at_ms(40), at_ms(30)});
  CHECK(*database.retain(at_ms(1'045)) == 3);  // those that are too old
  CHECK(database.snapshots("a", at_ms(1'000), 10)->empty());
  CHECK(times(*database.snapshots("c", at_ms(1'000), 10)) == std::vector{at_ms(50)});
}
