#include "agent/decode/fold.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/agent/decode/decode_text.h"

namespace l4::decode {
namespace {

using test::decode_text;

const std::string kTraceback =
    "Traceback (most recent call last):\n"
    "  File \"a.py\", line 3, in main\n"
    "    run(1)\n"
    "    ~~~^^^\n"
    "  [Previous line repeated 3 more times]\n"
    "ValueError: bad value\n";

std::string with_prefix(const std::string& prefix, const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    out += prefix + text.substr(at, end - at + 1);
    at = end + 1;
  }
  return out;
}

struct FoldRow {
  const char* what;
  std::string input;
  std::vector<std::string> texts;  // texts of the records, in order of emission
};

const FoldRow kFoldRows[] = {
    {"traceback",
     "before\n" + kTraceback + "after\n",
     {"before", "ValueError: bad value", "after"}},
    {"interleaved without prefix",
     "Traceback (most recent call last):\nTraceback (most recent call last):\n"
     "  File \"a\", line 1, in f\n  File \"a\", line 1, in f\nKeyError: 1\nOSError: 2\nnext\n",
     {"KeyError: 1", "OSError: 2", "next"}},
    {"with values, as loguru prints it",
     "Traceback (most recent call last):\n\n  File \"a.py\", line 3, in <module>\n    run(1)\n"
     "    │   └ <Run of 8>\n\n> File \"b.py\", line 9, in run\n    unpack(raw)\n"
     "    │      └ b'00'\n    └ <function unpack>\n\nmsgpack.ExtraData: received extra "
     "data\nnext\n",
     {"msgpack.ExtraData: received extra data", "next"}},
    {"empty lines among frames",
     "Traceback (most recent call last):\n\n  File \"a.py\", line 3, in f\n\n    g()\n\n"
     "store.Broken: no answer\nnext\n",
     {"store.Broken: no answer", "next"}},
    {"chained",
     kTraceback + "\nDuring handling of the above exception, another exception occurred:\n\n" +
         "Traceback (most recent call last):\n  File \"b.py\", line 1, in f\nKeyError: 'x'\n" +
         "\nThe above exception was the direct cause of the following exception:\n\n" +
         "Traceback (most recent call last):\n  File \"c.py\", line 1, in f\nos.MyFailure: y\nz\n",
     {"ValueError: bad value", "KeyError: 'x'", "os.MyFailure: y", "z"}},
    {"a chain that is cut off",
     kTraceback + "\nDuring handling of the above exception, another exception occurred:\n\n" +
         "Traceback (most recent call last):\n  File \"b.py\", line 1, in f\n",
     {"ValueError: bad value",
      "During handling of the above exception, another exception occurred:"}},
    {"an exception that Python drops",
     "Exception ignored in: <function Viewer.__del__ at 0x7ff7>\n" + kTraceback + "after\n",
     {"Exception ignored in: <function Viewer.__del__ at 0x7ff7>", "after"}},
    {"one that it drops without a stack, and one that it does not",
     "Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w'>\n"
     "BrokenPipeError: [Errno 32] Broken pipe\n" +
         kTraceback,
     {"Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w'>",
      "ValueError: bad value"}},
    {"one that it drops, whose text another writer's line replaced",
     "Exception ignored in: <function Context.__del__ at 0x7ff7>\nTraceback (most recent call "
     "last):\n  File \"a.py\", line 3, in __del__\nlib._errors.LibError: 12:00 [INFO] no file\n"
     "LibError(\n\terr = NOT_READY,\n\tresult = 0\n)\nnext\n",
     {"Exception ignored in: <function Context.__del__ at 0x7ff7>", ")", "next"}},
    {"one that it drops in a callback, twice",
     "Exception ignored on calling ctypes callback function: <function f at 0x1>\n" + kTraceback +
         "Exception ignored in atexit callback: <function g at 0x1>\n" + kTraceback + "x\n",
     {"Exception ignored on calling ctypes callback function: <function f at 0x1>",
      "Exception ignored in atexit callback: <function g at 0x1>", "x"}},
    {"a message that begins on the next line",
     "Traceback (most recent call last):\n  File \"a\", line 1, in f\n"
     "RuntimeError: INTERNAL: From /job:c/task:0:\n2 root error(s) found.\n"
     "  (0) INTERNAL: load failed\nnext\n",
     {"RuntimeError: INTERNAL: From /job:c/task:0:", "next"}},
    {"two in a row", kTraceback + kTraceback, {"ValueError: bad value", "ValueError: bad value"}},
    {"exception without text",
     "Traceback (most recent call last):\n  File \"a\", line 1, in f\n_queue.Empty\nnext\n",
     {"_queue.Empty", "next"}},
    {"kind: an exception without a message",
     "Traceback (most recent call last):\n  File \"a\", line 1, in f\nEarlyStop\nnext\n",
     {"EarlyStop", "next"}},
    {"assertion without text",
     "Traceback (most recent call last):\n  File \"a\", line 1, in f\n    check(a, b)\n"
     "  File \"b\", line 2, in check\n    assert a % b == 0\n           ^^^^^^^^^^\n"
     "AssertionError\nnext\n",
     {"AssertionError: assert a % b == 0", "next"}},
    {"indentation lost",
     "Traceback (most recent call last):\nFile \"a.py\", line 1, in f\nrun()\n"
     "RuntimeError: x\nhealthy\n",
     {"RuntimeError: x", "healthy"}},
    {"healthy lines in between are not swallowed",
     "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nstep 10 loss 1.0\n"
     "    run()\nRuntimeError: x\nstep 11 loss 1.0\n",
     {"step 10 loss 1.0", "RuntimeError: x", "step 11 loss 1.0"}},
    {"standing notes of CUDA",
     kTraceback + "CUDA kernel errors might be asynchronously reported at some other API call\n"
                  "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
                  "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n\nnext\n",
     {"ValueError: bad value", "next"}},
    {"message that goes on after a colon",
     "Traceback (most recent call last):\n  File \"a\", line 1, in f\n"
     "torch.distributed.DistBackendError: NCCL error\nncclSystemError: System call failed.\n"
     "Last error:\nsocketPollConnect failed\nnext\n",
     {"torch.distributed.DistBackendError: NCCL error", "next"}},
    {"exception group",
     "  + Exception Group Traceback (most recent call last):\n"
     "  |   File \"a.py\", line 1, in f\n  | ExceptionGroup: two (2 sub-exceptions)\n"
     "  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n"
     "    | ValueError: one\n    +------------------------------------\nnext\n",
     {"ExceptionGroup: two (2 sub-exceptions) | ValueError: one", "next"}},
    {"elastic table",
     "Traceback (most recent call last):\n  File \"/usr/bin/torchrun\", line 8, in <module>\n"
     "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
     "============================================================\ntrain.py FAILED\n"
     "------------------------------------------------------------\nFailures:\n[1]:\n"
     "  time      : 2026-11-20_15:54:42\n  rank      : 3 (local_rank: 1)\n"
     "------------------------------------------------------------\n"
     "Root Cause (first observed failure):\n[0]:\n  exitcode  : -9 (pid: 7)\n"
     "============================================================\nnext\n",
     {"torch.distributed.elastic.multiprocessing.errors.ChildFailedError:", "next"}},
    {"terminate and what",
     "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: x\n"
     "Exception raised from query at a.h:95 (most recent call first):\n"
     "frame #0: c10::Error::Error() + 0x42 (0x15 in libc10.so)\nframe #1: clone + 0x43 (0x1 in c)\n"
     "\nnext\n",
     {"next",
      "terminate called after throwing an instance of 'c10::Error' what():  CUDA error: x"}},
    {"stack of a prefixed line that has no prefix itself",
     "[rank1]:[E1120 12:17:48.761 P.cpp:1917] watchdog thread terminated: x\n"
     "Exception raised from checkTimeout at P.cpp:636 (most recent call first):\n"
     "frame #0: f() + 0x98 (0x0 in a.so)\nnext\n",
     {"next", "[P.cpp:1917] watchdog thread terminated: x"}},
    {"fault handler",
     "Fatal Python error: Segmentation fault\n\nThread 0x00007f (most recent call first):\n"
     "  File \"a.py\", line 3 in f\n  File \"a.py\", line 9 in <module>\n\n"
     "Extension modules: numpy (total: 1)\n",
     {"Fatal Python error: Segmentation fault"}},
    {"glog's signal handler",
     "*** SIGSEGV (@0x0) received by PID 7 (TID 0x7f) from PID 0; stack trace: ***\n"
     "    @     0x7f01 (unknown)\n    @     0x7f02 f()\n",
     {"*** SIGSEGV (@0x0) received by PID 7 (TID 0x7f) from PID 0; stack trace: ***"}},
    {"Open MPI's signal block",
     "[gpu-3:4711] *** Process received signal ***\n[gpu-3:4711] Signal: Segmentation fault (11)\n"
     "[gpu-3:4711] Signal code: Address not mapped (1)\n[gpu-3:4711] [ 0] /lib/libc.so.6(+0x4e)\n"
     "[gpu-3:4711] *** End of error message ***\n",
     {"Signal: Segmentation fault (11)"}},
    {"warning with its source line",
     "/a/b.py:3: FutureWarning: old\n  warnings.warn(\nnext\n",
     {"/a/b.py:3: FutureWarning: old", "next"}},
    {"argparse",
     "usage: train.py [-h] [--x X]\n                [--y Y]\n"
     "train.py: error: unrecognized arguments: --z\nnext\n",
     {"train.py: error: unrecognized arguments: --z", "next"}},
    {"rows below a line that tells of ranks, tasks or nodes",
     "Missing ranks:\n3: [a, b]\n5: [a]\nnext\nFailed hosts:\n- gpu-3\nnext\n"
     "unhealthy tasks:\n/job:w/replica:0/task:3\nnext\n",
     {"Missing ranks:", "next", "Failed hosts:", "next", "unhealthy tasks:", "next"}},
    {"other lines with a colon",
     "Configuration:\n- lr 3\nranks: 16\n1: first\nnodes:\nstep 1\n",
     {"Configuration:", "- lr 3", "ranks: 16", "1: first", "nodes:", "step 1"}},
    {"argument lists are no continuation",
     "-------- arguments --------\n  batch ... 4\n  clip .... 1.0\n iteration 1 | loss 2\n",
     {"-------- arguments --------", "batch ... 4", "clip .... 1.0", "iteration 1 | loss 2"}},
};

TEST_CASE("fold: one row per kind") {
  for (const FoldRow& row : kFoldRows) {
    CAPTURE(std::string{row.what});
    const auto decoded = decode_text(row.input, {.year_hint = parse_time("2026-12-01")});
    std::vector<std::string> texts;
    for (const auto& record : decoded.records) texts.push_back(record.text);
    CHECK(texts == row.texts);
  }
}

TEST_CASE("fold: levels, lines and bytes of a folded record") {
  const auto decoded = decode_text("before\n" + kTraceback + "after\n");
  REQUIRE(decoded.records.size() == 3);
  const auto& fold = decoded.records[1];
  CHECK(fold.folded);
  CHECK(fold.level == Level::error);
  CHECK(fold.lines == std::vector<std::uint64_t>{2, 3, 4, 5, 6, 7});
  CHECK(fold.bytes == wire::ByteRange{7, 7 + kTraceback.size()});
}

TEST_CASE("fold: interleaved tracebacks of many ranks come apart") {
  constexpr int kRanks = 64;
  std::vector<std::string> lines[kRanks];
  std::string text;
  const std::string traceback = kTraceback;
  std::size_t at = 0;
  while (at < traceback.size()) {
    const std::size_t end = traceback.find('\n', at);
    for (int rank = 0; rank < kRanks; ++rank)
      text += "[rank" + std::to_string(rank) + "]: " + traceback.substr(at, end - at + 1);
    text += "healthy line without prefix\n";
    at = end + 1;
  }
  const auto decoded = decode_text(text);
  int folds = 0;
  for (const auto& record : decoded.records) {
    if (record.text == "healthy line without prefix") continue;
    ++folds;
    CHECK(record.text == "ValueError: bad value");
    CHECK(record.lines.size() == 6);
    CHECK(record.lines.front() == static_cast<std::uint64_t>(*record.rank) + 1);
  }
  CHECK(folds == kRanks);
  CHECK(decoded.records.size() == kRanks + 6);
}

TEST_CASE("fold: a message behind torch's prefix is kept together until a new start") {
  const auto decoded =
      decode_text(with_prefix("[rank3]: ", kTraceback + "free text of the message\nmore of it\n") +
                  "[rank3]:[W1120 12:00:00.1 P.cpp:1] Warning: next\n");
  REQUIRE(decoded.records.size() == 2);
  CHECK(decoded.records[0].lines.size() == 8);
  CHECK(decoded.records[1].level == Level::warning);
}

TEST_CASE("fold: the limit of lines ends a fold") {
  std::string text = "Traceback (most recent call last):\n";
  for (int i = 0; i < 100; ++i) text += "  File \"a.py\", line 1, in f\n";
  const auto decoded = decode_text(text, {.fold_lines_max = 30});
  std::size_t lines = 0;
  for (const auto& record : decoded.records) {
    CHECK(record.lines.size() <= 30);
    lines += record.lines.size();
  }
  CHECK(lines == 101);
}

}  // namespace
}  // namespace l4::decode
