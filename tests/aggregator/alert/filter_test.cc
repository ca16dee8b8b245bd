#include "aggregator/alert/filter.h"

#include <doctest/doctest.h>

#include <vector>

namespace l4::alert {
namespace {

Alert incident() {
  Alert alert;
  alert.incident = "pretrain.0.1";
  alert.job = "pretrain";
  alert.state = State::crashed;
  alert.nodes = {"rack-1-7", "rack-2-3"};
  alert.faults = {{"xid-79", "", "", "", "hardware/gpu"}, {"oom", "", "", "", "software/memory"}};
  return alert;
}

Alert of(Kind kind, std::vector<std::string> nodes = {}) {
  Alert alert;
  alert.kind = kind;
  alert.nodes = std::move(nodes);
  return alert;
}

bool meant(const AlertFilter& filter, const Alert& alert) {
  return matches(filter, alert, topic(alert.kind));
}

TEST_CASE("filter: each field of an incident") {
  struct Row {
    AlertFilter filter;
    bool holds;
  };
  const std::vector<Row> rows{
      {{}, true},
      {{.jobs = {"pre*"}}, true},
      {{.jobs = {"fine*", "pretrai?"}}, true},
      {{.jobs = {"fine*"}}, false},
      {{.states = {State::hung, State::crashed}}, true},
      {{.states = {State::hung}}, false},
      {{.topics = {Topic::incident}}, true},
      {{.topics = {Topic::blind, Topic::storm}}, false},
      {{.nodes = {"rack-1-*"}}, true},
      {{.nodes = {"rack-2-*"}}, false},  // not the first node
      {{.faults = {"xid-*"}}, true},
      {{.faults = {"oom"}}, false},
      {{.categories = {"hardware*"}}, true},
      {{.categories = {"software*"}}, false},
      {{.jobs = {"pre*"}, .categories = {"hardware*"}}, true},
      {{.jobs = {"pre*"}, .nodes = {"rack-2-*"}}, false},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(meant(rows[i].filter, incident()) == rows[i].holds);
  }
  Alert bare = incident();
  bare.nodes.clear();
  bare.faults.clear();
  CHECK_FALSE(meant({.nodes = {"rack-1-*"}}, bare));
  CHECK_FALSE(meant({.faults = {"xid-*"}}, bare));
}

TEST_CASE("filter: notices go where they are asked for, and silences of a job hold them back") {
  for (const Kind kind : {Kind::noticed, Kind::notice_over}) {
    Alert notice = of(kind, {"n1"});
    notice.job = "pretrain";
    notice.notice = "pretrain.0.node.n1";
    CHECK_FALSE(meant({}, notice));
    CHECK_FALSE(meant({.jobs = {"pre*"}}, notice));
    CHECK(meant({.topics = {Topic::notice}}, notice));
    CHECK(meant({.jobs = {"pre*"}, .topics = {Topic::incident, Topic::notice}}, notice));
    CHECK_FALSE(meant({.jobs = {"other"}, .topics = {Topic::notice}}, notice));
    CHECK_FALSE(meant({.topics = {Topic::notice}, .nodes = {"m*"}}, notice));
    CHECK(silences({.jobs = {"pre*"}}, notice));
    CHECK(silences({.topics = {Topic::notice}}, notice));
    CHECK_FALSE(silences({.jobs = {"other"}}, notice));
    CHECK_FALSE(silences({.topics = {Topic::incident}}, notice));
  }
  CHECK_FALSE(meant({.topics = {Topic::notice}}, incident()));
  CHECK(silences({.jobs = {"pre*"}}, incident()));
}

TEST_CASE("filter: alerts about the fleet match without limits, or by their topic") {
  for (const Kind kind : {Kind::blind, Kind::sighted, Kind::degraded, Kind::well_again}) {
    CAPTURE(name(kind));
    CHECK(meant({}, of(kind)));
    CHECK_FALSE(meant({.jobs = {"*"}}, of(kind)));
    CHECK_FALSE(meant({.states = {State::crashed}}, of(kind)));
    CHECK_FALSE(meant({.nodes = {"*"}}, of(kind)));
    CHECK_FALSE(meant({.categories = {"*"}}, of(kind)));
    CHECK(meant({.jobs = {"a"}, .topics = {Topic::blind, Topic::degraded}}, of(kind)));
    CHECK_FALSE(meant({.topics = {Topic::incident}}, of(kind)));
  }
  CHECK(meant({.nodes = {"n*"}}, of(Kind::name_twice, {"n1"})));
  CHECK_FALSE(meant({.nodes = {"m*"}}, of(Kind::name_twice, {"n1"})));
  CHECK_FALSE(meant({.jobs = {"a"}, .nodes = {"n*"}}, of(Kind::name_twice, {"n1"})));
}

TEST_CASE("filter: an alert about a storm stands for incidents") {
  CHECK(matches({}, incident(), Topic::storm));
  CHECK(matches({.topics = {Topic::incident}}, incident(), Topic::storm));
  CHECK(matches({.topics = {Topic::storm}}, incident(), Topic::storm));
  CHECK_FALSE(matches({.jobs = {"x"}, .topics = {Topic::storm}}, incident(), Topic::storm));
  CHECK_FALSE(matches({.topics = {Topic::blind}}, incident(), Topic::storm));
}

TEST_CASE("filter: an end is judged by the fields that stay the same") {
  Alert over = incident();
  over.kind = Kind::resolved;
  over.nodes.clear();
  over.faults.clear();
  CHECK(may_match({.jobs = {"pre*"}, .nodes = {"rack-1-*"}}, over, Topic::incident));
  CHECK_FALSE(may_match({.jobs = {"fine*"}}, over, Topic::incident));
  CHECK_FALSE(may_match({.topics = {Topic::blind}}, over, Topic::incident));
}

}  // namespace
}  // namespace l4::alert
