#include "aggregator/live/network_desk.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/temp_folder.h"

namespace l4::live {
namespace {

using alert::Kind;
using detect::network::Finding;
using detect::network::Network;
using detect::network::Trouble;

constexpr TimeMs kDeskBegin{Millis{1'800'000'000'000}};

/// A store with desks on it, one after another, and the alerts that they send.
struct DeskRoom {
  DeskRoom() {
    store::StoreOptions options;
    options.folder = folder.path() / "state";
    auto opened = store::Store::open(std::move(options), {}, [this] { return now; });
    REQUIRE(opened);
    store = std::move(*opened);
    pool = std::make_unique<pool::PoolBook>(
        pool::PoolOptions{}, store->database(),
        pool::PoolBook::Hooks{[](const std::string&) {}, [](const std::string&) {},
                              [this] { return now; }});
  }
  NetworkDesk desk() {
    scoring::Services services{
        *store,
        *pool,
        {},
        [this](const alert::Alert& alert, const store::Incident* incident) -> Result<void> {
          alerts.push_back(alert);
          return incident == nullptr ? Result<void>() : store->database().save(*incident);
        },
        [](const std::string&) {},
        [](const std::string& text) { FAIL_CHECK(text); },
        [this] { return wire::Instant{Millis{now.time_since_epoch()}, now}; },
        std::make_shared<scoring::Totals>()};
    return {{}, {}, std::move(services)};
  }
  std::vector<std::string> open() const {
    store::IncidentQuery query;
    query.open_only = true;
    std::vector<std::string> jobs;
    const auto rows = store->database().incidents(query);
    REQUIRE(rows);
    for (const store::Incident& row : *rows) jobs.push_back(row.job);
    std::ranges::sort(jobs);
    return jobs;
  }
  std::size_t count(Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count(alerts, kind, &alert::Alert::kind));
  }

  const l4::test::TempFolder folder;
  TimeMs now = kDeskBegin;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<pool::PoolBook> pool;
  std::vector<alert::Alert> alerts;
};

/// A job of two servers that hangs, or trains.
Network desk_job(const std::string& name, bool hangs) {
  Network network;
  network.job = name;
  network.period = Millis{1'000};
  network.servers = {{"a", {}, {}}, {"b", {}, {}}};
  Finding finding;
  finding.trouble = Trouble::hang;
  finding.since = kDeskBegin;
  finding.open = finding.in_step = hangs;
  finding.places = finding.servers = {"b"};
  if (hangs) network.findings.push_back(std::move(finding));
  return network;
}

}  // namespace

TEST_CASE(
    "network desk: a restart ends what the network alone had shown, whatever jobs of logs "
    "are called") {
  DeskRoom room;
  room.desk().look({desk_job("flows-3", true), desk_job("flows-4", false)});
  CHECK(room.open() == std::vector<std::string>{"flows-3"});
  REQUIRE(room.count(Kind::opened) == 1);
  CHECK(room.alerts.front().nodes == std::vector<std::string>{"b"});
  // Jobs of logs may have such names, too: their shards resolve their incidents.
  store::Incident other{"flows-3.0.1", "flows-3",    0,    "hung", kDeskBegin,
                        kDeskBegin,    std::nullopt, "{}", "[]",   {}};
  CHECK(room.store->database().save(other));
  other.id = "flows-9.0.1";
  other.job = "flows-9";
  CHECK(room.store->database().save(other));

  room.now += Millis{60'000};
  room.desk().close_left();
  CHECK(room.open() == std::vector<std::string>{"flows-3", "flows-9"});
  REQUIRE(room.count(Kind::resolved) == 1);
  CHECK(room.alerts.back().job == "flows-3");
  CHECK(room.alerts.back().incident != "flows-3.0.1");
  const auto kept = room.store->database().incident(other.id);
  REQUIRE((kept && kept->has_value()));
  CHECK_FALSE((*kept)->resolved);
}

TEST_CASE("network desk: what has just ended stays open for some steps, and ends with its job") {
  DeskRoom room;
  NetworkDesk desk = room.desk();
  desk.look({desk_job("flows-1", true)});
  REQUIRE(room.count(Kind::opened) == 1);
  Network over = desk_job("flows-1", true);
  over.findings.front().open = false;
  room.now += Millis{5'000};
  desk.look({over});
  CHECK(room.count(Kind::resolved) == 0);
  room.now += Millis{60'000};
  desk.look({over});
  CHECK(room.count(Kind::resolved) == 1);
  CHECK(room.open().empty());
  desk.look({desk_job("flows-1", true)});
  CHECK(room.open() == std::vector<std::string>{"flows-1"});
  desk.look({});
  CHECK(room.open().empty());
}

}  // namespace l4::live
