#include "aggregator/scoring/network_job.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace l4::scoring {
namespace {

using alert::Kind;
using detect::network::Finding;
using detect::network::Network;
using detect::network::Trouble;

TimeMs at(int seconds) {
  return TimeMs{Millis{1'700'000'000'000 + seconds * 1'000}};
}

Network with(Trouble trouble, unsigned steps, bool open = true, bool in_step = true) {
  Network network;
  network.job = "flows-1";
  network.servers = {{"a", {}, {}}, {"b", {}, {}}};
  Finding finding;
  finding.trouble = trouble;
  finding.since = at(0);
  finding.steps = steps;
  finding.open = open;
  finding.in_step = in_step;
  finding.places = finding.servers = {"b"};
  network.findings.push_back(std::move(finding));
  return network;
}

std::size_t count(const IncidentBook::Changes& changes, Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(changes.alerts, kind, &alert::Alert::kind));
}

}  // namespace

TEST_CASE("network job: the second slow step opens an incident, its end resolves it") {
  NetworkJob job("flows-1", {});
  CHECK(job.seen(with(Trouble::slow_link, 1), at(0)).rows.empty());
  const auto opened = job.seen(with(Trouble::slow_link, 2), at(5));
  REQUIRE(count(opened, Kind::opened) == 1);
  const auto alert = std::ranges::find(opened.alerts, Kind::opened, &alert::Alert::kind);
  CHECK(alert->job == "flows-1");
  CHECK(alert->state == State::slow);
  CHECK(alert->nodes == std::vector<std::string>{"b"});
  CHECK(alert->summary.find("a slow link at b") != std::string::npos);
  REQUIRE(opened.rows.size() == 1);
  CHECK_FALSE(opened.rows[0].resolved);
  CHECK(count(job.seen(with(Trouble::slow_link, 3), at(10)), Kind::opened) == 0);
  const auto over = job.seen(with(Trouble::slow_link, 3, false), at(20));
  CHECK(count(over, Kind::resolved) == 1);
  CHECK(over.rows.back().resolved);
}

TEST_CASE("network job: a stop within a step is a failure, between two steps it is a notice") {
  NetworkJob job("flows-1", {});
  const auto maybe = job.seen(with(Trouble::stopped, 0, true, false), at(0));
  CHECK(maybe.rows.empty());
  CHECK(count(maybe, Kind::noticed) == 1);
  const auto hung = job.seen(with(Trouble::stopped, 0), at(1));
  REQUIRE(count(hung, Kind::opened) == 1);
  CHECK(report_of(with(Trouble::stopped, 0)).verdict.state == State::hung);
  CHECK(report_of(with(Trouble::crash, 0)).verdict.state == State::crashed);
}

TEST_CASE("network job: single slow steps are notices") {
  NetworkJob job("flows-1", {});
  const auto pause = job.seen(with(Trouble::pause, 1), at(0));
  CHECK(pause.rows.empty());
  CHECK(count(pause, Kind::noticed) == 1);
}

TEST_CASE("network job: what is open ends with the job") {
  NetworkJob job("flows-1", {});
  CHECK(count(job.seen(with(Trouble::hang, 0), at(0)), Kind::opened) == 1);
  const auto over = job.close("its logs are read now", at(1));
  REQUIRE(count(over, Kind::resolved) == 1);
  CHECK(over.alerts[0].summary == "its logs are read now");
  CHECK(over.rows.back().resolved);
  CHECK(job.close("again", at(2)).alerts.empty());
}

}  // namespace l4::scoring
