#include "aggregator/pool/pool_book.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "aggregator/pool/run_json.h"
#include "tests/aggregator/pool/made_run.h"
#include "tests/temp_folder.h"

namespace l4 {
namespace {

using pool::PoolBook;
using test::made_run;
using test::TempFolder;

constexpr TimeMs kNow{Millis{1'790'000'000'000}};

struct Desk {
  explicit Desk(const std::filesystem::path& folder, pool::PoolOptions options = {})
      : database(folder / "state.db", {}),
        book(options, database,
             {[this](const std::string& text) { said.push_back(text); },
              [this](const std::string& text) { warned.push_back(text); },
              [this] { return now; }}) {}
  std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const PoolBook::Row& row : book.rows()) ids.push_back(row.run->id);
    return ids;
  }
  std::vector<std::string> said, warned;
  TimeMs now = kNow;
  store::Database database;
  PoolBook book;
};

TEST_CASE("pool book: runs find their kind, stay over a restart, and are replaced by their id") {
  const TempFolder folder;
  {
    Desk desk(folder.path());
    const auto first = desk.book.add(made_run("a", "alpha", kNow), "test");
    REQUIRE(first);
    CHECK(*desk.book.add(made_run("b", "alpha", kNow), "test") == *first);
    CHECK(*desk.book.add(made_run("c", "beta", kNow), "test") != *first);
    CHECK_FALSE(desk.book.wants("a", 0, 1000));
    CHECK(desk.book.wants("a", 0, 1001));
    CHECK(desk.book.wants("a", 1, 10));
    CHECK(desk.book.add(made_run("a", "alpha", kNow), "test"));
    CHECK(desk.book.stats().runs == 3);
  }
  const Desk desk(folder.path());
  CHECK(desk.book.stats().runs == 3);
  CHECK(desk.book.shelf()->kinds().size() == 2);
  CHECK(desk.warned.empty());
}

TEST_CASE("pool book: a failure removes what the job had added, for good") {
  const TempFolder folder;
  {
    Desk desk(folder.path());
    REQUIRE(desk.book.add(made_run("a", "alpha", kNow), "test"));
    REQUIRE(desk.book.add(made_run("b", "alpha", kNow), "test"));
    const auto gone = desk.book.record_outcome({"a", "failure", "", "ops", kNow});
    REQUIRE(gone);
    CHECK(*gone == std::vector<std::string>{"a.0"});
    CHECK(desk.book.record_outcome({"a", "failure", "", "ops", kNow})->empty());
  }
  Desk desk(folder.path());
  CHECK(desk.ids() == std::vector<std::string>{"b.0"});
  CHECK_FALSE(desk.book.wants("a", 0, 9999));
  CHECK_FALSE(desk.book.add(made_run("a", "alpha", kNow), "test"));
  CHECK(desk.book.outcome_of("a") == "failure");
  REQUIRE(desk.book.record_outcome({"a", "success", "", "ops", kNow}));
  CHECK(desk.book.add(made_run("a", "alpha", kNow), "test"));
}

TEST_CASE("pool book: what somebody dropped does not come back by itself") {
  const TempFolder folder;
  {
    Desk desk(folder.path());
    REQUIRE(desk.book.add(made_run("a", "alpha", kNow), "test"));
    CHECK(desk.book.drop("a.0", "ops").value());
    CHECK_FALSE(desk.book.drop("a.0", "ops").value());
  }
  Desk desk(folder.path());
  CHECK(desk.ids().empty());
  CHECK_FALSE(desk.book.wants("a", 0, 9999));
  CHECK(desk.book.outcome_of("a").empty());
  CHECK(desk.book.add(made_run("a", "alpha", kNow), "ops"));
}

TEST_CASE("pool book: the oldest go, by number, bytes and age") {
  using std::chrono::hours;
  const TempFolder folder;
  pool::PoolOptions options;
  options.runs_max = 2;
  Desk desk(folder.path(), options);
  for (int i = 0; i < 4; ++i)
    REQUIRE(desk.book.add(made_run("a" + std::to_string(i), "alpha", kNow + hours(i)), "test"));
  CHECK(desk.ids() == std::vector<std::string>{"a3.0", "a2.0"});
  CHECK(desk.database.pool()->size() == 2);
  // A run older than those kept is an error and changes nothing.
  CHECK_FALSE(desk.book.add(made_run("old", "alpha", kNow), "test"));
  CHECK(desk.database.pool()->size() == 2);
  desk.now = kNow + hours(2) + options.age + hours(1) - Millis{1};
  desk.book.evict_old();
  CHECK(desk.ids() == std::vector<std::string>{"a3.0"});
  options.bytes_max = 5'000;  // bytes of one run
  desk.now = kNow;
  const TempFolder other;
  Desk small(other.path(), options);
  REQUIRE(small.book.add(made_run("a", "alpha", kNow), "test"));
  REQUIRE(small.book.add(made_run("b", "beta", kNow + hours(1)), "test"));
  CHECK(small.ids() == std::vector<std::string>{"b.0"});
}

TEST_CASE("pool book: a row that cannot be read is told and passed over") {
  const TempFolder folder;
  {
    Desk desk(folder.path());
    REQUIRE(desk.book.add(made_run("a", "alpha", kNow), "test"));
    REQUIRE(desk.database.save(store::PoolRun{"kind-x", "b.0", kNow, 1, "{\"schema\": 1}"}));
  }
  const Desk desk(folder.path());
  CHECK(desk.ids() == std::vector<std::string>{"a.0"});
  REQUIRE(desk.warned.size() == 1);
  CHECK(desk.warned[0].find("b.0: schema") != std::string::npos);
}

/// Adds and drops runs until it is killed; writes a number to `told` after each answered change.
[[noreturn]] void work(const std::filesystem::path& folder, int told) {
  Desk desk(folder);
  for (int i = 0;; ++i) {
    const std::string job = "job" + std::to_string(i);
    if (!desk.book.add(made_run(job, "alpha", kNow + Millis{i}), "test")) _exit(1);
    if (write(told, &i, sizeof i) != sizeof i) _exit(2);
  }
}

TEST_CASE(
    "pool book: killed at any moment, each run is there or is not, and none that was answered "
    "is missing") {
  for (int round = 0; round < 4; ++round) {
    const TempFolder folder;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) work(folder.path(), ends[1]);
    close(ends[1]);
    int last = -1, seen = -1;
    while (last < 3 + round && read(ends[0], &seen, sizeof seen) == sizeof seen) last = seen;
    usleep(static_cast<useconds_t>(round) * 700);
    kill(child, SIGKILL);
    while (read(ends[0], &seen, sizeof seen) == sizeof seen) last = seen;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    const Desk desk(folder.path());
    CHECK(desk.warned.empty());
    const auto ids = desk.ids();
    REQUIRE(last >= 3 + round);
    const auto kept = static_cast<int>(ids.size());
    CHECK((kept == std::min(last + 1, 20) || kept == std::min(last + 2, 20)));
    for (int i = std::max(0, last - 18); i <= last; ++i)
      CHECK(std::ranges::find(ids, "job" + std::to_string(i) + ".0") != ids.end());
  }
}

}  // namespace
}  // namespace l4
