// Ranks that fell silent, and ranks that were ended before they could print an error.
#include "aggregator/detect/hang/silent_ranks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/aggregator/job/made_job.h"

namespace l4::detect::hang {
namespace {

using job::test::MadeJob;

constexpr const char* kEnds =
    "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process <*> closing signal "
    "SIGTERM";

constexpr const char* kDied =
    "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -6) local_rank: <*> "
    "(pid: "
    "<*> of binary: <*>";

/// Four nodes with two ranks each; the launchers of `ending` each end that many processes, and the
/// launcher of `died` reports one that a signal ended.
struct Job {
  MadeJob job{4, 2};

  explicit Job(const std::vector<std::pair<int, int>>& ending, int died = -1) {
    job.iterate_all(1, 10);
    for (int node = 0; node < 4; ++node) {
      const SourceId launcher = job.add_source(node).id;
      job.say_on(node, launcher, {"rendezvous done"}, 100);
      for (const auto& [of, count] : ending)
        for (int i = 0; i < count && of == node; ++i)
          job.say_on(node, launcher, {kEnds, Level::warning}, 11'000 + i);
      if (node == died) job.say_on(node, launcher, {kDied, Level::error}, 12'000);
    }
  }
  /// Numbers of the ranks that stand out when all but `silent` complain.
  std::vector<int> stand_out(const std::vector<int>& silent, Speakers speakers = Speakers::ranks) {
    const job::JobView view = job.view();
    std::vector<bool> complained;
    for (const job::RankView& rank : view.ranks)
      complained.push_back(!rank.rank ||
                           std::ranges::find(silent, rank.rank->value()) == silent.end());
    const SilentRanks found = find_silent_ranks(view, complained, speakers);
    CHECK(found.all == 8);
    CHECK(found.silent == silent.size());
    std::vector<int> numbers;
    for (const std::uint32_t rank : found.ranks) numbers.push_back(view.ranks[rank].rank->value());
    return numbers;
  }
};

using Ranks = std::vector<int>;

}  // namespace

TEST_CASE("silent ranks: all of them where no launcher says why") {
  CHECK(Job({}).stand_out({1, 3}) == Ranks{1, 3});
  CHECK(Job({}).stand_out({}) == Ranks{});
}

TEST_CASE("silent ranks: who was ended by its launcher does not stand out") {
  CHECK(Job({{1, 1}}).stand_out({1, 3}) == Ranks{1});
  CHECK(Job({{1, 1}, {3, 1}}).stand_out({1, 3, 6}) == Ranks{1});
}

TEST_CASE("silent ranks: of more than the launcher ended one was silent before") {
  CHECK(Job({{0, 1}}).stand_out({0, 1}) == Ranks{0, 1});
  CHECK(Job({{0, 1}, {1, 1}}).stand_out({0, 1, 3}) == Ranks{0, 1});
}

TEST_CASE("silent ranks: where all were ended, that says nothing") {
  CHECK(Job({{0, 1}, {1, 1}}).stand_out({1, 3}) == Ranks{1, 3});
}

TEST_CASE("silent ranks: where a launcher tells of a death, the others' words explain all") {
  CHECK(Job({{2, 1}}, 1).stand_out({5}) == Ranks{});
  CHECK(Job({{1, 1}, {2, 1}}, 1).stand_out({3, 5}) == Ranks{3});
  CHECK(Job({}, 1).stand_out({5}) == Ranks{5});
}

TEST_CASE("silent ranks: who hangs is ended in the end, and stands out all the same") {
  CHECK(Job({{2, 1}}, 1).stand_out({5}, Speakers::hung_ranks) == Ranks{5});
}

}  // namespace l4::detect::hang
