#include "agent/host/attempts.h"

#include <doctest/doctest.h>

#include <set>

namespace l4::host {
namespace {

struct CountedHost {
  AttemptTable table;
  std::set<int> alive;

  int start(int pid, int seconds, int rank, AttemptKey key = {}, int path_attempt = 0) {
    const int number = table.assign(
        "job", {Pid{pid}, std::chrono::seconds{seconds}, Rank{rank}, key, path_attempt},
        [&](Pid former, SinceBoot) { return alive.contains(former.value()); });
    alive.insert(pid);
    return number;
  }
};

TEST_CASE("attempts: the launcher's count is the number") {
  CountedHost host;
  CHECK(host.start(1, 10, 0, {0, 0, 0}) == 0);
  CHECK(host.start(2, 10, 1, {0, 0, 0}) == 0);
  host.alive.clear();
  CHECK(host.start(3, 60, 0, {0, 0, 1}, 1) == 1);
  CHECK(host.start(4, 60, 1, {0, 0, 1}, 1) == 1);
  CHECK(host.table.current("job") == 1);
  CHECK(host.table.doubles() == 0);
}

TEST_CASE("attempts: met in the middle of a job, and one restart missed") {
  CountedHost host;
  CHECK(host.start(1, 10, 0, {0, 0, 2}) == 2);
  host.alive.clear();
  CHECK(host.start(3, 60, 0, {0, 0, 4}) == 4);
}

TEST_CASE("attempts: a requeue begins anew and counts on") {
  CountedHost host;
  CHECK(host.start(1, 10, 0, {0, 0, 3}) == 3);
  host.alive.clear();
  CHECK(host.start(2, 600, 0, {1, 0, 0}) == 4);
  CHECK(host.start(3, 600, 1, {1, 0, 0}) == 4);
}

TEST_CASE("attempts: a node that takes part from a requeue on counts as the others do") {
  CountedHost before, fresh;
  CHECK(before.start(1, 10, 0, {0, 0, 0}) == 0);
  before.alive.clear();
  CHECK(before.start(2, 600, 0, {1, 0, 0}) == 1);
  CHECK(fresh.start(3, 600, 1, {1, 0, 0}) == 1);
  fresh.alive.clear();
  CHECK(fresh.start(4, 900, 1, {1, 0, 1}, 1) == 2);
}

TEST_CASE("attempts: nobody counts: a new process for a rank that has left") {
  CountedHost host;
  CHECK(host.start(1, 10, 0) == 0);
  CHECK(host.start(2, 10, 1) == 0);
  host.alive.clear();
  CHECK(host.start(3, 12, 0) == 1);
  CHECK(host.start(4, 12, 1) == 1);
  host.alive.clear();
  CHECK(host.start(5, 14, 1) == 2);
}

TEST_CASE("attempts: nobody counts and the ranks have moved to another node") {
  CountedHost host;
  CHECK(host.start(1, 10, 0) == 0);
  CHECK(host.start(2, 11, 1) == 0);
  host.alive.clear();
  CHECK(host.start(3, 12, 2) == 0);  // within 10 s a process belongs to the same start
  host.alive.clear();
  CHECK(host.start(4, 60, 6) == 1);
  CHECK(host.start(5, 60, 7) == 1);
}

TEST_CASE("attempts: two living processes of one rank are no restart") {
  CountedHost host;
  CHECK(host.start(1, 10, 0) == 0);
  CHECK(host.start(2, 90, 0) == 0);
  CHECK(host.table.doubles() == 1);
}

TEST_CASE("attempts: a launcher taken for a rank is taken back") {
  CountedHost host;
  CHECK(host.start(1, 10, 0) == 0);
  host.table.withdraw("job", Rank{0}, Pid{1}, std::chrono::seconds{10});
  CHECK(host.start(2, 12, 0) == 0);
  CHECK(host.table.doubles() == 0);
}

TEST_CASE("attempts: an old process met late does not bring its attempt back") {
  CountedHost host;
  CHECK(host.start(1, 60, 0, {0, 0, 1}) == 1);
  CHECK(host.start(2, 10, 1, {0, 0, 0}) == 0);
  CHECK(host.table.current("job") == 1);
}

TEST_CASE("attempts: jobs are bounded, the one not used for longest goes") {
  AttemptTable table;
  for (int job = 0; job < 400; ++job)
    table.assign(std::to_string(job), {Pid{job + 1}, SinceBoot{1}, Rank{0}, {0, 0, 5}, 0},
                 [](Pid, SinceBoot) { return false; });
  CHECK(table.current("399") == 5);
  CHECK(table.current("0") == 0);
}

}  // namespace
}  // namespace l4::host
