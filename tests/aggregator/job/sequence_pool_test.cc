// Sequences are stored once and appended without a repetition where they meet.
#include "aggregator/job/sequence_pool.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace l4::job {
namespace {

/// A run of length one for each id, as a segment ships them.
std::vector<wire::Run> runs(const Sequence& ids) {
  std::vector<wire::Run> list;
  for (const std::uint32_t id : ids) list.push_back({LocalTemplateId{id}, 1});
  return list;
}

TEST_CASE("equal sequences have one id, others have others") {
  SequencePool pool;
  CHECK(pool.append(SequenceId{0}, {}) == SequenceId{0});
  CHECK(pool.at(SequenceId{0}).empty());
  const auto whole = [&](const Sequence& ids) { return pool.append(SequenceId{0}, runs(ids)); };
  const auto abc = whole({1, 2, 3});
  CHECK(whole({1, 2, 3}) == abc);
  CHECK(whole({1, 2}) != abc);
  CHECK(whole({3, 2, 1}) != abc);
  CHECK(pool.at(abc) == Sequence{1, 2, 3});
  CHECK(pool.size() == 4);
  CHECK(pool.elements() == 8);
}

TEST_CASE("appending collapses where the two meet") {
  SequencePool pool;
  const auto joined = [&](const Sequence& head, const Sequence& tail) {
    return pool.at(pool.append(pool.append(SequenceId{0}, runs(head)), runs(tail)));
  };
  CHECK(joined({1, 2}, {2, 3}) == Sequence{1, 2, 3});
  CHECK(joined({1, 2}, {3}) == Sequence{1, 2, 3});
  CHECK(joined({1, 2}, {}) == Sequence{1, 2});
  CHECK(joined({1, 2}, {2}) == Sequence{1, 2});
  CHECK(joined({1, 2}, {1, 2}) == Sequence{1, 2, 1, 2});
}

TEST_CASE("what nobody refers to gives its room away") {
  SequencePool pool;
  SequenceId growing{0};
  for (std::uint32_t i = 0; i < 10'000; ++i) growing = pool.append(growing, runs({i}));
  CHECK(pool.size() == 2);
  const Sequence& kept = pool.at(growing);
  REQUIRE(kept.size() == SequencePool::kLengthMax);
  CHECK(kept.front() == 0);
  CHECK(kept[SequencePool::kLengthMax / 2 - 1] == SequencePool::kLengthMax / 2 - 1);
  CHECK(kept.back() == 9'999);
  CHECK(kept[SequencePool::kLengthMax / 2] == 10'000 - SequencePool::kLengthMax / 2);
  const auto again = pool.append(SequenceId{0}, runs({7}));
  CHECK(pool.append(SequenceId{0}, runs({7})) == again);
  pool.release(growing);
  pool.release(again);
  CHECK(pool.size() == 2);
  pool.release(again);
  CHECK(pool.size() == 1);
  CHECK(pool.elements() == 0);
}

TEST_CASE("any way of cutting a sequence gives the same id") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  SequencePool pool;
  for (int round = 0; round < 500; ++round) {
    Sequence whole;
    for (std::size_t i = random() % (round % 50 == 0 ? 1500 : 30); i > 0; --i)
      whole.push_back(static_cast<std::uint32_t>(random() % 4));
    const auto at_once = pool.append(SequenceId{0}, runs(whole));
    SequenceId in_parts{0};
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t end = std::min(whole.size(), at + 1 + random() % 5);
      in_parts = pool.append(in_parts, runs({whole.begin() + static_cast<std::ptrdiff_t>(at),
                                             whole.begin() + static_cast<std::ptrdiff_t>(end)}));
      at = end;
    }
    CHECK(in_parts == at_once);
    const Sequence& stored = pool.at(at_once);
    for (std::size_t i = 1; i < stored.size(); ++i)
      if (i != SequencePool::kLengthMax / 2) CHECK(stored[i] != stored[i - 1]);
  }
}

}  // namespace
}  // namespace l4::job
