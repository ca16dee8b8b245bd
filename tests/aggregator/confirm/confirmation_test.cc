// From an incident's report to a fault: the chosen line, the pattern made of it, and the refusals.
#include "aggregator/confirm/confirmation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "aggregator/confirm/told_event.h"
#include "aggregator/diagnose/clues/sentence.h"
#include "common/wire/process_fact.h"

namespace l4::confirm {
namespace {

using diagnose::IndicatingEvent;
using diagnose::parameters_of;
using diagnose::Report;
using diagnose::Why;

const faults::Library& library() {
  static const faults::Library loaded = [] {
    auto result = faults::Library::load(L4_SOURCE_DIR "/config/faults");
    if (!result) FAIL(result.error().text());
    return std::move(*result);
  }();
  return loaded;
}

IndicatingEvent event_of(std::uint64_t id, std::string text, Role role, std::vector<Why> why) {
  IndicatingEvent event;
  event.id = TemplateId{id};
  event.text = std::move(text);
  event.role = role;
  event.why = std::move(why);
  event.level = Level::error;
  event.nodes = {"node-02"};
  event.ranks = {Rank{4}};
  event.first.node = "node-02";
  return event;
}

Report report_of(std::vector<IndicatingEvent> events) {
  Report report;
  report.job.id = "job-a";
  report.nodes = {{"node-02", 1, .9, {Rank{4}}, {}, {"says it"}, {events.front().id}}};
  report.events = std::move(events);
  return report;
}

Report usual() {
  return report_of(
      {event_of(1, "shelf <*> of corpus <*> lost its ledger on node-<*>", Role::root,
                {Why::fresh, Why::spatial}),
       event_of(2, "push to <*> failed: metrics collector is away", Role::root, {Why::fresh}),
       event_of(3, "worker <*> ended with it", Role::consequence, {Why::fresh})});
}

ConfirmRequest asked() {
  ConfirmRequest request;
  request.incident = "job-a.0.1";
  request.cause = "The copy was cut.";
  request.fix = "Copy again.";
  request.who = "ops";
  return request;
}

std::string refusal(const ConfirmRequest& request, const Report& report = usual()) {
  const auto done = propose(request, report, library());
  return done ? "" : done.error().message;
}

const TimeMs kLater = from_civil(2026, 11, 21, 11, 30, 0, 250);

/// The process of a rank is gone by a signal since `since`.
diagnose::Clue gone(const std::string& node, Rank rank, TimeMs since, int number) {
  const diagnose::clues::Facts facts{
      {diagnose::clues::FactKind::since, since},
      {diagnose::clues::FactKind::exit, wire::text(wire::Exit{wire::Exit::Kind::signal, number})},
      {diagnose::clues::FactKind::signal, static_cast<double>(number)}};
  const auto kind = diagnose::clues::ClueKind::process_gone;
  diagnose::Clue clue{kind, node, rank, 4, {}, diagnose::clues::sentence(kind, facts)};
  for (const auto& fact : facts) clue.facts.push_back({fact.kind, diagnose::clues::text(fact)});
  return clue;
}

/// Rank 5 of node-02 was killed; `events` may hold a launcher's line about that.
Report struck_report(std::vector<IndicatingEvent> events) {
  Report report;
  report.job.id = "job-a";
  report.nodes = {{"node-02", 4, .9, {Rank{5}}, {}, {}, {}}};
  report.ranks = {{Rank{5}, RankSource::env, "node-02", 4, {}, diagnose::Process::gone, {}}};
  report.clues = {gone("node-02", Rank{5}, from_civil(2026, 11, 20, 10, 0, 0, 0), 9)};
  report.events = std::move(events);
  return report;
}

IndicatingEvent peer_lost() {
  return event_of(7, "RuntimeError: <*> Connection closed by peer <*>", Role::consequence,
                  {Why::fresh, Why::fatal});
}

IndicatingEvent launcher_tells() {
  return event_of(8,
                  "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) "
                  "local_rank: <*> (pid: <*> of binary: <*>",
                  Role::root, {Why::fresh, Why::spatial, Why::fatal});
}

/// The fault that the report would show.
std::string told(const faults::Library& known, const Report& report) {
  for (const IndicatingEvent& event : telling(report))
    if (const auto found = known.match(event.text, parameters_of(event)); !found.empty())
      if (!found.front()->consequence) return found.front()->id;
  return "";
}

TEST_CASE("confirmation: where no line tells it, how the process was ended does") {
  const auto done = propose(asked(), struck_report({peer_lost()}), library());
  REQUIRE(done);
  CHECK(done->fault.title == "A process ended by signal 9 (SIGKILL)");
  CHECK(done->fault.category == faults::Category::platform);
  REQUIRE(done->evidence.size() == 1);
  CHECK(done->evidence[0].ranks == std::vector<Rank>{Rank{5}});
  const faults::Library known = library().with({done->fault});
  Report next = struck_report({peer_lost()});
  next.ranks[0].node = "node-07";
  next.ranks[0].rank = Rank{13};
  next.clues = {gone("node-07", Rank{13}, kLater, 9)};
  CHECK(told(known, next) == done->fault.id);
  next.clues = {gone("node-07", Rank{13}, kLater, 11)};
  CHECK(told(known, next) == "segmentation_fault");
  next.clues = {gone("node-07", Rank{13}, kLater, 15)};
  CHECK(told(known, next).empty());
  CHECK(refusal(asked(), next).find("tells what happened by itself") != std::string::npos);
}

TEST_CASE("confirmation: among consequences alone, the one of few nodes that blames no peer") {
  Report report =
      report_of({peer_lost(), event_of(6, "Fatal Python error: Aborted", Role::consequence,
                                       {Why::fresh, Why::spatial, Why::fatal})});
  report.nodes[0].events = {TemplateId{6}};
  const auto done = propose(asked(), report, library());
  REQUIRE(done);
  CHECK(done->fault.patterns == std::vector<std::string>{"Fatal Python error: Aborted"});
  CHECK(told(library().with({done->fault}), report) == done->fault.id);
  report.events[1].why.push_back(Why::accused);
  CHECK(refusal(asked(), report).find("tells what happened by itself") != std::string::npos);
}

TEST_CASE("confirmation: a launcher's line on the exit that was seen is known by either") {
  const auto done = propose(asked(), struck_report({launcher_tells(), peer_lost()}), library());
  REQUIRE(done);
  CHECK(done->fault.title == "A process ended by signal 9 (SIGKILL)");
  CHECK(done->fault.patterns.size() == 2);
  CHECK(done->fault.matches.size() == 2);
  const faults::Library known = library().with({done->fault});
  CHECK(told(known, struck_report({peer_lost()})) == done->fault.id);
  CHECK(told(known, report_of({launcher_tells()})) == done->fault.id);
  CHECK(done->evidence.size() == 2);
  Report other = struck_report({event_of(9, "shelf <*> of corpus <*> lost its ledger", Role::root,
                                         {Why::fresh, Why::spatial})});
  const auto of_line = propose(asked(), other, library());
  REQUIRE(of_line);
  CHECK(of_line->fault.patterns.size() == 1);  // the pattern of the exit is not added
}

TEST_CASE("confirmation: the most telling event becomes an entry that passes its own test") {
  const auto done = propose(asked(), usual(), library());
  REQUIRE(done);
  const faults::Fault& fault = done->fault;
  CHECK(fault.patterns == std::vector<std::string>{"shelf .* of corpus .* lost its ledger on"});
  CHECK(fault.id == "site_shelf_of_corpus_lost_its_ledger_on_node");
  CHECK(fault.title == "shelf … of corpus … lost its ledger on node-…");
  CHECK(fault.action == fault.fix);
  CHECK(fault.scope == Scope::rank);
  CHECK(fault.severity == Level::error);
  REQUIRE(done->evidence.size() == 1);
  CHECK(done->evidence[0].id == TemplateId{1});
  const faults::Library one = alone(*done);
  CHECK(one.match("shelf 9 of corpus 3 lost its ledger on gpu-b-31").size() == 1);
  CHECK(one.match(fault.matches.front()).size() == 1);
  const auto judged = judge(*done, {}, library());
  REQUIRE(judged);
  REQUIRE_FALSE(judged->fault.rejects.empty());
  for (const std::string& line : judged->fault.rejects) CHECK(one.match(line).empty());
}

TEST_CASE("confirmation: what was said is taken, and the real line where there is one") {
  ConfirmRequest request = asked();
  request.category = "hardware/storage";
  request.title = "A shelf without ledger";
  request.id = "no_ledger";
  request.action = "Wait.";
  Report report = usual();
  report.events[0].text = "shelf <*> lost its ledger";
  report.events[0].examples = {{"node-02", Rank{4}, "f", 1,
                                "ERROR shelf 417 (of 900) lost its "
                                "ledger"}};
  report.events[0].nodes = {"node-02", "node-03"};
  const auto done = propose(request, report, library());
  REQUIRE_MESSAGE(done, (done ? "" : done.error().message));
  CHECK(done->fault.id == "no_ledger");
  CHECK(done->fault.title == request.title);
  CHECK(done->fault.category == faults::Category::hardware);
  CHECK(done->category_from == "given");
  CHECK(done->fault.action == "Wait.");
  CHECK(done->fault.scope == Scope::several);
  CHECK(done->fault.matches.front() == "ERROR shelf 417 (of 900) lost its ledger");
  request.category = "framework";
  CHECK(propose(request, report, library())->fault.subcategory == "bug");
  request.template_id = to_string(TemplateId{2});
  CHECK(propose(request, report, library())->fault.patterns.front() ==
        "push to .* failed: metrics collector is away");
}

TEST_CASE("confirmation: what is known already is a hint, and comes second") {
  const std::string line = "NVRM: Xid (PCI:<*>): 79, pid=<*>, GPU has fallen off the bus.";
  const auto done =
      propose(asked(), report_of({event_of(1, line, Role::root, {Why::fatal})}), library());
  REQUIRE_MESSAGE(done, (done ? "" : done.error().message));
  CHECK(done->category_from == "known_fault");
  CHECK(done->fault.category == faults::Category::hardware);
  CHECK(done->fault.conditions.size() == 1);
  CHECK(done->fault.severity == Level::fatal);
  const auto judged = judge(*done, {}, library());
  REQUIRE(judged);
  CHECK(std::ranges::find(judged->overlaps, "xid_off_the_bus") != judged->overlaps.end());
  const faults::Library more = library().with({judged->fault});
  CHECK(more.match(line).front()->id == judged->fault.id);
}

TEST_CASE("confirmation: what cannot be is refused") {
  ConfirmRequest request = asked();
  request.patterns = {"nobody said that"};
  CHECK(refusal(request).find("matches no event") != std::string::npos);
  request.patterns = {"shelf ("};
  CHECK(refusal(request).starts_with("pattern: shelf (: "));
  request.patterns = {"shelf {n}"};
  CHECK(refusal(request).find("holds 6 constant characters") != std::string::npos);
  request = asked();
  request.example = "something else";
  CHECK(refusal(request).find("is not matched") != std::string::npos);
  request = asked();
  request.id = "Bad";
  CHECK(refusal(request) == "id: Bad: must be of a-z, 0-9 and _");
  request.id = "xid_off_the_bus";
  CHECK(refusal(request).find("is the id of another fault") != std::string::npos);
  request = asked();
  request.category = "weather";
  CHECK(refusal(request).find("hardware/network") != std::string::npos);
  CHECK(refusal(asked(), report_of({event_of(1, "<*> <*>", Role::root, {Why::fresh}),
                                    event_of(2, "short <*>", Role::root, {Why::fresh})}))
            .find("no event of incident") != std::string::npos);
  CHECK(refusal(asked(), report_of({event_of(1, "worker <*> ended for what another one did",
                                             Role::consequence, {Why::fresh})}))
            .find("tells what happened") != std::string::npos);
}

TEST_CASE("confirmation: a healthy line refuses it, also one of a harmless entry") {
  const auto done = propose(asked(), usual(), library());
  REQUIRE(done);
  scoring::NormalLines normal;
  normal.matching = 2;
  normal.lines = {{"job well", "shelf <*> of corpus <*> lost its ledger on purpose"}};
  const auto judged = judge(*done, normal, library());
  REQUIRE_FALSE(judged);
  CHECK(judged.error().status == 422);
  CHECK(judged.error().lines.size() == 1);
  const auto harmless = std::ranges::find_if(library().faults(), [](const faults::Fault& fault) {
    return fault.severity == Level::info && fault.conditions.empty() &&
           fault.matches.front().size() > 40;
  });
  REQUIRE(harmless != library().faults().end());
  Confirmed wide = *done;
  wide.fault.patterns = harmless->patterns;
  CHECK_FALSE(judge(wide, {}, library()));
}

TEST_CASE("confirmation: asked for again it is known; a second opinion is refused") {
  auto first = propose(asked(), usual(), library());
  REQUIRE(first);
  first->fault.confirmed = faults::Confirmation{"ops", TimeMs{}, "job-a.0.1"};
  const faults::Library more = library().with({first->fault});
  const auto again = propose(asked(), usual(), more);
  REQUIRE(again);
  CHECK(again->known);
  CHECK(again->fault.id == first->fault.id);
  ConfirmRequest other = asked();
  other.cause = "Something else.";
  const auto refused = propose(other, usual(), more);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("withdraw it first") != std::string::npos);
}

}  // namespace
}  // namespace l4::confirm
