#include "common/drain/mask.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <utility>

namespace l4::drain {
namespace {

std::string masked(std::string_view message) {
  return text(masked_row(message, default_codes()));
}

TEST_CASE("values are masked, words stay") {
  struct {
    const char* message;
    const char* text;
  } const rows[] = {
      {"", ""},
      {"   ", ""},
      {"plain words only", "plain words only"},
      {"took 12 steps", "took <*> steps"},
      {"took 12 34 56 steps", "took <*> steps"},
      {"loss 1.527233E-04 now", "loss <*> now"},
      {"loss -0.5 now", "loss <*> now"},
      {"iteration   170639/  250000 | done", "iteration <*> | done"},
      {"at 0x7f3a00 end", "at <*> end"},
      {"commit 9f8e7d6c5b end", "commit <*> end"},
      {"mask=ffffffff end", "mask=<*> end"},
      {"from 10.0.0.1:8080 to", "from <*> to"},
      {"from /10.0.0.1:8080 to", "from <*> to"},
      {"addr fe80::1a2b:3c4d up", "addr <*> up"},
      {"mac 00:1a:2b:cc:dd:ee up", "mac <*> up"},
      {"id 70c1714b-c11b-4c88-b300-239afe1f5ff8 ok", "id <*> ok"},
      {"open /etc/hosts failed", "open <*> failed"},
      {"open '/a/b.py', line 3", "open <*> line <*>"},
      {"get http://host:80/a?b=c&d=e done", "get <*> done"},
      {"hive C:\\Windows\\x loaded", "hive <*> loaded"},
      {"NET/IB/3/GDRDMA", "NET/IB/<*>/GDRDMA"},
      {"took 15ms here", "took <*> here"},
      {"took 15 ms here", "took <*> here"},
      {"sent 12 bytes (1.2 KB) now", "sent <*> bytes now"},
      {"sent 12 bytes now", "sent <*> bytes now"},
      {"used 93% of it", "used <*> of it"},
      {"at 2026-05-01 12:34:56,789 here", "at <*> here"},
      {"at Thu Aug  4 15:29:45 PDT 2005 here", "at <*> here"},
      {"it may fail May be", "it may fail May be"},
      {"rank5 and node003 and eth0", "rank<*> and node<*> and eth<*>"},
      {"blk_-2490578334700260735 x", "blk_<*> x"},
      {"attempt_1445_0020_m_01 x", "attempt_<*>_m_<*> x"},
      {"uid=0 user=root", "uid=<*> user=root"},
      {"list [1, 2, 3] end", "list <*> end"},
      {"list [1, 2, 3, 4, 5] end", "list <*> end"},
      {"text with <*> inside", "text with <*> inside"},
      {"token \x01 inside", "token <*> inside"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.message);
    CHECK(masked(row.message) == row.text);
  }
}

TEST_CASE("codes stay") {
  struct {
    const char* message;
    const char* kept;
  } const rows[] = {
      {"NVRM: Xid (PCI:0000:65:02.0): 79, pid=1234, GPU has fallen off the bus", "79"},
      {"NVRM: Xid (PCI:0000:65:02): 79, pid='<unknown>'", "79"},
      {"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal", "12028"},
      {"  exitcode  : -9  (pid: 4711)", "-9"},
      {"failed (exitcode: 1) local_rank: 3", "1"},
      {"exited with exit code 137 after 5 s", "137"},
      {"Process exited with code 1", "1"},
      {"Process 99 exits with return code = -6", "-6"},
      {"OSError: [Errno 28] No space left on device: 12", "28"},
      {"connect failed, errno=110 (try 3)", "errno=110"},
      {"Signal 9 (SIGKILL) received by PID 4711", "9"},
      {"killed by signal: 11 at 0x00", "11"},
      {"request failed with status code 503 after 3 tries", "503"},
      {"\"GET /x HTTP/1.1\" 404 12", "404"},
      {"HTTPError: 503 Server Error: Service Unavailable", "503"},
      {"JobId=99 ExitCode=0:9 Name=train", "ExitCode=0:9"},
      {"EI0006: Getting socket times out 120", "EI0006"},
      {"[EE9999] inner error 77", "EE9999"},
      {"E39999: Inner Error! 12", "E39999"},
      {"Ascend Error Message:EL0004: Failed to allocate memory", ":EL0004:"},
      {"[W40010] Value 1 is invalid", "W40010"},
      {"(PID:4711, Device:3, RankID:5) ERR02005 DIST internal error", "ERR02005"},
      {"rtStreamSynchronize:ErrCode=507011, desc=[x], InnerCode=0x7150050", "ErrCode=507011,"},
      {"NPU function error: synchronize, error code is 107002 [ERROR]", "107002"},
      {"Malloc failed, size[2147483648], ret[207001], Device 6", "ret[207001]"},
      {"[drv_dms] Event id=0x80e01801, event state=1", "id=0x80e01801,"},
      {"ECC, device_id=3, event_id=0x80e01801, time us=67672363666.", "event_id=0x80e01801,"},
      {"event_id:  [0x80e01801] seen", "[0x80e01801]"},
      {"{\"FaultCode\":\"81078603\",\"FaultLevel\":1}", "81078603"},
      {"1 | 2026-03-01 04:12:33 | Major | 0x0000001D | Asserted | CPU 1", "0x0000001D"},
      {"AssembledFaultCode:\"[0x00f1ff09,155912,npu,na]\"", "[0x00f1ff09,"},
      {"[Recv][RaSocket]errNo[0x0000000005000013] Wait timeout", "0x0000000005000013"},
      {"HCCL function error: broadcast, error code is 9", "is 9"},
      {"cqe error status[12] from 10.0.0.1", "status[12]"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.message);
    CAPTURE(masked(row.message));
    CHECK(masked(row.message).find(row.kept) != std::string::npos);
  }
  for (const auto& [message, text] : {
           std::pair{"pid=79 code 123456789 xid79", "pid=<*> code <*> xid<*>"},
           {"ret=15 ret[-1] ret=600123 end", "ret=<*> ret[<*>] ret=<*> end"},
           {"error code 12345678 at 0x80e01801 end", "error code <*> at <*> end"},
           {"event id=0x7fe01801 errno[0x0000000015000013] end", "event id=<*> errno[<*>] end"},
           {"| 0x1f00001d | 0x1D |", "| <*> | <*> |"},
           {"EN10001 EI00061 EI006 ERR1", "EN<*> EI<*> EI<*> ERR<*>"},
       }) {
    CHECK(masked(message) == text);
  }
}

TEST_CASE("the skeleton is the hash of the row, for any bytes and any length") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::string alphabet = "aZ09  .,:/-_=()[]<>%\"'\\x\x01\xff\te*";
  for (int i = 0; i < 3'000; ++i) {
    std::string message(random() % (i % 100 == 0 ? 16'384 : 80), ' ');
    for (char& c : message) c = alphabet[random() % alphabet.size()];
    const Row row = masked_row(message, default_codes());
    CHECK(masked_skeleton(message, default_codes()) == Skeleton(hash(row)));
    CHECK(text(row).size() <= kTextMax);
    CHECK(hash(row_of_text(text(row))) == hash(row));
  }
}

TEST_CASE("different values have one skeleton, different codes do not") {
  const auto skeleton = [](std::string_view message) {
    return masked_skeleton(message, default_codes());
  };
  CHECK(skeleton("step 7 took 1.5 s") == skeleton("step 123 took 0.25 s"));
  CHECK(skeleton("exit code 1") != skeleton("exit code 9"));
  CHECK(skeleton("a b") != skeleton("b a"));
  CHECK(skeleton("") != Skeleton(0));
}

}  // namespace
}  // namespace l4::drain
