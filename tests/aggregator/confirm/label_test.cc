// Labels: which claims of a report a truth judges, and how.
#include "aggregator/confirm/label.h"

#include <doctest/doctest.h>

#include <string>

namespace l4::confirm {
namespace {

using diagnose::clues::Claim;

/// A report of a hang, which suspects node-1 and was led to it by template 0...1.
diagnose::Report report_of(State state = State::hung) {
  diagnose::Report report;
  report.job.id = "job-a";
  report.job.nodes = 4;
  report.verdict.state = state;
  report.certainty = {
      {Claim::state, std::string(name(state)), 0.9, {{"silent", 1}, {"doubts", 0.6931}}, {}, {}},
      {Claim::node, "node-1", 0.8, {{"base", 1}}, {}, {}},
      {Claim::event, "0000000000000001", 0.7, {{"base", 1}}, {}, {}}};
  diagnose::SuspectRank rank;
  rank.rank = Rank{7};
  rank.node = "node-2";
  report.ranks = {rank};
  return report;
}

store::Label label_by(const Truth& truth, const diagnose::Report& report = report_of()) {
  store::Incident incident;
  incident.id = "job-a.0.1";
  incident.job = "job-a";
  return label_of(incident, report, truth, "me", TimeMs{Millis{5}});
}

TEST_CASE("label: only what is told is judged, with the grounds of the claim") {
  Truth truth;
  truth.state = "hung";
  const store::Label label = label_by(truth);
  CHECK(label.subject == "job-a.0.1");
  CHECK(label.truth == R"({"state": "hung"})");
  CHECK(label.claims == R"([{"of": "state", "name": "hung", "confidence": 0.9, "right": true, )"
                        R"("grounds": [{"kind": "silent", "value": 1}, )"
                        R"({"kind": "doubts", "value": 0.6931}]}])");
}

TEST_CASE("label: a first node is right if it is one of those named") {
  Truth truth;
  truth.nodes = {"node-3", "node-1"};
  CHECK(label_by(truth).claims.contains(R"("name": "node-1", "confidence": 0.8, "right": true)"));
  truth.nodes = {"node-3"};
  CHECK(label_by(truth).claims.contains(R"("right": false)"));
  diagnose::Report alone = report_of();
  alone.job.nodes = 1;
  CHECK(label_by(truth, alone).claims == "[]");
}

TEST_CASE("label: a rank names its node; of a rank that the report does not know nothing is said") {
  Truth truth;
  truth.rank = 7;
  CHECK(label_by(truth).claims.contains(R"("name": "node-1", "confidence": 0.8, "right": false)"));
  truth.rank = 8;
  CHECK(label_by(truth).claims == "[]");
  truth.nodes = {"node-1"};
  CHECK(label_by(truth).claims.contains(R"("right": true)"));
}

TEST_CASE("label: the event is judged by its template") {
  Truth truth;
  truth.template_id = "0000000000000002";
  CHECK(label_by(truth).claims.contains(
      R"("name": "0000000000000001", "confidence": 0.7, "right": false)"));
}

TEST_CASE("label: claims of one fault are of one source, else those of one job") {
  Truth truth;
  truth.state = "crashed";
  CHECK(label_by(truth).source == "job job-a");
  diagnose::Report known = report_of();
  known.faults.emplace_back().id = "xid_79";
  CHECK(label_by(truth, known).source == "fault xid_79");
  truth.fault = "site_ours";
  CHECK(label_by(truth, known).source == "fault site_ours");
}

TEST_CASE("label: a word that is no state is answered with those that are") {
  CHECK(unknown_state("hung").empty());
  CHECK(unknown_state("broken").starts_with("healthy, finished, crashed"));
}

TEST_CASE("label: an outcome judges a report of a job that is well, and no other") {
  const store::Outcome success{"job-a", "success", "", "me", TimeMs{}},
      failure{"job-a", "failure", "", "me", TimeMs{}};
  const auto good = label_of_outcome(success, report_of(State::finished));
  REQUIRE(good);
  CHECK(good->subject == "job job-a");
  CHECK(good->claims.contains(R"("name": "finished", "confidence": 0.9, "right": true)"));
  const auto missed = label_of_outcome(failure, report_of(State::healthy));
  REQUIRE(missed);
  CHECK(missed->claims.contains(R"("right": false)"));
  CHECK_FALSE(label_of_outcome(success, report_of(State::crashed)));
  CHECK_FALSE(label_of_outcome(failure, report_of(State::hung)));
}

}  // namespace
}  // namespace l4::confirm
