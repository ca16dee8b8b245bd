#include "agent/pipeline/nccl_cards.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/pipeline/job_pipeline.h"
#include "tests/agent/segment/pack_reading.h"

namespace l4::pipeline {
namespace {

using Ranks = std::vector<std::int32_t>;

struct Told {
  /// A line behind "NCCL INFO " of a rank of a node; -1: its rank is not known.
  void say(const std::string& line, std::int32_t rank = 0, std::optional<std::int32_t> device = {},
           const std::string& node = "node-1") {
    wire::SourceDefinition source;
    source.node = node;
    if (rank >= 0) source.rank = Rank{rank};
    cards.add("NCCL INFO " + line, source, device);
  }
  Ranks ranks(const std::string& card, const std::string& node = "node-1") const {
    return cards.users(node, card).ranks;
  }

  NcclCards cards;
};

constexpr auto kTwoPorts =
    "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>";

TEST_CASE("nccl cards: connections name the card of the process that prints them") {
  Told told;
  told.say(kTwoPorts, 3);
  CHECK(told.cards.version() == 0);
  told.say("Channel 00/0 : 3[3] -> 11[3] [send] via NET/IB/0/GDRDMA", 3);
  told.say("Channel 01/0 : 11[3] -> 3[3] [receive] via NET/IB/0/GDRDMA/Shared", 3);
  told.say("Channel 00/0 : 4[4] -> 12[4] [send] via NET/IB/1", 4);
  CHECK(told.cards.version() == 2);
  CHECK(told.ranks("mlx5_0/1") == Ranks{3});
  CHECK(told.ranks("mlx5_1/1") == Ranks{4});
  CHECK(told.ranks("mlx5_2/1").empty());
  CHECK(told.ranks("mlx5_0/1", "node-2").empty());
  CHECK(told.ranks("mlx5_0/1", "node-1.cluster.local") == Ranks{3});
  told.say(kTwoPorts, 9, {}, "10.0.0.1");
  told.say("Channel 00/0 : 3[3] -> 11[3] [send] via NET/IB/0/GDRDMA", 9, {}, "10.0.0.1");
  CHECK(told.ranks("mlx5_0/1", "10.0.0.1") == Ranks{9});
  CHECK(told.ranks("mlx5_0/1", "10.0.0.2").empty());
}

TEST_CASE("nccl cards: forms of versions and plugins") {
  struct Form {
    const char *listed, *connected, *card;
  };
  for (const Form& form : {
           Form{"NET/IB : Using [0]hfi1_2:1/IB [1]hfi1_0:1/IB [2]hfi1_3:1/IB ; OOB ib0:10.1.8.4<0>",
                "Channel 00 : 11[88000] -> 12[88000] [receive] via NET/IB/2", "hfi1_3/1"},
           Form{"NET/IB : Using [0]mlx5_2:2/IB/SHARP ; OOB eth0:10.35.4.13<0>",
                "Channel 00/0 : 15[100000] -> 0[100000] [receive] via NET/IBext/0", "mlx5_2/2"},
           Form{"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>",
                "Channel 00/0 : 4[4] -> 11[3] [receive] via NET/IBext_v10/1/GDRDMA", "mlx5_1/1"},
           Form{"NET/Socket : Using [0]eth0:10.0.0.1<0> [1]eth1:fe80::1%eth1<0>",
                "Channel 00/0 : 0[0] -> 4[0] [send] via NET/Socket/1", "eth1"},
           Form{"NET/IB : Using [0]rocep1:1/RoCE [1]={[1] rocep2:1/RoCE, [2] rocep3:1/RoCE} "
                "[2]rocep4:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
                "Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/1/GDRDMA", "rocep3/1"},
           Form{"NET/IB : Made virtual device [2] name=mlx5_0+mlx5_1 speed=400000 ndevs=2",
                "Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/2/GDRDMA", "mlx5_1/1"},
           Form{"NET/IB : Using [0]mlx5_0:1/IB ; OOB ib0:10.1.8.4<0>",
                "Ring 00 : 3 -> 4 [receive] via NET/IB/0", "mlx5_0/1"},
       }) {
    CAPTURE(form.listed);
    Told told;
    told.say(form.listed);
    told.say(form.connected);
    CHECK(told.ranks(form.card) == Ranks{0});
  }
}

TEST_CASE("nccl cards: what names no card of the process") {
  for (const char* line :
       {"Channel 00/0 : 3[3] -> 11[3] [send] via NET/IB/0(2)/GDRDMA",  // of rank 2, by its proxy
        "Channel 00/0 : 3[3] -> 11[3] [send] via NET/IB/7",
        "Channel 00/0 : 3[3] -> 4[4] via P2P/IPC",
        "Channel 00/0 : 3[3] -> 11[3] [send] via NET/Socket/0",
        "Channel 00/0 : 3[3] -> 11[3] [send] via NET/AWS Libfabric/0/GDRDMA",
        "Channel 00/0 : 3[3] -> 11[3] [send] via NET/IB", "Channel 00/02 : 0 1 2 3",
        "NET/IB : Using [", "NET/IB : Using [0]:1/IB [1]mlx5_0 [x]mlx5_0:1/IB [2]mlx5_0:a/IB",
        "NET/IB : Made virtual device [",
        "NET/IB : Made virtual device [3] name=", "Using network IB", "Channel", ""}) {
    CAPTURE(line);
    Told told;
    told.say(kTwoPorts, 3);
    told.say(line, 3);
    CHECK(told.cards.version() == 0);
    CHECK(told.ranks("mlx5_0/1").empty());
  }
}

TEST_CASE("nccl cards: a process that begins anew may use another card") {
  Told told;
  for (const std::int32_t rank : {0, 1}) {
    told.say(kTwoPorts, rank);
    told.say("Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/0", rank);
  }
  CHECK(told.ranks("mlx5_0/1") == Ranks{0, 1});
  told.say(kTwoPorts, 1);
  told.say("Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/1", 1);
  CHECK(told.ranks("mlx5_0/1") == Ranks{0});
  CHECK(told.ranks("mlx5_1/1") == Ranks{1});
}

TEST_CASE("nccl cards: without a rank the process is known by its GPU") {
  Told told;
  told.say(kTwoPorts, -1);
  told.say("Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/0", -1);
  CHECK(told.cards.users("node-1", "mlx5_0/1").empty());
  told.say("Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/0", -1, 5);
  CHECK(told.cards.users("node-1", "mlx5_0/1").local_ranks == Ranks{5});
}

TEST_CASE("nccl cards: memory is bounded") {
  Told told;
  for (int i = 0; i < 3000; ++i) {
    const std::string node = "host" + std::to_string(i);
    told.say(kTwoPorts, 0, {}, node);
    told.say("NET/X" + std::to_string(i) + " : Using [0]mlx5_0:1/IB", 0, {}, "node-1");
    told.say("Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/0", i, {}, "host1");
  }
  CHECK(told.ranks("mlx5_0/1", "host1").size() == NcclCards::kUsersMax);
  told.say("Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/0", 0, {}, "host2999");
  CHECK(told.ranks("mlx5_0/1", "host2999").empty());
}

struct NoBatches : Output {
  void batch(wire::Batch&&) override {}
};

TEST_CASE("nccl cards: the pipeline reads them from a log, by the ranks of its speakers") {
  NoBatches out;
  Options options;
  options.live = true;
  JobPipeline pipeline("job", segment::test::packs(), options, out);
  discover::LogFile file;
  file.name = "train.out";
  file.node = "login";
  const LogNumber log = pipeline.open(file, {});
  FilePosition part;
  part.path = "/logs/train.out";
  part.file.key = 7;
  pipeline.begin_part(log, part);
  std::string text;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string front = std::to_string(rank) + ": gpu" + std::to_string(rank / 2) + ":70" +
                              std::to_string(rank) + ":7100 [" + std::to_string(rank % 2) +
                              "] NCCL INFO ";
    text += front + "Bootstrap : Using eth0:10.0.0.1<0>\n" + front + kTwoPorts + "\n" + front +
            "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/" + std::to_string(rank % 2) + "\n";
  }
  for (int again = 0; again < 64; ++again)
    for (int rank = 0; rank < 4; ++rank)
      text += std::to_string(rank) + ": iteration " + std::to_string(again) + " loss 2.0\n";
  pipeline.feed(log, text);
  pipeline.end_part(log);
  pipeline.flush(Millis{10'000}, true);
  CHECK(pipeline.nccl_cards().users("gpu0", "mlx5_1/1").ranks == Ranks{1});
  CHECK(pipeline.nccl_cards().users("gpu1", "mlx5_0/1").ranks == Ranks{2});
}

}  // namespace
}  // namespace l4::pipeline
