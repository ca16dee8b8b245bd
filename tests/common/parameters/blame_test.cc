// Whom a message blames: the example of every row of the table of forms, further wordings, and
// messages that only look as if they blamed somebody.
#include "common/parameters/blame.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/parameters/blame_forms.h"
#include "common/parameters/parameters.h"

namespace l4::parameters {
namespace {

std::string blamed_in(std::string_view message, std::string_view details = {}) {
  static const std::vector<std::string> kinds{"rank", "host", "address", "device"};
  std::vector<wire::Parameter> values;
  extract(message, details, values);
  std::string all;
  for (const wire::Parameter& value : values) {
    if (!value.blamed) continue;
    if (!all.empty()) all += ", ";
    all += kinds.at(static_cast<std::size_t>(value.kind)) + " " + value.value;
  }
  return all;
}

struct BlameRow {
  std::string message, blamed, details = {};
};

void check_blame(const std::vector<BlameRow>& rows) {
  for (const BlameRow& row : rows) {
    CAPTURE(row.message);
    CHECK(blamed_in(row.message, row.details) == row.blamed);
  }
}

TEST_CASE("blame: every row of the tables blames what its example says") {
  for (const words::Noun& noun : words::kNounList) {
    CAPTURE(noun.low);
    CHECK(blamed_in(noun.example) == noun.blames);
  }
  for (const words::Complaint& complaint : words::kComplaintList) {
    CAPTURE(complaint.low);
    CHECK(blamed_in(complaint.example) == complaint.blames);
  }
}

TEST_CASE("blame: launchers, schedulers and operators name who failed") {
  check_blame({
      {"srun: error: cn-12: task 17: Segmentation fault (core dumped)", "host cn-12, rank 17"},
      {"slurmstepd: error: *** JOB 4711 ON cn-1 CANCELLED DUE TO NODE FAILURE, SEE SLURMCTLD LOG "
       "FOR DETAILS ***",
       ""},
      {"srun: error: Node failure on dgx-07", "host dgx-07"},
      {"srun: error: Node failure on frontier00123", "host frontier00123"},
      {"host error on r2i7n1, job is requeued", "host r2i7n1"},
      {"GPU node cn-4 is down", "host cn-4"},
      {"cordoned the GPU host trn-17", "host trn-17"},
      {"node failure: jz-gpu402.cluster", "host jz-gpu402.cluster"},
      {"Node failure on the third attempt", ""},
      {"srun: Job step aborted: Waiting up to 32 seconds for job step to finish.", ""},
      {"mpirun noticed that process rank 5 with PID 4711 on node hpc-node-3 exited on signal 9 "
       "(Killed).",
       "rank 5, host hpc-node-3"},
      {"ABORT!!! Out of all 4 trainers, the trainer process with rank=[2] was aborted. Please "
       "check "
       "its log.",
       "rank 2"},
      {"Pod bert-master-0 failed with exit code 1", "host bert-master-0"},
      {"Node ip-10-0-3-7.ec2.internal status is now: NodeNotReady", ""},
      {"pdsh@head: worker-1: ssh exited with exit code 255", "host worker-1"},
      {"Host <cn-17> is unreachable", "host cn-17"},
      {"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", "rank 3, host gpu-7",
       "=   RANK 3 PID 4711 RUNNING AT gpu-7\n=   KILLED BY SIGNAL: 9 (Killed)"},
      {"A worker died or was killed while executing a task. Worker ID: 0a1b Node ID: 9f Worker IP "
       "address: 10.0.0.7 Worker port: 10024 Worker PID: 311",
       "address 10.0.0.7"},
      {"Container failed", "host bert-worker-3", "\"pod\": \"bert-worker-3\""},
      {"The node with node id: 0fc14938add3345146c57e92449e77a584cace230879f50fd0813cc0 and ip: "
       "172.31.57.35 has been marked dead because the detector has missed too many heartbeats",
       "address 172.31.57.35"},
      {"ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
       "address 10.4.0.9", "class_name: Worker\npid: 771\nnamespace: x\nip: 10.4.0.9"},
  });
}

TEST_CASE("blame: kind 'a table of a launcher': its rules, however long, hide nobody") {
  const std::string rule(60, '='), line(60, '-');
  const std::string table = rule + "\ntrain.py FAILED\n" + line +
                            "\nFailures:\n<NO_OTHER_FAILURES>\n" + line +
                            "\nRoot Cause (first observed failure):\n[0]:\n"
                            "time      : 2026-11-20_15:54:21\nhost      : gpu-16.cluster\n"
                            "rank      : 2 (local_rank: 2)\nexitcode  : -9 (pid: 3617183)";
  check_blame(
      {{"ChildFailedError:", "host gpu-16.cluster, rank 2", table},
       {"job failed " + std::string(200, '*') + " rank 7 died", "rank 7"},
       {"failed:\n" + std::string(200, '#') + "\nrank: 11\n" + std::string(200, '#'), "rank 11"}});
}

TEST_CASE("blame: kind 'singled out': of several failures the heading says which came first") {
  const auto entry = [](int rank, const std::string& host) {
    return "[0]:\ntime : 2026-11-20_15:54:21\nhost : " + host + "\nrank : " + std::to_string(rank) +
           " (local_rank: 1)\nexitcode : 1 (pid: 36)\n";
  };
  std::string others;
  for (int rank = 40; rank < 47; ++rank) others += entry(rank, "n17.hpc");
  check_blame({
      {"ChildFailedError:", "host n18.hpc, rank 43",
       "Failures:\n" + others + "Root Cause (first observed failure):\n" + entry(43, "n18.hpc")},
      {"job failed:", "rank 5", "Other failures:\nrank: 1\nrank: 2\n  First failure:\n  rank: 5\n"},
      {"launch failed", "rank 9, host gpu-4",
       "rank: 3\nPrimary failure:\nrank: 9\nnode: gpu-4\nexit code: 137"},
      // words of a sentence are no heading
      {"rank 3 failed", "rank 3", "first error messages are often the root cause"},
  });
}

TEST_CASE("blame: kind 'a command that ended': its options tell which process it was") {
  const std::string many(1500, 'x');
  check_blame({
      {"subprocess.CalledProcessError: Command '['/opt/bin/python', '-u', 'train.py', "
       "'--local_rank=1', '--fp16']' died with <Signals.SIGKILL: 9>.",
       "device local rank 1"},
      {"subprocess.CalledProcessError: Command '['/opt/bin/python', 'run.py', '--local-rank', '6', "
       "'--data', '" +
           many + "']' returned non-zero exit status 1.",
       "device local rank 6"},
      {"[launch.py:325:sigkill_handler] ['/usr/bin/python3', '-u', 'sft.py', '--local_rank=3', "
       "'--deepspeed'] exits with return code = -9",
       "device local rank 3"},
      {"Command 'python main.py --rank 5 --name x' returned non-zero exit status 137.", "rank 5"},
      {"Command '['git', 'rev-parse', 'HEAD']' returned non-zero exit status 128.", ""},
      {"started ['python', 'train.py', '--local_rank=0']", ""},
  });
}

TEST_CASE("blame: peers name whom they wait for, not themselves") {
  check_blame({
      {"One or more tensors are waiting for remainder of ranks for more than 60 seconds.",
       "rank 2, rank 6", "Missing ranks:\n2: [grad_0, grad_1 ...]\n6: [grad_0]"},
      {"- [5] finished collective #50932, but didn't join collective #50933 (count from 1)",
       "rank 5"},
      {"[2, 7] joined barrier 3 but did not reach barrier 4", "rank 2, rank 7"},
      {"[12] these ranks have not entered all_reduce", "rank 12"},
      {"[0, 1, 2, 3, 4, 6, 7] started _reduce_scatter_base", ""},
      {"HorovodBroadcast_global_step_0 [missing ranks: 1]", "rank 1"},
      {"RuntimeError: Rank 1 successfully reached monitoredBarrier, but received errors while "
       "waiting for send/recv from rank 4.",
       "rank 4"},
      {"Rank 0 timed out waiting for rank 3 to join", "rank 3"},
      {"The client socket has timed out after 60s while trying to connect to (node-0, 29500).",
       "host node-0"},
      {"UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):", "rank 3",
       "/job:jax_worker/replica:0/task:3\nThe tasks have crashed."},
      {"connection to 10.1.2.3:29500 lost: no response from peer 10.1.2.3", "address 10.1.2.3"},
      {"Removing worker-7: no heartbeat from worker-7", "host worker-7"},
  });
}

TEST_CASE("blame: labels, ranges, lists of all, models and devices are nobody's blame") {
  check_blame({
      {"trainer[7]: ERROR RuntimeError: CUDA error: uncorrectable ECC error encountered", ""},
      {"host worker[4711]: task failed with exit code 1", ""},
      {"rank[3]: RuntimeError: a collective failed", ""},
      {"[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8)", ""},
      {"[PG 0 Rank 144] Heartbeat monitor timed out!", ""},
      {"[rank5]: RuntimeError: connection failed", ""},
      {"Rank 7: failed to open file", ""},
      {"srun: error: cn-1: tasks 0-7: Terminated", ""},
      {"missing ranks: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9", ""},
      {"tensor parallel rank 3 failed", ""},
      {"node_rank=3 failed", ""},
      {"DataLoader worker 2 exited unexpectedly", ""},
      {"DataLoader worker (pid 131) is killed by signal: Bus error.", ""},
      {"Training failed on resnet50 with cuda:3", ""},
      {"failed to load checkpoint-500 from llama-7b", ""},
      {"error on mlx5_2:1", ""},
      {"Memory access fault by GPU node-8 (Agent handle: 0x8b1e2f0) on address 0x7f10c0000000", ""},
      {"allocation on NUMA node-1 failed", ""},
      {"/job:ps/replica:0/task:5 failed", ""},
      {"worker.py:1228 failed", ""},
      {"connected to rank 3 and node17", ""},
      {"lost 5 packets, timeout 30 s", ""},
      {"rank 3 joined, 8 workers failed before", ""},
  });
}

TEST_CASE("blame: kind 'a row of a table': its first cell is who it is about") {
  check_blame({
      {"bert-mpi-worker-2         0/1     OOMKilled           0          28m",
       "host bert-mpi-worker-2"},
      {"llm-sft-3\t0/1\tError\t0\t5m", "host llm-sft-3"},
      {"a100-17   NotReady   <none>   12d   v1.29", "host a100-17"},
      {"bert-mpi-worker-2         1/1     Running             0          28m", ""},
      {"exit-17 error", ""},
  });
}

TEST_CASE("blame: kind 'a field of the line': a name behind = belongs to the complaint before it") {
  check_blame({
      {"Pod failed: OOMKilled (exit code 137) displayName=worker(2) pod=resnet-worker-1204",
       "host resnet-worker-1204"},
      {"task has failed attempt=2 node=cn-17", "host cn-17"},
      {"lease lost holder=x hostname=a100-3.cluster", "host a100-3.cluster"},
      {"pod=resnet-worker-1204 is ready", ""},
  });
}

TEST_CASE("blame: kind 'a spawned process': its number is the rank") {
  check_blame({
      {"torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 3 terminated with the "
       "following error:",
       "rank 3"},
      {"RuntimeError: port in use", "rank 0", "-- Process 0 terminated with the following error:"},
      {"-- Process 41 terminated with exit code 1", "rank 41"},
      {"-- Process 4711002 terminated with exit code 1", ""},
  });
}

}  // namespace
}  // namespace l4::parameters
