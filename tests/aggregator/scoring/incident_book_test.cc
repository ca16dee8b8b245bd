#include "aggregator/scoring/incident_book.h"

#include <doctest/doctest.h>

#include "aggregator/serve/json_value.h"
#include "aggregator/serve/report_brief.h"
#include "tests/aggregator/live/seconds.h"

namespace l4::scoring {
namespace {

using test::at;

diagnose::Report report(State state, std::int32_t attempt = 0, const std::string& node = "n1") {
  diagnose::Report made;
  made.job.id = "job";
  made.job.attempt = attempt;
  made.verdict.state = state;
  made.verdict.confidence = 0.9;
  made.verdict.summary = "something happened";
  if (is_failure(state)) {
    diagnose::SuspectNode suspect;
    suspect.node = node;
    made.nodes.push_back(suspect);
  }
  made.job.attempts.push_back({attempt, state, {}, {}});
  return made;
}

watch::Trigger trigger(watch::Cause cause) {
  watch::Trigger made;
  made.cause = cause;
  made.detail = "because";
  return made;
}

diagnose::KnownFault fault(const char* id, double confidence = 0.9) {
  diagnose::KnownFault fault;
  fault.id = id;
  fault.confidence = confidence;
  return fault;
}

TEST_CASE("incidents: another confidence holds from then on") {
  IncidentBook book("job", {});
  IncidentBook::Options strict;
  strict.confidence_min = 0.95;
  book.set(strict);
  CHECK(book.diagnosed(report(State::crashed), at(1)).alerts.empty());
  book.set({});
  CHECK(book.diagnosed(report(State::crashed), at(2)).alerts.size() == 1);
}

TEST_CASE("incidents: beside the report stands its head, which a restart keeps") {
  IncidentBook book("job", {});
  book.triggered({trigger(watch::Cause::error_line)}, at(1));
  diagnose::Report failed = report(State::crashed);
  failed.nodes.resize(100, failed.nodes[0]);
  const store::Incident row = book.diagnosed(failed, at(2)).rows.at(0);
  const diagnose::Report head = serve::report_in_brief(row.head.brief);
  CHECK(head.nodes.size() == 32);
  CHECK(head.verdict.summary == failed.verdict.summary);
  CHECK(row.head.evidence.find("because") != std::string::npos);
  CHECK(row.head.evidence.find("report_at_opening") == std::string::npos);
  CHECK(head_of(row).brief == row.head.brief);
  CHECK(serve::parse_json(head_of(row).evidence).has_value());
  CHECK(head_of(row).evidence.find("report_at_opening") == std::string::npos);
  store::Incident stored = row;
  stored.head = {};
  IncidentBook again("job", {});
  again.restore({stored});
  again.heard();
  const auto resolved = again.diagnosed(report(State::finished), at(3));
  REQUIRE(resolved.rows.size() == 1);
  CHECK(resolved.rows[0].head == head_of(row));
}

TEST_CASE("incidents: what is stored of an open one is its alert again") {
  IncidentBook book("job", {});
  const auto opened = book.diagnosed(report(State::hung), at(2));
  store::Incident row = opened.rows.at(0);
  const auto alert = standing_alert(row);
  REQUIRE(alert);
  CHECK(alert::to_json(*alert, {"l4"}) == alert::to_json(opened.alerts.at(0), {"l4"}));
  row.report = "{}";
  CHECK_FALSE(standing_alert(row));
}

TEST_CASE("incidents: open once, updated, resolved when the job goes on") {
  IncidentBook book("job", {});
  book.triggered({trigger(watch::Cause::error_line)}, at(0));
  CHECK(book.is_suspect(at(1)));
  CHECK(book.diagnosed(report(State::healthy), at(1)).rows.empty());
  CHECK_FALSE(book.is_suspect(at(1)));  // the report says healthy, but the job is checked again
  CHECK(book.is_checked(at(1)));
  const auto opened = book.diagnosed(report(State::crashed), at(2));
  REQUIRE(opened.alerts.size() == 1);
  CHECK(opened.alerts[0].kind == alert::Kind::opened);
  CHECK(opened.alerts[0].nodes == std::vector<std::string>{"n1"});
  REQUIRE(opened.rows.size() == 1);
  CHECK(opened.rows[0].evidence.find("because") != opened.rows[0].evidence.npos);
  CHECK_FALSE(book.is_suspect(at(2)));
  CHECK(book.open_id() == opened.rows[0].id);
  CHECK(book.open_states() == std::vector<State>{State::crashed});

  const auto again = book.diagnosed(report(State::crashed), at(40));
  CHECK(again.alerts.empty());
  REQUIRE(again.rows.size() == 1);
  CHECK(again.rows[0].id == opened.rows[0].id);
  CHECK(again.rows[0].opened == at(2));
  CHECK(again.rows[0].updated == at(40));

  const auto changed = book.diagnosed(report(State::hung, 0, "n2"), at(80));
  REQUIRE(changed.alerts.size() == 1);
  CHECK(changed.alerts[0].kind == alert::Kind::changed);
  // Too soon after the last alert.
  CHECK(book.diagnosed(report(State::crashed), at(81)).alerts.empty());

  const auto resolved = book.diagnosed(report(State::healthy), at(120));
  REQUIRE(resolved.alerts.size() == 1);
  CHECK(resolved.alerts[0].kind == alert::Kind::resolved);
  CHECK(resolved.rows[0].resolved == at(120));
  CHECK(resolved.rows[0].report.find("\"crashed\"") != std::string::npos);  // as it was
  CHECK(book.open_id().empty());
  CHECK(book.open_states().empty());

  const auto reopened = book.diagnosed(report(State::hung), at(200));
  CHECK(book.open_states() == std::vector<State>{State::hung});
  REQUIRE(reopened.rows.size() == 1);
  CHECK(reopened.rows[0].id == opened.rows[0].id);
  CHECK_FALSE(reopened.rows[0].resolved);
  CHECK(reopened.alerts[0].kind == alert::Kind::opened);
}

TEST_CASE("incidents: after a restart silence resolves nothing, lines do") {
  store::Incident row;
  row.id = "job.0.1";
  row.job = "job";
  row.state = "crashed";
  row.opened = row.updated = at(0);
  IncidentBook book("job", {});
  book.restore({row});
  const auto silent = book.diagnosed(report(State::healthy), at(1));
  CHECK(silent.alerts.empty());
  CHECK(silent.rows.empty());
  CHECK(book.open_id() == "job.0.1");
  CHECK(book.diagnosed(report(State::finished), at(2)).alerts.empty());
  book.heard();
  const auto resolved = book.diagnosed(report(State::healthy), at(3));
  REQUIRE(resolved.alerts.size() == 1);
  CHECK(resolved.alerts[0].kind == alert::Kind::resolved);
  CHECK(book.open_id().empty());
}

TEST_CASE("incidents: what is found out soon after the opening is told soon, none is forgotten") {
  IncidentBook book("job", {});
  CHECK(book.diagnosed(report(State::crashed), at(0)).alerts.size() == 1);
  CHECK_FALSE(book.owes_at());
  diagnose::Report known = report(State::crashed);
  known.faults.push_back(fault("xid_79"));
  CHECK(book.diagnosed(known, at(0)).alerts.empty());
  CHECK(book.owes_at() == at(1));
  CHECK(book.diagnosed(report(State::crashed), at(0)).alerts.empty());
  CHECK_FALSE(book.owes_at());  // the report equals the last alert again
  CHECK(book.diagnosed(known, at(0)).alerts.empty());
  const auto told = book.diagnosed(known, at(1));
  REQUIRE(told.alerts.size() == 1);
  CHECK(told.alerts[0].kind == alert::Kind::changed);
  CHECK(told.alerts[0].faults.at(0).id == "xid_79");
  diagnose::Report guessed = known;  // an alert is routed by its fault: a guess is none
  guessed.faults.push_back(fault("nccl_net", 0.15));
  CHECK(book.diagnosed(guessed, at(1)).alerts.empty());
  diagnose::Report ranked = known;
  ranked.ranks.emplace_back().rank = Rank{3};
  std::int64_t now = 1;
  for (const int wait : {2, 4, 8, 16, 30, 30}) {
    CHECK(book.diagnosed(ranked, at(now + 1)).alerts.empty());
    CHECK(book.owes_at() == at(now + wait));
    now += wait;
    CHECK(book.diagnosed(ranked, at(now)).alerts.size() == 1);
    std::swap(ranked, known);
  }
  CHECK(book.diagnosed(ranked, at(now + 1)).alerts.empty());
  CHECK(book.diagnosed(report(State::healthy), at(now + 2)).alerts.size() == 1);
  CHECK_FALSE(book.owes_at());
  CHECK(book.diagnosed(report(State::crashed), at(now + 10)).alerts.size() == 1);
  CHECK(book.diagnosed(known, at(now + 10)).alerts.empty());
  CHECK(book.owes_at() == at(now + 11));  // opened anew
}

TEST_CASE("incidents: what is worse is told at once, what is not, not that often") {
  IncidentBook book("job", {});
  CHECK(book.diagnosed(report(State::slow), at(0)).alerts.size() == 1);
  const auto hung = book.diagnosed(report(State::hung), at(1));
  REQUIRE(hung.alerts.size() == 1);
  CHECK(hung.alerts[0].kind == alert::Kind::changed);
  CHECK(hung.alerts[0].state == State::hung);
  CHECK(book.diagnosed(report(State::crashed), at(2)).alerts.size() == 1);
  CHECK(book.diagnosed(report(State::hung), at(3)).alerts.empty());
  CHECK(book.diagnosed(report(State::crashed, 0, "n2"), at(4)).alerts.empty());
  CHECK(book.diagnosed(report(State::hung), at(40)).alerts.size() == 1);
  // This state was already sent.
  CHECK(book.diagnosed(report(State::crashed), at(41)).alerts.empty());
}

TEST_CASE("incidents: a state that is not sure enough opens none") {
  IncidentBook book("job", {});
  auto unsure = report(State::hung);
  unsure.verdict.confidence = 0.4;
  CHECK(book.diagnosed(unsure, at(0)).rows.empty());
  CHECK(book.diagnosed(report(State::unknown), at(0)).rows.empty());
  CHECK_FALSE(book.has_open());
}

TEST_CASE("incidents: one for each attempt, also for one that nobody saw failing") {
  IncidentBook book("job", {});
  const auto first = book.diagnosed(report(State::crashed), at(0));
  auto second = report(State::healthy, 1);
  second.job.attempts.insert(second.job.attempts.begin(), {0, State::crashed, {}, {}});
  const auto goes_on = book.diagnosed(second, at(10));
  REQUIRE(goes_on.alerts.size() == 1);
  CHECK(goes_on.alerts[0].kind == alert::Kind::resolved);
  CHECK(goes_on.alerts[0].summary == "the job goes on as attempt 1");
  auto third = report(State::healthy, 2);
  third.job.attempts = {
      {0, State::crashed, {}, {}}, {1, State::hung, at(20), {}}, {2, State::healthy, {}, {}}};
  const auto late = book.diagnosed(third, at(30));
  REQUIRE(late.alerts.size() == 2);
  CHECK(late.alerts[0].kind == alert::Kind::opened);
  CHECK(late.alerts[0].attempt == 1);
  CHECK(late.alerts[0].state == State::hung);
  CHECK(late.alerts[1].kind == alert::Kind::resolved);
  CHECK(late.rows.at(0).id != first.rows.at(0).id);
}

TEST_CASE("incidents: after a restart nothing is told again") {
  IncidentBook before("job", {});
  const auto opened = before.diagnosed(report(State::crashed), at(0));
  IncidentBook after("job", {});
  after.restore(opened.rows);
  CHECK(after.has_open());
  const auto again = after.diagnosed(report(State::crashed), at(100));
  CHECK(again.alerts.empty());
  REQUIRE(again.rows.size() == 1);
  CHECK(again.rows[0].id == opened.rows[0].id);
  CHECK(again.rows[0].opened == opened.rows[0].opened);
  after.heard();
  const auto resolved = after.diagnosed(report(State::finished), at(110));
  REQUIRE(resolved.alerts.size() == 1);
  CHECK(resolved.alerts[0].summary == "the job has ended well");
}

TEST_CASE("incidents: a change that was owed at a restart is told after it, once") {
  diagnose::Report known = report(State::crashed);
  known.faults.push_back(fault("xid_79"));
  IncidentBook before("job", {});
  CHECK(before.diagnosed(report(State::crashed), at(0)).alerts.size() == 1);
  const auto owed = before.diagnosed(known, at(0));
  CHECK(owed.alerts.empty());
  REQUIRE(owed.rows.size() == 1);
  IncidentBook after("job", {});
  after.restore(owed.rows);
  CHECK(after.owes_at().has_value());
  const auto told = after.diagnosed(known, at(5));
  REQUIRE(told.alerts.size() == 1);
  CHECK(told.alerts[0].kind == alert::Kind::changed);
  CHECK_FALSE(after.owes_at().has_value());
  IncidentBook later("job", {});
  later.restore(told.rows);
  CHECK_FALSE(later.owes_at().has_value());
  CHECK(later.diagnosed(known, at(10)).alerts.empty());
}

TEST_CASE("incidents: after a restart changes are told no more often than before") {
  diagnose::Report known = report(State::crashed);
  known.faults.push_back(fault("xid_79"));
  IncidentBook before("job", {});
  CHECK(before.diagnosed(report(State::crashed), at(0)).alerts.size() == 1);
  const auto owed = before.diagnosed(known, at(0));
  IncidentBook after("job", {});
  after.restore(owed.rows);
  std::size_t told = 0;
  for (int second = 1; second <= 60; ++second) {
    known.faults[0].id = second % 2 == 0 ? "xid_79" : "xid_48";
    told += after.diagnosed(known, at(second)).alerts.size();
  }
  CHECK(told >= 2);
  CHECK(told <= 7);
}

TEST_CASE("incidents: what is owed and cannot be said does not ask for a diagnosis at once") {
  diagnose::Report known = report(State::crashed);
  known.faults.push_back(fault("xid_79"));
  IncidentBook before("job", {});
  CHECK(before.diagnosed(report(State::crashed), at(0)).alerts.size() == 1);
  const auto owed = before.diagnosed(known, at(0));
  IncidentBook after("job", {});
  after.restore(owed.rows);
  CHECK(after.diagnosed(report(State::unknown), at(10)).alerts.empty());
  REQUIRE(after.owes_at().has_value());
  CHECK(*after.owes_at() > at(20));
}

TEST_CASE("incidents: one that an older version stored has told what its report says") {
  IncidentBook before("job", {});
  auto opened = before.diagnosed(report(State::crashed), at(0));
  opened.rows.at(0).told = {};
  IncidentBook after("job", {});
  after.restore(opened.rows);
  CHECK_FALSE(after.owes_at().has_value());
  CHECK(after.diagnosed(report(State::crashed), at(100)).alerts.empty());
  CHECK(after.open_states() == std::vector{State::crashed});
}

TEST_CASE("incidents: a suspicion that nobody confirms passes") {
  IncidentBook book("job", {});
  book.triggered({trigger(watch::Cause::silent)}, at(0));
  CHECK(book.is_suspect(at(59)));
  CHECK_FALSE(book.is_suspect(at(60)));
  book.triggered({trigger(watch::Cause::silent)}, at(100));
  book.triggered({trigger(watch::Cause::went_on)}, at(101));
  CHECK_FALSE(book.is_suspect(at(102)));
}

}  // namespace
}  // namespace l4::scoring
