#include "agent/host/identity.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace l4::host {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  Environment environment;
  for (const auto& [key, value] : variables) CHECK_MESSAGE(environment.set(key, value), key);
  return environment;
}

struct IdentityRow {
  const char* what;
  Variables variables;
  const char* job;
  int rank, local, world;  // -1: none
  const char* from;
};

const IdentityRow kIdentityRows[] = {
    {"torchrun",
     {{"RANK", "9"},
      {"LOCAL_RANK", "1"},
      {"WORLD_SIZE", "16"},
      {"GROUP_RANK", "1"},
      {"LOCAL_WORLD_SIZE", "8"},
      {"TORCHELASTIC_RUN_ID", "llama-7b"},
      {"TORCHELASTIC_RESTART_COUNT", "2"}},
     "llama-7b",
     9,
     1,
     16,
     "RANK"},
    {"torchrun without an id: its default is no name",
     {{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "1"}, {"TORCHELASTIC_RUN_ID", "none"}},
     "",
     0,
     0,
     1,
     "RANK"},
    {"srun, a task for each rank",
     {{"SLURM_JOB_ID", "4711"},
      {"SLURM_STEP_ID", "0"},
      {"SLURM_PROCID", "13"},
      {"SLURM_LOCALID", "5"},
      {"SLURM_NTASKS", "16"},
      {"SLURM_NODEID", "1"}},
     "4711",
     13,
     5,
     16,
     "SLURM_PROCID"},
    {"srun of a part of the allocation: the step's size counts",
     {{"SLURM_JOB_ID", "4711"},
      {"SLURM_STEP_ID", "3"},
      {"SLURM_PROCID", "1"},
      {"SLURM_STEP_NUM_TASKS", "2"},
      {"SLURM_NTASKS", "16"}},
     "4711",
     1,
     -1,
     2,
     "SLURM_PROCID"},
    {"torchrun under srun: the task's numbers are the node's",
     {{"SLURM_JOB_ID", "4711"},
      {"SLURM_STEP_ID", "0"},
      {"SLURM_PROCID", "1"},
      {"SLURM_LOCALID", "0"},
      {"SLURM_NTASKS", "2"},
      {"RANK", "9"},
      {"LOCAL_RANK", "1"},
      {"WORLD_SIZE", "16"},
      {"TORCHELASTIC_RUN_ID", "x"}},
     "4711",
     9,
     1,
     16,
     "RANK"},
    {"array job",
     {{"SLURM_JOB_ID", "4713"}, {"SLURM_ARRAY_JOB_ID", "4711"}, {"SLURM_ARRAY_TASK_ID", "2"}},
     "4711_2",
     -1,
     -1,
     -1,
     ""},
    {"heterogeneous job",
     {{"SLURM_JOB_ID", "4712"}, {"SLURM_HET_JOB_ID", "4711"}},
     "4711",
     -1,
     -1,
     -1,
     ""},
    {"batch script: no step, no rank",
     {{"SLURM_JOB_ID", "4711"}, {"SLURM_PROCID", "0"}},
     "4711",
     -1,
     -1,
     -1,
     ""},
    {"Open MPI",
     {{"OMPI_COMM_WORLD_RANK", "3"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
      {"OMPI_COMM_WORLD_SIZE", "8"}},
     "",
     3,
     3,
     8,
     "OMPI_COMM_WORLD_RANK"},
    {"MPICH, Intel MPI",
     {{"PMI_RANK", "6"}, {"PMI_SIZE", "8"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "4"}},
     "",
     6,
     2,
     8,
     "PMI_RANK"},
    {"MVAPICH",
     {{"MV2_COMM_WORLD_RANK", "6"},
      {"MV2_COMM_WORLD_SIZE", "8"},
      {"MV2_COMM_WORLD_LOCAL_RANK", "2"}},
     "",
     6,
     2,
     8,
     "MV2_COMM_WORLD_RANK"},
    {"srun --mpi=pmix",
     {{"PMIX_RANK", "6"},
      {"SLURM_STEP_ID", "0"},
      {"SLURM_PROCID", "6"},
      {"SLURM_STEP_NUM_TASKS", "8"},
      {"SLURM_JOB_ID", "12"},
      {"SLURM_LOCALID", "2"}},
     "12",
     6,
     2,
     8,
     "PMIX_RANK"},
    {"mpirun in a pod whose RANK is Kubeflow's",
     {{"RANK", "1"},
      {"WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_RANK", "11"},
      {"OMPI_COMM_WORLD_SIZE", "16"}},
     "",
     11,
     -1,
     16,
     "OMPI_COMM_WORLD_RANK"},
    {"Kubeflow v1, one process a pod",
     {{"RANK", "4"},
      {"WORLD_SIZE", "8"},
      {"MASTER_ADDR", "llama-master-0"},
      {"HOSTNAME", "llama-worker-3"},
      {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}},
     "llama",
     4,
     -1,
     8,
     "RANK"},
    {"Kubeflow v2 and its job set",
     {{"RANK", "9"},
      {"LOCAL_RANK", "1"},
      {"WORLD_SIZE", "16"},
      {"PET_NNODES", "2"},
      {"PET_NPROC_PER_NODE", "8"},
      {"PET_NODE_RANK", "1"},
      {"JOB_COMPLETION_INDEX", "1"},
      {"HOSTNAME", "my-train-node-0-1"},
      {"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
      {"TORCHELASTIC_RUN_ID", "none"}},
     "my-train",
     9,
     1,
     16,
     "RANK"},
    {"a pod of a deployment has no role",
     {{"HOSTNAME", "web-7d9f8-x2k4p"}, {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}},
     "",
     -1,
     -1,
     -1,
     ""},
    {"a host that is called like a pod is none",
     {{"HOSTNAME", "gpu-worker-3"}},
     "",
     -1,
     -1,
     -1,
     ""},
    {"Volcano: any name of a task",
     {{"VC_TASK_INDEX", "3"},
      {"VK_TASK_INDEX", "3"},
      {"HOSTNAME", "llama-trainer-x-3"},
      {"LOCAL_RANK", "2"},
      {"LOCAL_WORLD_SIZE", "8"}},
     "llama-trainer",
     26,
     2,
     -1,
     "VC_TASK_INDEX"},
    {"Lightning: its first process sets nothing, the others no RANK",
     {{"NODE_RANK", "0"}, {"LOCAL_RANK", "3"}, {"WORLD_SIZE", "8"}},
     "",
     3,
     3,
     8,
     "NODE_RANK"},
    {"no rank without the size of a node",
     {{"NODE_RANK", "1"}, {"LOCAL_RANK", "3"}, {"WORLD_SIZE", "8"}},
     "",
     -1,
     3,
     8,
     ""},
    {"Ascend",
     {{"RANK_ID", "12"}, {"DEVICE_ID", "4"}, {"RANK_SIZE", "16"}},
     "",
     12,
     4,
     16,
     "RANK_ID"},
    {"MindSpore's msrun",
     {{"MS_ROLE", "MS_WORKER"}, {"MS_NODE_ID", "5"}, {"MS_WORKER_NUM", "8"}},
     "",
     5,
     -1,
     8,
     "MS_NODE_ID"},
    {"MindSpore's scheduler is no rank",
     {{"MS_ROLE", "MS_SCHED"}, {"MS_NODE_ID", "0"}, {"MS_WORKER_NUM", "8"}},
     "",
     -1,
     -1,
     8,
     ""},
    {"Paddle",
     {{"PADDLE_TRAINER_ID", "1"}, {"PADDLE_TRAINERS_NUM", "2"}, {"PADDLE_JOB_ID", "p"}},
     "p",
     1,
     -1,
     2,
     "PADDLE_TRAINER_ID"},
    {"Ray", {{"RAY_JOB_ID", "01000000"}}, "01000000", -1, -1, -1, ""},
    {"what is no number counts as not set",
     {{"RANK", "x"}, {"LOCAL_RANK", "-1"}, {"WORLD_SIZE", "99999999999"}, {"SLURM_JOB_ID", "4 7"}},
     "",
     -1,
     -1,
     -1,
     ""},
    {"a rank beyond its world",
     {{"RANK", "8"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "8"}},
     "",
     -1,
     0,
     8,
     ""},
};

TEST_CASE("identity: who names what") {
  for (const IdentityRow& row : kIdentityRows) {
    CAPTURE(row.what);
    const Identity it = identify(environment_of(row.variables), {});
    CHECK(it.job.value.value_or("") == row.job);
    CHECK(it.rank.value.value_or(Rank{-1}).value() == row.rank);
    CHECK(it.local_rank.value.value_or(-1) == row.local);
    CHECK(it.world_size.value.value_or(-1) == row.world);
    CHECK(it.rank.from == row.from);
  }
}

TEST_CASE("identity: environment before path before configuration, with where it came from") {
  IdentityHints hints;
  hints.paths = {
      discover::facts_of(discover::split_path("n3/job-1_abcd1234/attempt_2/5/stderr.log"))};
  hints.node = "n3";
  hints.config_job = "configured";
  hints.config_node = "other";
  hints.config_rank = Rank{9};
  hints.config_local_rank = 1;
  hints.config_world_size = 64;
  const Identity path = identify({}, hints);
  CHECK(path.job.value == "job-1");
  CHECK(path.job.origin == Origin::path);
  CHECK(path.node.value == "n3");
  CHECK(path.local_rank.value == 5);
  CHECK(path.local_rank.origin == Origin::path);
  CHECK(path.rank.value == Rank{9});
  CHECK(path.rank.origin == Origin::config);
  CHECK(rank_source(path.rank.origin) == RankSource::derived);
  CHECK(path.path_attempt.value == 2);
  CHECK(path.world_size.value == 64);
  CHECK(path.world_size.origin == Origin::config);

  const Identity env = identify(
      environment_of({{"SLURM_JOB_ID", "7"}, {"SLURMD_NODENAME", "gpu-1"}, {"LOCAL_RANK", "5"}}),
      hints);
  CHECK(env.job.value == "7");
  CHECK(env.job.from == "SLURM_JOB_ID");
  CHECK(env.node.value == "gpu-1");
  CHECK(env.node.origin == Origin::env);
  CHECK(name(env.job.origin) == "env");
  REQUIRE(env.conflicts.size() == 1);  // gpu-1 and n3
  CHECK(env.conflicts[0].field == "node");

  const Identity nothing = identify({}, {});
  CHECK_FALSE(nothing.job);
  CHECK(nothing.rank.origin == Origin::none);
  CHECK(rank_source(nothing.rank.origin) == RankSource::none);
}

TEST_CASE("identity: a launcher's command line names the job where no scheduler does") {
  IdentityHints hints;
  hints.rendezvous = "job-7";
  hints.config_job = "configured";
  CHECK(*identify({}, hints).job == "job-7");
  CHECK(*identify(environment_of({{"SLURM_JOB_ID", "41"}}), hints).job == "41");
  hints.rendezvous = "none";
  CHECK(*identify({}, hints).job == "configured");
}

TEST_CASE("identity: two that count the same world and disagree are a conflict") {
  const Identity it = identify(environment_of({{"RANK", "3"},
                                               {"LOCAL_RANK", "3"},
                                               {"WORLD_SIZE", "8"},
                                               {"OMPI_COMM_WORLD_RANK", "4"},
                                               {"OMPI_COMM_WORLD_SIZE", "8"},
                                               {"PMI_RANK", "0"},
                                               {"PMI_SIZE", "2"}}),
                               {});
  CHECK(it.rank.value == Rank{3});
  REQUIRE(it.conflicts.size() == 1);
  CHECK(it.conflicts[0].believed == "RANK=3");
  CHECK(it.conflicts[0].other == "OMPI_COMM_WORLD_RANK=4");

  IdentityHints hints;
  hints.paths = {discover::facts_of(discover::split_path("n0/rank5.log"))};
  const Identity path = identify(environment_of({{"RANK", "3"}, {"LOCAL_RANK", "3"}}), hints);
  CHECK(path.rank.value == Rank{3});
  REQUIRE(path.conflicts.size() == 1);
  CHECK(path.conflicts[0].other == "path=5");
}

TEST_CASE("identity: host names of one machine may be short or long") {
  IdentityHints hints;
  hints.node = "gpu-1.cluster.local";
  CHECK(identify(environment_of({{"SLURMD_NODENAME", "gpu-1"}}), hints).conflicts.empty());
}

TEST_CASE("identity: the counts of scheduler and launcher make an attempt") {
  const Identity it = identify(environment_of({{"SLURM_RESTART_COUNT", "1"},
                                               {"SLURM_STEP_ID", "4"},
                                               {"TORCHELASTIC_RESTART_COUNT", "2"}}),
                               {});
  REQUIRE(it.attempt);
  CHECK(*it.attempt == AttemptKey{1, 4, 2});
  CHECK_FALSE(identify(environment_of({{"SLURM_STEP_ID", "4294967291"}}), {}).attempt);
  CHECK(AttemptKey{1, 0, 0} > AttemptKey{0, 9, 9});
}

}  // namespace
}  // namespace l4::host
