// The known faults of a running aggregator: confirmed, found again, withdrawn, on threads.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/confirm/fault_book.h"
#include "aggregator/serve/report_json.h"
#include "tests/aggregator/live/live_world.h"
#include "tests/aggregator/pool/made_run.h"
#include "tests/temp_folder.h"

namespace l4::confirm {
namespace {

constexpr auto kLine = "shelf <*> of corpus <*> lost its ledger";
constexpr auto kIncident = "job-a.0.1";

store::Incident incident_of(const std::string& id, const std::string& text) {
  diagnose::Report report;
  report.job.id = id.substr(0, id.find('.'));
  diagnose::IndicatingEvent event;
  event.id = TemplateId{1};
  event.text = text;
  event.role = Role::root;
  event.why = {diagnose::Why::fresh};
  event.nodes = {"node-1"};
  event.first.node = "node-1";
  report.events = {event};
  return {id, report.job.id, 0, "crashed", TimeMs{}, TimeMs{}, {}, serve::to_json(report), "{}"};
}

/// A book over a folder; another thread gives the lines of healthy jobs.
struct World {
  World() : database(folder.path() / "state.db", {}) {
    CHECK(database.save(incident_of(kIncident, kLine)));
    CHECK(database.save(incident_of("job-b.0.2", kLine)));
    CHECK(database.save(incident_of("job-c.0.3", "another matter altogether")));
    open();
  }
  ~World() { close(); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Stops the book before the thread that answers it.
  void close() {
    if (book) book->stop();
    asker = {};
    book.reset();
  }
  void open() {
    FaultBook::Hooks hooks;
    hooks.say = hooks.warn = [this](const std::string& text) { log.push_back(text); };
    hooks.now = [] { return *parse_time("2026-11-20T15:54:42Z"); };
    hooks.ask_normal = [this](const scoring::NormalQuestion&, const auto& then) {
      asker = std::jthread([then, found = normal] { then(found); });
      return true;
    };
    hooks.published = [this] { ++published; };
    book = std::make_unique<FaultBook>(nullptr, folder.path() / "faults", store::system_files(),
                                       database, std::move(hooks));
  }
  std::expected<Confirmed, Refused> confirm(ConfirmRequest request) {
    std::promise<std::expected<Confirmed, Refused>> answer;
    CHECK(book->confirm(std::move(request), [&](auto done) { answer.set_value(std::move(done)); }));
    return answer.get_future().get();
  }
  std::expected<faults::Fault, Refused> drop(const std::string& id) {
    std::promise<std::expected<faults::Fault, Refused>> answer;
    CHECK(book->drop(id, "ops", [&](auto done) { answer.set_value(std::move(done)); }));
    return answer.get_future().get();
  }

  test::TempFolder folder;
  store::Database database;
  std::vector<std::string> log;
  scoring::NormalLines normal;
  std::atomic<int> published{0};
  std::jthread asker;
  std::unique_ptr<FaultBook> book;
};

ConfirmRequest confirmation() {
  ConfirmRequest request;
  request.incident = kIncident;
  request.cause = "c";
  request.fix = "f";
  request.who = "ops";
  return request;
}

TEST_CASE("fault book: confirmed, known at once and after a start, withdrawn") {
  World world;
  const auto before = world.book->library();
  ConfirmRequest dry = confirmation();
  dry.dry_run = true;
  REQUIRE(world.confirm(dry));
  CHECK(world.book->library()->faults().empty());
  const auto done = world.confirm(confirmation());
  REQUIRE_MESSAGE(done, (done ? "" : done.error().message));
  CHECK(done->stored);
  CHECK(done->incidents == 2);
  REQUIRE(done->also_matches.size() == 1);
  CHECK(done->also_matches[0].incident == "job-b.0.2");
  CHECK(world.published == 1);
  CHECK(before->faults().empty());  // a running diagnosis keeps the former library
  const auto now = world.book->library();
  CHECK(now->match("shelf 4 of corpus 2 lost its ledger").front()->confirmed->by == "ops");
  world.close();
  world.open();
  CHECK(world.book->library()->find(done->fault.id)->cause == "c");
  CHECK(world.confirm(confirmation())->known);
  CHECK(world.drop("nothing").error().status == 404);
  REQUIRE(world.drop(done->fault.id));
  CHECK(world.book->library()->faults().empty());
  CHECK(world.drop(done->fault.id).error().status == 404);
}

TEST_CASE("fault book: what is refused leaves nothing") {
  World world;
  ConfirmRequest nobody = confirmation();
  nobody.incident = "nobody";
  CHECK(world.confirm(nobody).error().status == 404);
  world.normal.matching = 1;
  world.normal.lines = {{"job well", "a line"}};
  const auto refused = world.confirm(confirmation());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().lines.front().where == "job well");
  CHECK(world.book->library()->faults().empty());
  CHECK(std::filesystem::is_empty(world.folder.path() / "faults"));
}

/// A live aggregator without a job, whose pool holds a run that prints `text`.
std::expected<Confirmed, Refused> confirm_with_pool(const std::string& text) {
  const test::TempFolder folder;
  test::LiveWorld world(folder.path());
  world.start();
  // The real time, because the database would drop older rows.
  const TimeMs now{Millis{world.clock.load()}};
  pool::Run run = test::made_run("well", "alpha", now);
  run.events.push_back(test::made_event(text, Level::warning));
  CHECK(world.aggregator->pool().add(run, "test"));
  store::Incident incident = incident_of(kIncident, kLine);
  incident.opened = incident.updated = now;
  CHECK(world.aggregator->database().save(incident));
  std::promise<std::expected<Confirmed, Refused>> answer;
  auto answered = answer.get_future();
  ConfirmRequest request = confirmation();
  request.patterns = {"lost its ledger"};
  CHECK(world.aggregator->confirm(request, [&](auto done) { answer.set_value(std::move(done)); }));
  while (answered.wait_for(Millis{1}) != std::future_status::ready) world.step();
  return answered.get();
}

TEST_CASE("fault book: without a job in memory the runs of the pool say what is normal") {
  const auto refused = confirm_with_pool("shelf <*> of corpus <*> lost its ledger: made anew");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().status == 422);
  REQUIRE(refused.error().lines.size() == 1);
  CHECK(refused.error().lines[0].where == "run well.0 of the pool");
  const auto done = confirm_with_pool("shelf <*> of corpus <*> is read");
  REQUIRE(done);
  CHECK(done->normal.jobs == 0);
  CHECK(done->normal.runs == 1);
  CHECK(done->normal.templates == 27);
  CHECK(done->normal.complete);
}

TEST_CASE("fault book: of runs that failed later only information is normal; bounds are told") {
  scoring::NormalQuestion question;
  question.fault = std::make_shared<const faults::Library>();
  question.job = "bad";
  pool::Run run = test::made_run("bad", "alpha");
  run.events.push_back(test::made_event("a warning", Level::warning));
  run.events.push_back(test::made_event("told of by the report"));
  question.told = {run.events.back().id};
  const auto shared = std::make_shared<const pool::Run>(run);
  scoring::NormalLines found = scan({{shared, 0}, {shared, 0}}, question);
  CHECK(found.runs == 2);
  CHECK(found.templates == 26);
  CHECK(found.complete);
  question.templates_max = 26;
  CHECK(scan({{shared, 0}}, question).complete);
  question.templates_max = 25;
  found.add(scan({{shared, 0}}, question));
  CHECK(found.runs == 3);
  CHECK(found.templates == 51);
  CHECK_FALSE(found.complete);
  run.left_out = 1;
  question.templates_max = 100;
  CHECK_FALSE(scan({{std::make_shared<const pool::Run>(run), 0}}, question).complete);
}

TEST_CASE("fault book: no more than so many at a time, and none once it is stopped") {
  World world;
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  std::atomic<int> answered{0};
  int taken = 0;
  for (std::size_t i = 0; i < FaultBook::kWaitingMax + 4; ++i)
    taken += world.book->drop("x", "ops",
                              [&, gone](const auto&) {
                                gone.wait();
                                ++answered;
                              })
                 ? 1
                 : 0;
  CHECK(taken == static_cast<int>(FaultBook::kWaitingMax));
  go.set_value();
  while (answered < taken) std::this_thread::yield();
  world.book->stop();
  CHECK_FALSE(world.book->confirm(confirmation(), [](const auto&) {}));
}

TEST_CASE("fault book: libraries are read while others are confirmed and withdrawn") {
  World world;
  std::atomic<bool> over{false};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      while (!over) {
        const auto library = world.book->library();
        const auto found = library->match("shelf 4 of corpus 2 lost its ledger");
        if (!found.empty() && found.front()->cause != "c") over = true;
      }
    });
  for (int i = 0; i < 10; ++i) {
    const auto done = world.confirm(confirmation());
    REQUIRE(done);
    REQUIRE(world.drop(done->fault.id));
  }
  CHECK_FALSE(over);
  over = true;
}

}  // namespace
}  // namespace l4::confirm
