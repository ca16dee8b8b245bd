// The bodies and requests of each kind of sink, and which alerts a sink accepts.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "aggregator/alert/alertmanager.h"
#include "aggregator/alert/pagerduty.h"
#include "aggregator/alert/sink_kind.h"
#include "aggregator/alert/slack.h"
#include "aggregator/alert/webhook.h"

namespace l4::alert {
namespace {

using Json = nlohmann::json;

Alert crash() {
  Alert alert;
  alert.at = *parse_time("2026-11-20T10:00:05Z");
  alert.since = *parse_time("2026-11-20T10:00:00Z");
  alert.incident = "pretrain.1.77";
  alert.job = "pretrain";
  alert.attempt = 1;
  alert.state = State::crashed;
  alert.confidence = 0.94;
  alert.stage = Stage::training;
  alert.iteration = Iteration{118};
  alert.summary = "rank 4 \x1b[31mleft <!channel> & \"all\"\x07\nwait";
  alert.nodes = {"node-01", "node-02"};
  alert.ranks = {Rank{4}, Rank{5}};
  alert.faults = {{"xid-79", "GPU fell off the bus", "replace it", "PCIe <link>", "hardware/gpu"}};
  return alert;
}

Alert with(Kind kind, State state = State::crashed) {
  Alert alert = crash();
  alert.kind = kind;
  alert.state = state;
  return alert;
}

Json alertmanager(const Alert& alert) {
  return Json::parse("[" + to_alertmanager(alert, {"l4"}) + "]");
}

bool has_control(const std::string& text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

TEST_CASE("alertmanager: labels stay the same, annotations change") {
  const Json sent = alertmanager(crash());
  REQUIRE(sent.size() == 1);
  CHECK(sent[0]["labels"] == Json{{"alertname", "L4JobFailure"},
                                  {"severity", "critical"},
                                  {"source", "l4"},
                                  {"incident", "pretrain.1.77"},
                                  {"job", "pretrain"},
                                  {"attempt", "1"}});
  const Json& notes = sent[0]["annotations"];
  CHECK(notes["state"] == "crashed");
  CHECK(notes["stage"] == "training");
  CHECK(notes["iteration"] == "118");
  CHECK(notes["node"] == "node-01");
  CHECK(notes["nodes"] == "node-01, node-02");
  CHECK(notes["rank"] == "4");
  CHECK(notes["ranks"] == "4, 5");
  CHECK(notes["fault"] == "GPU fell off the bus");
  CHECK(notes["cause"] == "PCIe <link>");
  CHECK(notes["fix"] == "replace it");
  CHECK(notes["confidence"] == "0.94");
  CHECK(notes["since"] == "2026-11-20T10:00:00.000Z");
  CHECK_FALSE(has_control(notes["summary"]));
  CHECK(sent[0]["startsAt"] == "2026-11-20T10:00:00.000Z");
  CHECK_FALSE(sent[0].contains("endsAt"));

  Alert later = with(Kind::changed, State::hung);
  later.summary = "another";
  later.nodes = {"node-09"};
  CHECK(alertmanager(later)[0]["labels"] == sent[0]["labels"]);
}

TEST_CASE("alertmanager: an end ends the alerts of both severities") {
  const Json over = alertmanager(with(Kind::resolved));
  REQUIRE(over.size() == 2);
  for (const Json& one : over) CHECK(one["endsAt"] == "2026-11-20T10:00:05.000Z");
  CHECK(over[1]["labels"] == alertmanager(crash())[0]["labels"]);

  const Json slow = alertmanager(with(Kind::opened, State::slow));
  CHECK(slow[0]["labels"]["severity"] == "warning");
  const Json worse = alertmanager(with(Kind::changed, State::hung));
  REQUIRE(worse.size() == 2);
  CHECK(worse[0]["labels"]["severity"] == "critical");
  CHECK_FALSE(worse[0].contains("endsAt"));
  CHECK(worse[1]["labels"] == slow[0]["labels"]);
  CHECK(worse[1].contains("endsAt"));
}

TEST_CASE("alertmanager: blindness and a name used twice are alerts of their own") {
  Alert blind;
  blind.kind = Kind::blind;
  const Json sent = alertmanager(blind);
  CHECK(sent[0]["labels"] ==
        Json{{"alertname", "L4AggregatorBlind"}, {"severity", "warning"}, {"source", "l4"}});
  blind.kind = Kind::sighted;
  const Json over = alertmanager(blind);
  REQUIRE(over.size() == 1);
  CHECK(over[0]["labels"] == sent[0]["labels"]);
  CHECK(over[0].contains("endsAt"));
  blind.kind = Kind::name_twice;
  blind.nodes = {"node-07"};
  const Json twice = alertmanager(blind);
  CHECK(twice[0]["labels"]["alertname"] == "L4NodeNameTwice");
  CHECK(twice[0]["labels"]["node"] == "node-07");
}

TEST_CASE("alertmanager: a notice is an alert of its own with an end") {
  Alert notice = with(Kind::noticed, State::unknown);
  notice.incident.clear();
  notice.notice = "pretrain.1.node.node-01";
  notice.faults.clear();
  const Json sent = alertmanager(notice);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0]["labels"] == Json{{"alertname", "L4Notice"},
                                  {"severity", "info"},
                                  {"source", "l4"},
                                  {"notice", "pretrain.1.node.node-01"},
                                  {"job", "pretrain"},
                                  {"attempt", "1"}});
  CHECK_FALSE(sent[0]["annotations"].contains("state"));
  CHECK(sent[0]["annotations"]["node"] == "node-01");
  notice.kind = Kind::notice_over;
  const Json over = alertmanager(notice);
  REQUIRE(over.size() == 1);
  CHECK(over[0]["labels"] == sent[0]["labels"]);
  CHECK(over[0].contains("endsAt"));
  CHECK(Json::parse(to_pagerduty(notice, {"l4"}))["event_action"] == "resolve");
}

TEST_CASE("alertmanager: a degraded aggregator is one alert with an end") {
  Alert bad;
  bad.kind = Kind::degraded;
  bad.summary = "the journal cannot be written";
  const Json sent = alertmanager(bad);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0]["labels"]["alertname"] == "L4Degraded");
  CHECK(sent[0]["labels"]["severity"] == "critical");
  CHECK(sent[0]["annotations"]["runbook"] == "docs/ALERTS.md#l4degraded");
  bad.kind = Kind::well_again;
  const Json over = alertmanager(bad);
  REQUIRE(over.size() == 1);
  CHECK(over[0]["labels"] == sent[0]["labels"]);
  CHECK(over[0].contains("endsAt"));
}

TEST_CASE("forms: a test says in every form that it is one, and stays open nowhere") {
  Alert test;
  test.kind = Kind::test;
  test.at = *parse_time("2026-11-20T10:00:05Z");
  test.summary = "This is a test of the sink chat, asked for by ops. Nothing has failed.";
  CHECK(Json::parse(to_json(test, {"l4"}))["alert"] == "test");
  CHECK(Json::parse(to_json(test, {"l4"}))["incident"].is_null());
  const Json told = alertmanager(test);
  REQUIRE(told.size() == 1);
  CHECK(told[0]["labels"] == Json{{"alertname", "L4Test"}, {"severity", "info"}, {"source", "l4"}});
  CHECK(told[0]["annotations"]["summary"] == test.summary);
  CHECK(told[0]["endsAt"] == "2026-11-20T10:05:05.000Z");
  CHECK(Json::parse(to_slack(test, {"l4"}))["text"] == "[test] " + test.summary);
  const Json paged = Json::parse(to_pagerduty(test, {"l4"}));
  CHECK(paged["event_action"] == "trigger");
  CHECK(paged["payload"]["class"] == "test");
  CHECK(paged["payload"]["severity"] == "info");
  test.kind = Kind::test_over;
  const Json over = Json::parse(to_pagerduty(test, {"l4"}));
  CHECK(over["event_action"] == "resolve");
  CHECK(over["dedup_key"] == paged["dedup_key"]);
  CHECK(alertmanager(test)[0]["labels"] == told[0]["labels"]);
}

TEST_CASE("forms: every form has the fault's id and category") {
  const Json annotations = alertmanager(crash())[0]["annotations"];
  CHECK(annotations["fault_id"] == "xid-79");
  CHECK(annotations["category"] == "hardware/gpu");
  CHECK(annotations["runbook"] == "docs/ALERTS.md#l4jobfailure");
  const Json linked = Json::parse(to_alertmanager(crash(), {"l4", "https://wiki.example/alerts"}));
  CHECK(linked["annotations"]["runbook"] == "https://wiki.example/alerts#l4jobfailure");
  CHECK(Json::parse(to_json(crash(), {"l4"}))["faults"][0]["category"] == "hardware/gpu");
  const Json paged = Json::parse(to_pagerduty(crash(), {"l4"}))["payload"]["custom_details"];
  CHECK(paged["category"] == "hardware/gpu");
}

TEST_CASE("forms: every form links to the page, if its address is known") {
  const Origin from{.source = "l4", .page = "https://ops.example/l4"};
  Alert odd = crash();
  odd.incident = "a/b <c>.1.77";
  const std::string at = "https://ops.example/l4/incidents/a%2Fb%20%3Cc%3E.1.77";
  CHECK(Json::parse(to_json(odd, from))["link"] == at);
  const Json told = Json::parse(to_alertmanager(odd, from));
  CHECK(told["annotations"]["link"] == at);
  CHECK(told["generatorURL"] == at);
  const Json paged = Json::parse(to_pagerduty(odd, from));
  CHECK(paged["client_url"] == at);
  CHECK(paged["links"][0]["href"] == at);
  const Json chat = Json::parse(to_slack(odd, from));
  CHECK(chat["text"].get<std::string>().ends_with("\n<" + at + "|Open the incident>"));
  CHECK(chat["blocks"][2]["text"]["text"] == "<" + at + "|Open the incident>");

  for (const SinkKind* kind : sink_kinds()) {
    CAPTURE(kind->name);
    CHECK(kind->body(odd, from).find(at) != std::string::npos);
    CHECK(kind->body(odd, {"l4"}).find("/incidents/") == std::string::npos);
  }
}

TEST_CASE("link: an alert without an incident leads to its job or to a list") {
  const Origin from{.source = "l4", .page = "http://h:7440"};
  Alert notice = crash();
  notice.incident.clear();
  notice.notice = "n1";
  notice.job = "a b";
  CHECK(link(notice, from) == "http://h:7440/jobs/a%20b");
  Alert fleet;
  fleet.kind = Kind::blind;
  CHECK(link(fleet, from) == "http://h:7440/agents");
  fleet.kind = Kind::storm;
  CHECK(link(fleet, from) == "http://h:7440/incidents");
  fleet.kind = Kind::degraded;
  CHECK(link(fleet, from) == "http://h:7440/");
  CHECK(link(fleet, {"l4"}).empty());
}

TEST_CASE("slack: escaped, without control characters, bounded") {
  const Json sent = Json::parse(to_slack(crash(), {"l4"}));
  const std::string text = sent["text"];
  CHECK(text.starts_with("[critical] job pretrain attempt 1 crashed: rank 4 "));
  CHECK(text.find("&lt;!channel&gt; &amp; \"all\"") != std::string::npos);
  CHECK_FALSE(has_control(text));
  REQUIRE(sent["blocks"].size() == 3);
  CHECK(sent["blocks"][0]["text"]["text"].get<std::string>().starts_with("*critical* job"));
  const std::string lines = sent["blocks"][1]["text"]["text"];
  CHECK(lines.find("*cause:* PCIe &lt;link&gt;\n") != std::string::npos);
  CHECK(lines.find("*nodes:* node-01, node-02\n") != std::string::npos);

  Alert large = crash();
  large.job = large.summary = std::string(100'000, '&');
  large.nodes.assign(8, std::string(5'000, '<'));
  large.faults[0] = {"a", std::string(9'000, '>'), std::string(9'000, '>'), std::string(9'000, '>'),
                     std::string(9'000, 'c')};
  for (const Json& block : Json::parse(to_slack(large, {"l4"}))["blocks"]) {
    const Json& texts = block.contains("text") ? block["text"] : block["elements"][0];
    CHECK(texts["text"].get<std::string>().size() <= 3'000);
  }
  CHECK(Json::parse(to_slack(large, {"l4"}))["text"].get<std::string>().size() < 4'000);
  CHECK(Json::parse(to_slack(with(Kind::resolved), {"l4"}))["text"].get<std::string>().starts_with(
      "[resolved] "));
}

TEST_CASE("pagerduty: trigger and resolve have one dedup_key, the routing key is not stored") {
  SinkOptions sink{.name = "pager", .kind = &kPagerDuty, .secret = "R\"1"};
  const std::string stored = sink.kind->body(crash(), {"l4"});
  CHECK(stored.find("routing_key") == std::string::npos);
  const Json sent = Json::parse(make_request(sink, {stored}).body);
  CHECK(sent["routing_key"] == "R\"1");
  CHECK(sent["event_action"] == "trigger");
  CHECK(sent["dedup_key"] == "l4/pretrain.1.77");
  CHECK(sent["payload"]["severity"] == "critical");
  CHECK(sent["payload"]["source"] == "node-01");
  CHECK(sent["payload"]["class"] == "crashed");
  CHECK(sent["payload"]["timestamp"] == "2026-11-20T10:00:05.000Z");
  CHECK(sent["payload"]["custom_details"]["iteration"] == "118");
  const Json over = Json::parse(to_pagerduty(with(Kind::resolved), {"l4"}));
  CHECK(over["event_action"] == "resolve");
  CHECK(over["dedup_key"] == sent["dedup_key"]);

  Alert large = crash();
  large.summary = large.incident = std::string(4'000, 'x');
  const Json cut = Json::parse(to_pagerduty(large, {"l4"}));
  CHECK(cut["payload"]["summary"].get<std::string>().size() <= 1'024);
  CHECK(cut["dedup_key"].get<std::string>().size() <= 255);
  large.incident += "y";
  CHECK(dedup_key(large, {"l4"}) != cut["dedup_key"].get<std::string>());
}

TEST_CASE("webhook: the body is signed; RFC 4231 has the figures") {
  CHECK(signature("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  const SinkOptions plain{.name = "hook", .url = "http://h/"};
  CHECK(make_request(plain, {"{}"}).headers.empty());
  const SinkOptions sink{.name = "hook", .url = "http://h/", .secret = "key"};
  const Request made = make_request(sink, {sink.kind->body(crash(), {"l4"})});
  CHECK(made.url == "http://h/");
  CHECK(Json::parse(made.body)["faults"][0]["cause"] == "PCIe <link>");
  REQUIRE(made.headers.size() == 1);
  CHECK(made.headers[0].first == "X-L4-Signature");
  CHECK(made.headers[0].second == "sha256=" + signature("key", made.body));
}

TEST_CASE("alertmanager: one request carries several, at the path of the API") {
  const SinkOptions sink{.name = "am", .kind = &kAlertmanager, .url = "http://h:9093/"};
  const Request made = make_request(
      sink, {to_alertmanager(crash(), {"l4"}), to_alertmanager(with(Kind::resolved), {"l4"})});
  CHECK(made.url == "http://h:9093/api/v2/alerts");
  CHECK(Json::parse(made.body).size() == 3);
  CHECK(alertmanager_url("http://h/am/api/v2/alerts") == "http://h/am/api/v2/alerts");
}

TEST_CASE("sink: severity, job and state decide which alerts it accepts") {
  SinkOptions sink{.name = "s", .kind = &kSlack};
  CHECK(accepts(sink, crash()));
  sink.severity_min = Severity::critical;
  CHECK(accepts(sink, crash()));
  CHECK_FALSE(accepts(sink, with(Kind::opened, State::slow)));
  Alert blind;
  blind.kind = Kind::blind;
  CHECK_FALSE(accepts(sink, blind));
  sink.severity_min = Severity::warning;
  CHECK(accepts(sink, blind));
  sink.filters = {{.jobs = {"pre*"}}};
  CHECK(accepts(sink, crash()));
  CHECK_FALSE(accepts(sink, blind));
  sink.filters = {{.jobs = {"fine*"}}};
  CHECK_FALSE(accepts(sink, crash()));
  sink.filters = {{.states = {State::hung}}};
  CHECK_FALSE(accepts(sink, crash()));
  CHECK(accepts(sink, with(Kind::changed, State::hung)));
  CHECK_FALSE(accepts(sink, with(Kind::resolved)));
  sink.kind = &kPagerDuty;  // the job may have hung before: its end is sent
  CHECK(accepts(sink, with(Kind::resolved)));
}

TEST_CASE("each kind of sink has an example where operators look for it") {
  for (const char* const path : {"/docs/ALERTS.md", "/config/aggregator.toml"}) {
    std::ifstream file(std::string(L4_SOURCE_DIR) + path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const SinkKind* kind : sink_kinds()) {
      const std::string line = "kind = \"" + std::string(kind->name) + "\"";
      CHECK_MESSAGE(text.find(line) != std::string::npos, path, " has no example: ", line);
    }
  }
}

}  // namespace
}  // namespace l4::alert
