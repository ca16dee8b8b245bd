// One row per form of line: exactly these values, in this order.
#include "common/parameters/parameters.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/wire/limits.h"

namespace l4::parameters {
namespace {

using wire::kParameterBytesMax;
using wire::Parameter;

struct Row {
  const char* message;
  std::vector<const char*> values;  ///< "kind=value"
};

std::string spell(const Parameter& parameter) {
  static const std::vector<std::string> kinds{"rank",  "host",   "address",   "device", "code",
                                              "errno", "signal", "exit_code", "path",   "ms"};
  return kinds[static_cast<std::size_t>(parameter.kind)] + "=" + parameter.value;
}

const std::vector<Row> kRows{
    // Ranks.
    {"rank      : 4 (local_rank: 0)", {"rank=4"}},
    {"[rank5]: RuntimeError", {"rank=5"}},
    {"Rank 131: connection lost", {"rank=131"}},
    {"Process rank: 3, step 12", {"rank=3"}},
    {"Ranks 1, 2, 5 failed to pass monitoredBarrier in 30000 ms",
     {"rank=1", "rank=2", "rank=5", "ms=30000"}},
    {"local_rank: 0 localRank 1 node_rank=2", {}},
    {"number of parameters on (tensor, pipeline) model parallel rank (0, 0): 42880", {}},
    {"remote rank:[0]", {"rank=0"}},
    // Hosts and addresses.
    {"host      : node-02", {"host=node-02"}},
    {"attempt to connect to an IPv6 address of (node-00, 29400).", {"host=node-00"}},
    {"srun: error: dgx1: task 5: Exited with exit code 137",
     {"host=dgx1", "exit_code=137", "rank=5"}},
    {"slurmstepd: error: *** STEP 1.0 ON r2i7n1 CANCELLED", {"host=r2i7n1"}},
    {"The node 'node-00_28338_0' has failed", {"host=node-00"}},
    {"[big-hpc-node-31:4711] OPAL ERROR", {"host=big-hpc-node-31"}},
    {"Connection closed by peer [10.77.0.12]:41234", {"address=10.77.0.12"}},
    {"connected to [::ffff:10.77.0.10]:29400 on [::ffff:10.77.0.11]:33190",
     {"address=10.77.0.10", "address=10.77.0.11"}},
    {"peer 10.9.1.8<40117> with error 12, opcode 0", {"address=10.9.1.8", "code=error 12"}},
    {"remote=[fdff:ffff::12]:41234): Broken pipe", {"address=fdff:ffff::12"}},
    {"listen on [::]:29400 or 0.0.0.0:29400", {}},
    {"terminate called after throwing an instance of 'c10::Error'", {}},
    {"NCCL version 2.27.5 at 15:53:30", {}},
    // Devices.
    {"NVRM: Xid (PCI:0000:65:00): 79, pid=1234, GPU has fallen off the bus.",
     {"device=PCI:0000:65:00", "code=Xid 79"}},
    {"nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32",
     {"device=PCI:0000:c1:00.0", "code=SXid 12028"}},
    {"pcieport 0000:65:02.0: AER: Multiple Corrected error", {"device=PCI:0000:65:02.0"}},
    {"device handle for GPU0000:4B:00.0: Unknown Error", {"device=PCI:0000:4B:00.0"}},
    {"NET/IB : mlx5_2:1 Got async event : port error", {"device=mlx5_2:1"}},
    {"Expected all tensors on cuda:3 or cuda:0!", {"device=cuda:3", "device=cuda:0"}},
    {"GPU 3 has a total capacity of 79.15 GiB", {"device=GPU 3"}},
    {"Malloc failed, Device 3 may be occupied", {"device=device 3"}},
    {"device_id=0, stream_id=14", {"device=device 0"}},
    {"blk_update_request: I/O error, dev nvme0n1, sector 10", {"device=nvme0n1"}},
    {"bonding: link status definitely down for interface eth0", {"device=eth0"}},
    // Codes, errno, signals, exit codes.
    {"EI0002: The wait execution of the Notify register times out", {"code=EI0002"}},
    {"EE9999: Inner Error! ERR02005 DIST internal error", {"code=EE9999", "code=ERR02005"}},
    {"E39999: Inner Error!", {"code=E39999"}},
    {"W40010: Value [x] for environment variable", {"code=W40010"}},
    {"ReportException:ErrCode=507011, desc=[x], InnerCode=0x7150050", {"code=ACL 507011"}},
    {"NPU function error: x, error code is 107002 [ERROR]", {"code=ACL 107002"}},
    {"Malloc failed, size[1], ret[207001]", {"code=ACL 207001"}},
    {"HCCL function error: broadcast, error code is 9", {"code=error 9"}},
    {"[Wait][Client]errNo[0x0000000005000013] timeout", {"code=HCCL 19"}},
    {"hcom errNo[0x0000000005010009] x", {"code=HCCL 9"}},
    {"[drv_dms] Event id=0x80e01801, event state=1", {"code=NPU 0x80E01801"}},
    {"event_id:  [0x8c1fa006] x", {"code=NPU 0x8C1FA006"}},
    {"\"FaultCode\":\"81078603\",\"x\":1", {"code=NPU 0x81078603"}},
    {"2026-03-01 04:12:33 | Major | 0x2C000031 | Asserted", {"code=BMC 0x2C000031"}},
    {"error code 0000001D asserted", {"code=BMC 0x0000001D"}},
    {"lcne alarmID=0x00f1ff09 port", {"code=switch 0x00F1FF09"}},
    {"cqe error status[12]", {"code=CQE 12"}},
    {"HDC recv msg err ret(25)", {"code=HDC 25"}},
    {"ret[15] ret=0x91 result 12 error code 7 event id 3 errNo[0x12]", {}},
    {"reset=507011 at 0x80e01801 | 80e01801", {}},
    {"\"GET /data HTTP/1.1\" 503 0", {"path=/data", "code=HTTP 503"}},
    {"HTTP 429 Too Many Requests", {"code=HTTP 429"}},
    {"failed with status code 500", {"code=HTTP 500"}},
    {"OSError: [Errno 28] No space left on device: '/mnt/ckpt/iter_50'",
     {"errno=28", "path=/mnt/ckpt/iter_50"}},
    {"failed to bind to [::]:29500 (errno: 98 - Address already in use)", {"errno=98"}},
    {"Read-only file system (os error 30)", {"errno=30"}},
    {"traceback : Signal 9 (SIGKILL) received by PID 123", {"signal=SIGKILL"}},
    {"Process 12 got signal: 15", {"signal=SIGTERM"}},
    {"failed (exitcode: -9) local_rank: 0 (pid: 28) of binary: /usr/bin/python3",
     {"exit_code=-9", "path=/usr/bin/python3", "device=local rank 0"}},
    {"exitcode  : 1 (pid: 4711)", {"exit_code=1"}},
    {"Process 4711 exits with return code = -6", {"exit_code=-6"}},
    {"returned non-zero exit status 1.", {"exit_code=1"}},
    {"container exited with code 137", {"exit_code=137"}},
    {"User process 'python' exited with status code 1.", {"exit_code=1"}},
    // Paths and durations.
    {"[./gloo/transport/tcp/pair.cc:598] Connection reset", {}},
    {"see https://pytorch.org/docs/stable/elastic/errors.html", {}},
    {"tee: /home/a/logs/run-1.log: No space left", {"path=/home/a/logs/run-1.log"}},
    {"Timed out waiting 40000ms for send operation to complete", {"ms=40000"}},
    {"Timeout(ms)=1800000) ran for 1800099 milliseconds before", {"ms=1800000", "ms=1800099"}},
    {"timed out after 30 seconds", {"ms=30000"}},
    {"timeout of 1.5s while 3 shards", {"ms=1500"}},
    {"", {}},
    {"<*> rank <*> exitcode: <*>", {}},
};

TEST_CASE("typed values of a message") {
  std::vector<Parameter> found;
  for (const auto& row : kRows) {
    extract(row.message, found);
    std::string spelled, expected;
    for (const auto& parameter : found) spelled += spell(parameter) + "; ";
    for (const char* value : row.values) expected += std::string(value) + "; ";
    CHECK_MESSAGE(spelled == expected, std::string(row.message), " -> ", spelled);
  }
}

TEST_CASE("bounds: sixteen distinct values of 128 bytes") {
  std::vector<Parameter> found;
  std::string many, same;
  for (int i = 0; i < 40; ++i) {
    many += "rank " + std::to_string(i) + " lost; ";
    same += "rank 7 lost; ";
  }
  extract(many, found);
  CHECK(found.size() == kParametersMax);
  extract(same, found);
  CHECK(found.size() == 1);
  extract("file /" + std::string(500, 'a'), found);
  REQUIRE(found.size() == 1);
  CHECK(found[0].value.size() == kParameterBytesMax);
}

TEST_CASE("no prefix of any message breaks the scanner") {
  std::vector<Parameter> found;
  for (const auto& row : kRows) {
    const std::string message = row.message;
    for (std::size_t size = 0; size <= message.size(); ++size)
      extract(std::string_view(message).substr(0, size), found);
  }
  CHECK(found.size() <= kParametersMax);
}

}  // namespace
}  // namespace l4::parameters
