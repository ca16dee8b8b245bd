// Words by which a message names somebody, and words by which it says that this one is at fault.
//
// Tables of common/parameters/blame.cc, which has the grammar. Each row has an example and what it
// blames, as blame_test.cc spells it. Constants only, no state.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/parameters/by_first_letters.h"

namespace l4::parameters::words {

/// What the value behind a noun names.
enum class Named : std::uint8_t { nothing, rank, local_rank, node, rank_or_node };

struct Noun {
  std::string_view low;
  Named named = Named::nothing;
  std::string_view example, blames;
};

inline constexpr std::array kNounList{
    Noun{"rank", Named::rank, "rank 3 in job 1 caused collective abort of all ranks", "rank 3"},
    Noun{"ranks", Named::rank, "Missing ranks: 2, 7", "rank 2, rank 7"},
    Noun{"rankid", Named::rank, "no response from rankId[3]", "rank 3"},
    Noun{"rank_id", Named::rank, "heartbeat of rank_id=6 is lost", "rank 6"},
    Noun{"global_rank", Named::rank, "worker with global_rank=12 has died", "rank 12"},
    Noun{"world_rank", Named::rank, "lost worker (world_rank=4)", "rank 4"},
    Noun{"remote_rank", Named::rank, "timeout: remote_rank[3] sent nothing", "rank 3"},
    Noun{"remoterank", Named::rank, "waiting for remoteRank:3", "rank 3"},
    Noun{"peer_rank", Named::rank, "lost peer_rank=3", "rank 3"},
    Noun{"dst_rank", Named::rank, "socket timeout to dst_rank 3", "rank 3"},
    Noun{"task", Named::rank, "/job:jax_worker/replica:0/task:5 has been set to ERROR", "rank 5"},
    Noun{"tasks", Named::rank, "srun: error: gpu-7: tasks 3, 6: Killed",
         "host gpu-7, rank 3, rank 6"},
    Noun{"process_id", Named::rank, "process_id=9 stopped sending heartbeats", "rank 9"},
    Noun{"trainer", Named::rank, "trainer 2 exited with code 1", "rank 2"},
    Noun{"trainers", Named::rank, "failed trainers: [1, 3]", "rank 1, rank 3"},
    Noun{"peer", Named::rank_or_node, "Socket Timeout with peer 7", "rank 7"},
    Noun{"worker", Named::rank_or_node, "worker 3 died", "rank 3"},
    Noun{"workers", Named::rank_or_node, "lost workers: 2, 5", "rank 2, rank 5"},
    Noun{"local_rank", Named::local_rank, "failed (exitcode: -9) local_rank: 1 (pid: 4711)",
         "device local rank 1"},
    Noun{"localrank", Named::local_rank, "localRank=2 exited", "device local rank 2"},
    Noun{"node", Named::node, "node r2i7n1 is unreachable", "host r2i7n1"},
    Noun{"nodes", Named::node, "unhealthy nodes: cn-3, cn-9", "host cn-3, host cn-9"},
    Noun{"host", Named::node, "host trn-17 went down", "host trn-17"},
    Noun{"hosts", Named::node, "Blacklisting failing hosts: h-12", "host h-12"},
    Noun{"hostname", Named::node, "lost contact with hostname=a100-3.cluster",
         "host a100-3.cluster"},
    Noun{"nodename", Named::node, "NodeName=cn17 not responding", "host cn17"},
    Noun{"machine", Named::node, "machine m-0042 rebooted", "host m-0042"},
    Noun{"server", Named::node, "server s-8 is down", "host s-8"},
    Noun{"instance", Named::node, "instance i-0abc12 was terminated", "host i-0abc12"},
    Noun{"pod", Named::node, "pod train-worker-2 exited with code 137", "host train-worker-2"},
    Noun{"pods", Named::node, "failed pods: bert-worker-1", "host bert-worker-1"},
    Noun{"podname", Named::node, "podName=ml.bert-worker-1 failed", "host bert-worker-1"},
    Noun{"replica", Named::node, "Replica llm-worker-0 failed", "host llm-worker-0"},
    Noun{"agent", Named::node, "agent node-03 has died", "host node-03"},
    Noun{"ip", Named::node, "The node with ip: 10.0.0.12 has been marked dead",
         "address 10.0.0.12"},
    Noun{"node_ip", Named::node, "missing heartbeats of node_ip=10.0.0.9", "address 10.0.0.9"},
    Noun{"address", Named::node, "raylet at address: 10.0.0.9:6379 is dead", "address 10.0.0.9"},
    Noun{"remote", Named::node, "Connection closed by remote 10.0.0.4:29500", "address 10.0.0.4"},
};
inline constexpr ByFirstLetters kNouns(kNounList);

/// Where the named one stands.
enum class Side : std::uint8_t { before = 1, behind = 2, both = 3 };  ///< of the complaint

struct Complaint {
  std::string_view low;
  Side side = Side::both;
  std::string_view example, blames;
};

inline constexpr std::array kComplaintList{
    Complaint{"failed", Side::both, "Ranks 1, 5 failed to pass monitoredBarrier", "rank 1, rank 5"},
    Complaint{"failing", Side::both, "failing host: gpu-3", "host gpu-3"},
    Complaint{"failure", Side::both, "Node failure on node17", "host node17"},
    Complaint{"fault", Side::behind, "fault node: gpu-3", "host gpu-3"},
    Complaint{"faulty", Side::behind, "faulty ranks: 9", "rank 9"},
    Complaint{"abnormal", Side::both, "abnormal node: gpu-5", "host gpu-5"},
    Complaint{"died", Side::both, "Worker 2 died unexpectedly", "rank 2"},
    Complaint{"dead", Side::both, "dead node: gpu-3", "host gpu-3"},
    Complaint{"gone", Side::before, "task 6 is gone", "rank 6"},
    Complaint{"lost", Side::both, "Lost connection to rank 3", "rank 3"},
    Complaint{"missing", Side::both, "missing ranks: 2", "rank 2"},
    Complaint{"killed", Side::both, "task 4: Killed", "rank 4"},
    Complaint{"crashed", Side::both, "worker 7 has crashed", "rank 7"},
    Complaint{"hung", Side::both, "rank 7 is hung", "rank 7"},
    Complaint{"hangs", Side::before, "rank 7 hangs", "rank 7"},
    Complaint{"hanging", Side::both, "hanging ranks: 7", "rank 7"},
    Complaint{"stuck", Side::both, "rank 7 is stuck", "rank 7"},
    Complaint{"stalled", Side::both, "Stalled ranks: 0", "rank 0"},
    Complaint{"straggler", Side::both, "straggler detected: rank 11", "rank 11"},
    Complaint{"stragglers", Side::behind, "stragglers: ranks 4, 5", "rank 4, rank 5"},
    Complaint{"slowest", Side::behind, "slowest rank: 11", "rank 11"},
    Complaint{"unreachable", Side::both, "node cn-4 unreachable", "host cn-4"},
    Complaint{"unresponsive", Side::both, "unresponsive peer 10.0.0.4", "address 10.0.0.4"},
    Complaint{"unhealthy", Side::both, "Unhealthy node gpu-2", "host gpu-2"},
    Complaint{"unavailable", Side::both, "task 3 is unavailable", "rank 3"},
    Complaint{"disconnected", Side::both, "rank 3 disconnected", "rank 3"},
    Complaint{"timeout", Side::both, "Timeout from rank 2", "rank 2"},
    Complaint{"timed", Side::both, "timed out waiting for rank 3", "rank 3"},
    Complaint{"waiting", Side::behind, "rank 0 is still waiting for ranks 3 and 4",
              "rank 3, rank 4"},
    Complaint{"awaiting", Side::behind, "awaiting response from rank 3", "rank 3"},
    Complaint{"refused", Side::both, "Connection refused to rank 0", "rank 0"},
    Complaint{"reset", Side::both, "Connection reset by peer 10.0.0.4:36", "address 10.0.0.4"},
    Complaint{"closed", Side::both, "Connection closed by peer [10.77.0.12]:41234",
              "address 10.77.0.12"},
    Complaint{"down", Side::before, "Node cn-4 is down", "host cn-4"},
    Complaint{"rebooted", Side::before, "node cn-4 rebooted unexpectedly", "host cn-4"},
    Complaint{"evicted", Side::both, "Pod bert-worker-0 was evicted", "host bert-worker-0"},
    Complaint{"preempted", Side::both, "pod default/bert-worker-3 was preempted",
              "host bert-worker-3"},
    Complaint{"oomkilled", Side::both, "Pod bert-worker-4 OOMKilled", "host bert-worker-4"},
    Complaint{"oomkilling", Side::behind,
              "OOMKilling node/ip-10-0-3-14 Memory cgroup out of memory", "host ip-10-0-3-14"},
    Complaint{"systemoom", Side::behind, "SystemOOM node/cn-3 System OOM encountered", "host cn-3"},
    Complaint{"backoff", Side::behind, "BackOff pod/bert-worker-1 Back-off restarting container",
              "host bert-worker-1"},
    Complaint{"nodenotready", Side::behind, "NodeNotReady node/cn-4 status is now: NodeNotReady",
              "host cn-4"},
    Complaint{"tainteviction", Side::behind, "TaintEviction pod/bert-worker-2 Marking for deletion",
              "host bert-worker-2"},
    Complaint{"taintmanagereviction", Side::behind,
              "TaintManagerEviction pod/bert-worker-2 Marking for deletion", "host bert-worker-2"},
    Complaint{"notready", Side::before, "node cn-4 NotReady", "host cn-4"},
    Complaint{"terminated", Side::before, "rank 2 terminated by signal 11", "rank 2"},
    Complaint{"aborted", Side::before, "the trainer process with rank=[0] was aborted", "rank 0"},
    Complaint{"abort", Side::before, "rank 2 called abort", "rank 2"},
    Complaint{"mpi_abort", Side::behind, "MPI_ABORT was invoked on rank 3 in communicator",
              "rank 3"},
    Complaint{"blacklisted", Side::both, "Host cn-8 has been blacklisted", "host cn-8"},
    Complaint{"termination", Side::behind, "abnormal termination of rank 3", "rank 3"},
    Complaint{"caused", Side::before, "rank 3 in job 1  caused collective abort", "rank 3"},
    Complaint{"exited", Side::before, "process rank 3 with PID 0 on node cn-4 exited on signal 9",
              "rank 3, host cn-4"},
    Complaint{"exits", Side::before, "rank 3 exits with return code = -9", "rank 3"},
    Complaint{"exit", Side::before, "task 5 exit code 137", "rank 5"},
    Complaint{"segmentation", Side::before, "task 2: Segmentation fault", "rank 2"},
    Complaint{"memory", Side::before, "task 2: Out Of Memory", "rank 2"},
    Complaint{"out-of-memory", Side::before, "replica llm-worker-1 ran out-of-memory",
              "host llm-worker-1"},
    Complaint{"error", Side::before, "/task:3 has been set to ERROR", "rank 3"},
    Complaint{"blacklisting", Side::behind, "Blacklisting host cn-8", "host cn-8"},
    Complaint{"excluding", Side::behind, "excluding node cn-8", "host cn-8"},
    Complaint{"cordoned", Side::both, "node cn-8 cordoned", "host cn-8"},
    Complaint{"not", Side::before, "node cn-8 does not respond", "host cn-8"},
    Complaint{"no", Side::behind, "no heartbeat from rank 3 for 60 s", "rank 3"},
    Complaint{"didn", Side::before, "rank 3 didn't respond", "rank 3"},
    Complaint{"stopped", Side::before, "rank 3 stopped sending heartbeats", "rank 3"},
    Complaint{"tried", Side::before, "task:3 unexpectedly tried to connect anew", "rank 3"},
    Complaint{"managed", Side::before, "Rank 21 -- GPU 5 managed by process 4711", "rank 21"},
    Complaint{"missed", Side::both, "missed heartbeats from worker 3", "rank 3"},
    Complaint{"check", Side::behind, "Please check rank 0 logs", "rank 0"},
};
inline constexpr ByFirstLetters kComplaints(kComplaintList);

struct LinkWord {
  std::string_view low;
  bool directs = false;  ///< leads from one who complains to the one complained of
};

/// Words that may stand between a complaint and the one it is about.
inline constexpr std::array kLinkList{
    LinkWord{"to", true},   LinkWord{"for", true},  LinkWord{"with", true},
    LinkWord{"from", true}, LinkWord{"by", true},   LinkWord{"waiting", true},
    LinkWord{"on"},         LinkWord{"invoked"},    LinkWord{"ssh"},
    LinkWord{"get"},        LinkWord{"of"},         LinkWord{"at"},
    LinkWord{"in"},         LinkWord{"into"},       LinkWord{"the"},
    LinkWord{"an"},         LinkWord{"and"},        LinkWord{"has"},
    LinkWord{"have"},       LinkWord{"had"},        LinkWord{"is"},
    LinkWord{"are"},        LinkWord{"was"},        LinkWord{"were"},
    LinkWord{"been"},       LinkWord{"be"},         LinkWord{"does"},
    LinkWord{"did"},        LinkWord{"do"},         LinkWord{"went"},
    LinkWord{"set"},        LinkWord{"marked"},     LinkWord{"declared"},
    LinkWord{"found"},      LinkWord{"detected"},   LinkWord{"considered"},
    LinkWord{"reported"},   LinkWord{"as"},         LinkWord{"it"},
    LinkWord{"its"},        LinkWord{"still"},      LinkWord{"while"},
    LinkWord{"after"},      LinkWord{"trying"},     LinkWord{"out"},
    LinkWord{"already"},    LinkWord{"called"},     LinkWord{"unexpectedly"},
    LinkWord{"id"},         LinkWord{"job"},        LinkWord{"pid"},
    LinkWord{"process"},    LinkWord{"processes"},  LinkWord{"status"},
    LinkWord{"state"},      LinkWord{"code"},       LinkWord{"exitcode"},
    LinkWord{"heartbeat"},  LinkWord{"heartbeats"}, LinkWord{"response"},
    LinkWord{"reply"},      LinkWord{"message"},    LinkWord{"contact"},
    LinkWord{"connection"}, LinkWord{"connect"},    LinkWord{"connecting"},
    LinkWord{"reach"},      LinkWord{"recv"},       LinkWord{"receive"},
    LinkWord{"send"},       LinkWord{"data"},       LinkWord{"following"},
    LinkWord{"ms"},         LinkWord{"seconds"},    LinkWord{"sec"},
    LinkWord{"raylet"},     LinkWord{"actor"},      LinkWord{"gpu"},
    LinkWord{"container"},  LinkWord{"ran"},
};
inline constexpr ByFirstLetters kLinks(kLinkList);

/// Words in front of "rank" that make it another number than the place in the job.
inline constexpr std::array<std::string_view, 16> kOtherRanks{
    "parallel", "group",   "node",  "role", "tensor", "pipeline", "data", "model",
    "expert",   "context", "stage", "tp",   "pp",     "dp",       "ep",   "cp"};

/// Headings under which a launcher's table names the failure that it saw first, lower case.
inline constexpr std::array<std::string_view, 5> kSingledOut{
    "root cause", "first observed failure", "first failure", "first error", "primary failure"};

/// Beginnings of names that need no noun in front: "node17", "cn-4", "nid001234".
inline constexpr std::array<std::string_view, 10> kNodeFronts{
    "node", "dgx", "hgx", "compute", "host", "inst-", "worker-", "ip-", "gpu-", "nid0"};

}  // namespace l4::parameters::words
