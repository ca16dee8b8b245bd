// Ranks of processes by the list that a launcher prints at the start.
#include "agent/decode/roster.h"

#include <doctest/doctest.h>

#include <vector>

#include "agent/decode/decoder.h"

namespace l4::decode {
namespace {

TEST_CASE("roster: the spellings of Ray Train's releases") {
  Roster roster;
  roster.note("- (ip=10.0.59.242, pid=7410) rank=0, local_rank=0, node_rank=0");
  roster.note("- (ip=10.0.12.174, pid=3381) world_rank=4, local_rank=0, node_rank=1");
  roster.note("- (node_id=eb3c53c7, ip=10.0.12.9, pid=3381) world_rank=9, local_rank=1");
  roster.note("- (ip=10.0.12.9, pid=77) local_rank=1, node_rank=3");
  roster.note("step 7 (ip=10.0.12.9, pid=78) world_rank=5");
  CHECK(roster.rank_of(7410, "10.0.59.242") == Rank{0});
  CHECK(roster.rank_of(7410, "") == Rank{0});  // the driver's own host is not named
  CHECK(roster.rank_of(3381, "10.0.12.174") == Rank{4});
  CHECK(roster.rank_of(3381, "10.0.12.9") == Rank{9});
  CHECK_FALSE(roster.rank_of(3381, ""));  // two hosts have it
  CHECK_FALSE(roster.rank_of(77, "10.0.12.9"));
  CHECK_FALSE(roster.rank_of(78, "10.0.12.9"));
}

TEST_CASE("roster: lines of a listed process have its rank") {
  std::vector<std::optional<Rank>> ranks;
  Decoder decoder({}, [&](const Record& record) { ranks.push_back(record.speaker.rank); });
  decoder.feed(
      "(RayTrainWorker pid=7411) Setting up process group\n"
      "(TorchTrainer pid=7236) Started distributed worker processes:\n"
      "(TorchTrainer pid=7236) - (ip=10.0.1.2, pid=7411) world_rank=1, local_rank=1\n"
      "(TorchTrainer pid=7236) - (ip=10.0.1.3, pid=512) world_rank=8, local_rank=0\n"
      "(RayTrainWorker pid=7411) step 1\n"
      "(RayTrainWorker pid=512, ip=10.0.1.3) step 1\n"
      "(TorchTrainer pid=7236) done\n");
  decoder.finish();
  const std::vector<std::optional<Rank>> expected{
      std::nullopt, std::nullopt, std::nullopt, std::nullopt, Rank{1}, Rank{8}, std::nullopt};
  CHECK(ranks == expected);
}

}  // namespace
}  // namespace l4::decode
