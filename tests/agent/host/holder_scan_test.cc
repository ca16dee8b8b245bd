#include "agent/host/holder_scan.h"

#include <doctest/doctest.h>

#include "tests/agent/host/fake_proc.h"

namespace l4::host {
namespace {

using test::FakeProc;
using test::key_of;

std::vector<Holding> scan(const FakeProc& fake, std::vector<LogPlace> logs,
                          HolderScan::Limits limits = {}) {
  const Proc proc = fake.proc();
  HolderScan scan{proc, std::move(logs), Pid{1}, limits};
  int steps = 0;
  while (!scan.step(1) && steps < 1000) ++steps;
  return scan.holdings();
}

TEST_CASE("holder scan: writers count, readers and the agent do not") {
  FakeProc fake;
  const auto log = fake.file("rank0.log");
  const auto other = fake.file("other.log");
  for (const int pid : {1, 20, 21, 22, 23}) fake.set(pid, {.start_ticks = pid * 100});
  fake.open(1, 5, log, "0102");      // the agent itself
  fake.open(20, 1, log, "0102001");  // append
  fake.open(20, 2, log, "0102001");  // a process with two descriptors counts once
  fake.open(21, 3, log, "0100000");  // tail -f
  fake.open(22, 3, other, "0100001");
  fake.open(23, 0, log, "0100002");  // read and write
  const auto found = scan(fake, {{"rank0.log", key_of(log)}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].pid == Pid{20});
  CHECK(found[0].started == SinceBoot{20'000'000});
  CHECK(found[0].via == Via::direct);
  CHECK(found[1].pid == Pid{23});
}

TEST_CASE("holder scan: through a pipe to those whose output it is") {
  FakeProc fake;
  const auto log = fake.file("train.log");
  const auto first = fake.fifo("first"), second = fake.fifo("second"), own = fake.fifo("own");
  fake.set(30, {.command = "tee"});
  fake.open(30, 0, second, "00");
  fake.open(30, 3, log, "01");
  fake.set(31, {.command = "grep"});
  fake.open(31, 0, first, "00");
  fake.open(31, 1, second, "01");
  fake.set(32, {});
  fake.open(32, 1, first, "01");
  fake.open(32, 7, own, "02");
  fake.set(33, {});  // holds the pipe, but as no standard output or error
  fake.open(33, 9, first, "01");
  const auto found = scan(fake, {{"train.log", key_of(log)}});
  REQUIRE(found.size() == 3);
  CHECK(found[0].via == Via::direct);
  CHECK(found[1].pid == Pid{31});
  CHECK(found[1].via == Via::pipe);
  CHECK(found[2].pid == Pid{32});
}

TEST_CASE("holder scan: who writes its own log is not one of the launcher's that reads its pipe") {
  FakeProc fake;
  const auto log0 = fake.file("rank0.log"), log1 = fake.file("rank1.log");
  const auto pipe = fake.fifo("pipe");
  fake.set(10, {});  // torchrun keeps all files open
  fake.open(10, 5, log0, "01");
  fake.open(10, 6, log1, "01");
  fake.open(10, 7, pipe, "00");
  fake.set(11, {});
  fake.open(11, 1, log0, "01");
  fake.open(11, 2, pipe, "01");
  const auto found = scan(fake, {{"rank0.log", key_of(log0)}, {"rank1.log", key_of(log1)}});
  REQUIRE(found.size() == 3);
  CHECK(found[2].pid == Pid{11});
  CHECK(found[2].log == 0);
}

TEST_CASE("holder scan: a container by the id that path and control group share") {
  const std::string uid = "0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f";
  const std::string id(64, 'a');
  FakeProc fake;
  const auto pod = fake.file("pod.log"), docker = fake.file("docker.log");
  fake.set(40, {.cgroup = "0::/kubepods.slice/kubepods-burstable-pod"
                          "0a1b2c3d_0a1b_2c3d_4e5f_0a1b2c3d4e5f.slice/cri-containerd-" +
                          std::string(64, 'b') + ".scope\n"});
  fake.set(41, {.cgroup = "12:memory:/docker/" + id + "\n0::/\n"});
  fake.set(42, {});
  const auto found = scan(fake, {{"pods/ml_llama-worker-3_" + uid + "/pytorch/0.log", key_of(pod)},
                                 {"containers/" + id + "/" + id + "-json.log", key_of(docker)}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].pid == Pid{40});
  CHECK(found[0].log == 0);
  CHECK(found[0].via == Via::container);
  CHECK(found[1].pid == Pid{41});
  CHECK(found[1].log == 1);
}

TEST_CASE("holder scan: ids in paths") {
  const std::string id(64, 'c'), uid = "abcdefab-0a1b-2c3d-4e5f-0a1b2c3d4e5f";
  CHECK(container_ids("/var/log/containers/x_ml_pytorch-" + id + ".log") == std::vector{id});
  CHECK(container_ids("/var/log/pods/ml_x_" + uid + "/c/0.log") == std::vector{uid});
  CHECK(container_ids("/kubepods/besteffort/pod" + uid + "/" + id) == std::vector{uid, id});
  CHECK(container_ids("/logs/" + id + "f/x").empty());
  CHECK(container_ids("/logs/node-00/rank3.log").empty());
  CHECK(container_ids("").empty());
}

TEST_CASE("holder scan: bounds are kept and counted") {
  FakeProc fake;
  const auto log = fake.file("log");
  for (int pid = 100; pid < 120; ++pid) {
    fake.set(pid, {});
    fake.open(pid, 1, log, "01");
    fake.open(pid, 2, fake.fifo("p" + std::to_string(pid)), "01");
  }
  const Proc proc = fake.proc();
  HolderScan scan{proc, {{"log", key_of(log)}}, Pid{1}, {.pipes = 5, .holdings = 7}};
  int steps = 1;
  while (!scan.step(6)) ++steps;
  CHECK(steps > 5);  // in pieces
  CHECK(scan.holdings().size() == 7);
  CHECK(scan.stats().holdings_cut == 13);
  CHECK(scan.stats().pipes_cut == 15);
  CHECK(scan.stats().descriptors == 40);
}

TEST_CASE("holder scan: processes that leave meanwhile are nothing") {
  FakeProc fake;
  const auto log = fake.file("log");
  fake.set(50, {});
  fake.set(51, {});
  fake.open(51, 1, log, "01");
  const Proc proc = fake.proc();
  HolderScan scan{proc, {{"log", key_of(log)}}, Pid{1}, {}};
  CHECK_FALSE(scan.step(1));
  fake.remove(51);
  while (!scan.step(1)) {
  }
  CHECK(scan.holdings().empty());
}

}  // namespace
}  // namespace l4::host
