// Lines whose order turns round on one rank, while its peers keep it.
#include "aggregator/detect/temporal/turns.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <random>
#include <string>

#include "tests/aggregator/job/made_job.h"

namespace l4::detect::temporal {
namespace {

using job::test::event_of;
using job::test::MadeJob;

constexpr int kRanks = 6, kIterations = 40;

std::string line_of(char letter) {
  static const std::map<char, std::string> kLines{{'a', "batch is loaded"},
                                                  {'b', "forward pass"},
                                                  {'c', "gradients of all buckets"},
                                                  {'d', "optimizer has made one step"},
                                                  {'e', "metrics"},
                                                  {'s', "state dict was written to disk"},
                                                  {'y', "evaluation on the held-out set"}};
  return kLines.at(letter);
}

/// Each rank prints the lines, a letter each, in each iteration.
std::vector<Turn> find(MadeJob& job, const std::function<std::string(int, int)>& lines) {
  for (int k = 1; k <= kIterations; ++k)
    for (int rank = 0; rank < kRanks; ++rank) {
      for (const char c : lines(k, rank)) job.say(rank, {line_of(c)}).iteration = Iteration{k};
      job.iterate(rank, k, std::nullopt);
    }
  return find_turns(job.view());
}

TEST_CASE("a rank that turns two lines round for good is found, with the lines and the iteration") {
  MadeJob job(kRanks);
  const auto turns =
      find(job, [](int k, int rank) { return rank == 4 && k >= 21 ? "adcbe" : "abcde"; });
  REQUIRE(turns.size() == 1);
  const auto view = job.view();
  CHECK(view.streams[turns[0].stream].rank == 4u);
  CHECK(turns[0].iteration == Iteration{21});
  CHECK(turns[0].before == 20);
  CHECK(turns[0].after == 20);
  CHECK(turns[0].earlier == event_of(view, line_of('b')));
  CHECK((turns[0].later == event_of(view, line_of('c')) ||
         turns[0].later == event_of(view, line_of('d'))));
}

TEST_CASE("lines of a few iterations count, too") {
  MadeJob job(kRanks);
  const auto turns = find(job, [](int k, int rank) {
    return k % 5 != 0 ? "ab" : (rank == 1 && k > 20 ? "aycsb" : "ascyb");
  });
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].iteration == Iteration{25});
}

TEST_CASE("what turns on all ranks, for some iterations, or by chance is no turn") {
  MadeJob all(kRanks), passing(kRanks), racing(kRanks), role(kRanks);
  CHECK(find(all, [](int k, int) { return k >= 21 ? "acb" : "abc"; }).empty());
  CHECK(find(passing, [](int k, int rank) {
          return rank == 4 && k >= 21 && k < 30 ? "acb" : "abc";
        }).empty());
  std::mt19937 random(3);
  CHECK(find(racing, [&](int, int) { return random() % 2 == 0 ? "acb" : "abc"; }).empty());
  CHECK(find(role, [](int, int rank) { return rank == 0 ? "acb" : "abc"; }).empty());
}

}  // namespace
}  // namespace l4::detect::temporal
