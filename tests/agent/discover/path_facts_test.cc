#include "agent/discover/path_facts.h"

#include <doctest/doctest.h>

#include <string>

namespace l4::discover {
namespace {

using wire::SourceKind;

struct Row {
  const char* path;
  const char* node;
  int rank;   // -1: none
  int local;  // -1: none
  int attempt;
  SourceKind kind;
  const char* job;
};

constexpr SourceKind kRank = SourceKind::rank;
constexpr SourceKind kMerged = SourceKind::merged;
constexpr SourceKind kLauncher = SourceKind::launcher;
constexpr SourceKind kKernel = SourceKind::kernel;
constexpr SourceKind kOther = SourceKind::other;

const Row kRows[] = {
    {"node-00/rank3.log", "", 3, -1, 0, kRank, ""},
    {"node-00/rank-3.txt", "", 3, -1, 0, kRank, ""},
    {"rank_12.log.gz", "", 12, -1, 0, kRank, ""},
    {"rank7.log.1", "", 7, -1, 0, kRank, ""},
    {"log/workerlog.3", "", -1, 3, 0, kRank, ""},
    {"trainer.12", "", 12, -1, 0, kRank, ""},
    {"node-1/ppo_worker.3", "", 3, -1, 0, kRank, ""},
    {"coworker.3", "", -1, -1, 0, kOther, ""},
    {"gpu12_rank5.log", "gpu12", 5, -1, 0, kRank, ""},
    {"train_rank5.log", "", 5, -1, 0, kRank, ""},
    {"node-00/job-1_a50y90gb/attempt_2/1/stderr.log", "node-00", -1, 1, 2, kRank, "job-1"},
    {"n3/logs/none_abcd_123/attempt_0/7/stdout.log", "n3", -1, 7, 0, kRank, "none"},
    {"job-1_a50y90gb/attempt_0/0/stdout.log", "job-1_a50y90gb", -1, 0, 0, kRank, "job-1"},
    {"node-00/agent.log", "", -1, -1, 0, kLauncher, ""},
    {"12345-node-a-7.out", "node-a", 7, -1, 0, kRank, "12345"},
    {"12345-r7i1n2-15.err", "r7i1n2", 15, -1, 0, kRank, "12345"},
    {"12345-ip-26-0-1-2-3.out", "ip-26-0-1-2", 3, -1, 0, kRank, "12345"},
    {"12345-node-01.out", "node-01", -1, -1, 0, kMerged, "12345"},
    {"12345-gpu7.out", "gpu7", -1, -1, 0, kMerged, "12345"},
    {"slurm-12345.out", "", -1, -1, 0, kMerged, "12345"},
    {"slurm-12345_7.out", "", -1, -1, 0, kMerged, "12345_7"},
    {"slurm-12345-3.out", "", 3, -1, 0, kRank, "12345"},
    {"opt125m-889123-5.log", "", 5, -1, 0, kRank, "889123"},
    {"train.gpt-4711002.17.err", "", 17, -1, 0, kRank, "4711002"},
    {"eval_771234_0.txt", "", 0, -1, 0, kRank, "771234"},
    {"run-20240502-3.log", "", -1, -1, 0, kOther, ""},           // a date
    {"sweep_771234_3.out", "", -1, -1, 0, kMerged, "771234_3"},  // of an array
    {"out.3", "", 3, -1, 0, kRank, ""},
    {"stderr.12", "", 12, -1, 0, kRank, ""},
    {"pretrain-gpt-98765.out", "", -1, -1, 0, kMerged, "98765"},
    {"98765.out", "", -1, -1, 0, kMerged, "98765"},
    {"worker-3.log", "worker-3", 3, -1, 0, kRank, ""},
    {"worker_3.log", "", 3, -1, 0, kRank, ""},
    {"scheduler.log", "", -1, -1, 0, kLauncher, ""},
    {"nemo_log_globalrank-9_localrank-1.txt", "", 9, 1, 0, kRank, ""},
    {"out/1/rank.3/stdout", "", 3, -1, 0, kRank, ""},
    {"plog-1234_20221201.log", "", -1, -1, 0, kRank, ""},
    {"pods/ml_llama-worker-3_0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f/pytorch/2.log", "llama-worker-3",
     -1, -1, 2, kOther, ""},
    {"llama-worker-3_ml_pytorch-"
     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.log",
     "llama-worker-3", -1, -1, 0, kOther, ""},
    {"dmesg.log", "", -1, -1, 0, kKernel, ""},
    {"dmesg-gpu-58.txt", "gpu-58", -1, -1, 0, kKernel, ""},
    {"gpu-58.dmesg", "gpu-58", -1, -1, 0, kKernel, ""},
    {"nccl_debug.gpu-58.4711", "gpu-58", -1, -1, 0, kOther, ""},
    {"notes.log", "", -1, -1, 0, kOther, ""},
};

TEST_CASE("path facts: one row per layout") {
  for (const Row& row : kRows) {
    CAPTURE(std::string{row.path});
    const PathFacts facts = facts_of(split_path(row.path));
    CHECK(facts.node == row.node);
    CHECK((facts.rank ? facts.rank->value() : -1) == row.rank);
    CHECK(facts.local_rank.value_or(-1) == row.local);
    CHECK(facts.attempt == row.attempt);
    CHECK(facts.kind == row.kind);
    CHECK(facts.job == row.job);
  }
}

TEST_CASE("path facts: folders that are no nodes") {
  for (const char* name : {"logs", "job-12", "attempt_0", "run3", "2024", "rank.3", "stdout",
                           "log_gpt", "logs-run4", "msrun_log", "train_outputs", "gpt.out"})
    CHECK_FALSE(node_like(name));
  for (const char* name : {"node-00", "r7i17n2", "dgx39", "ip-26-0-14-30", "worker-33", "logan-7",
                           "blog3", "outpost-2"})
    CHECK(node_like(name));
}

}  // namespace
}  // namespace l4::discover
