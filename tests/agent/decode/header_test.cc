#include "agent/decode/header.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/agent/decode/decode_text.h"

namespace l4::decode {
namespace {

struct HeaderRow {
  const char* line;
  Level level;
  int rank;  // -1: none
};

const HeaderRow kHeaderRows[] = {
    {"[2026-11-20 15:58:27,363] [INFO] [t.py:1:f] [Rank 7] step=1", Level::info, 7},
    {"[2026-11-20 15:54:21 rank3 WARNING] data", Level::warning, 3},
    {"2026-11-20T15:59:40.532Z node-00 rank=2 INFO    trainer: text", Level::info, 2},
    {"11/20/2026 15:53:26 - WARNING - __main__ - Process rank: 5, device", Level::warning, 5},
    {"2026-03-16 22:57:30,775 - nano.common - INFO - text", Level::info, -1},
    {"ERROR:root:text", Level::error, -1},
    {"WARNING:__main__:Process rank: 6, device: cuda:2", Level::warning, 6},
    {"INFO:     Started server process [228322]", Level::info, -1},
    {"[INFO:swift] text", Level::info, -1},
    {"[2025-12-06 14:19:57,677][root][ERROR] - text", Level::error, -1},
    {"[error] text", Level::error, -1},
    {"2024-01-01 10:00:00.123 | ERROR    | m:f:1 - text", Level::error, -1},
    {"[1759897490.397258] [h-7:158742:0]  module.c:304  UCX  DEBUG text", Level::debug, -1},
    {"h-7:1:2 [0] NCCL INFO text", Level::info, -1},
    {"[2024-01-01 10:00:00] h-7:1:2 [0] misc/socket.cc:894 NCCL WARN text", Level::warning, -1},
    {"[W socket.cpp:436] [c10d] text", Level::warning, -1},
    {"[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught", Level::error, 3},
    {"[rank2]:[E328 01:06:50.940 P.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 2] x", Level::error,
     2},
    {"[E328 01:06:50.940 P.cpp:1] [PG ID 3 PG GUID 9 Rank 1] x", Level::error, -1},
    {"[rank 3] iteration 5", Level::unknown, 3},
    {"[rank: 3] Seed set to 42", Level::unknown, 3},
    {"(rank 3) iteration 5", Level::unknown, 3},
    {"(Rank=3) INFO iteration 5", Level::info, 3},
    {"(rank of the matrix is 3) text", Level::unknown, -1},
    {"copied to (rank 3)", Level::unknown, -1},
    {"[Gloo] Rank 29 is connected to 31 peer ranks", Level::unknown, -1},
    {"timeout while waiting for rank 3", Level::unknown, -1},
    {"local_rank=3 is used", Level::unknown, -1},
    {"Reporting the ERROR rate", Level::unknown, -1},
    {"Traceback (most recent call last):", Level::error, -1},
    {"RuntimeError: bad", Level::error, -1},
    {"torch.OutOfMemoryError: CUDA", Level::error, -1},
    {"srun: error: node3: task 4: Killed", Level::error, -1},
    {"slurmstepd: error: *** STEP", Level::error, -1},
    {"2026-08-19 19:12:17.857: F tensorflow/core/tpu/kernels/tpu_program_group.cc:86] Check",
     Level::fatal, -1},
    {"2026-08-19 19:12:17.857: E external/local_xla/xla/stream_executor/cuda/cuda_blas.cc:1] text",
     Level::error, -1},
    {"2026-08-19 19:12:17.857: A description of kernels/tpu_program_group.cc:86", Level::unknown,
     -1},
    {"x.py:3: UserWarning: text", Level::warning, -1},
    {"train.py: error: unrecognized arguments: --x", Level::error, -1},
    {"EI0005: The arguments", Level::error, -1},
    {"sh: line 1: 77 Aborted (core dumped) python", Level::fatal, -1},
    {"loss: 1.0", Level::unknown, -1},
};

TEST_CASE("header: level and rank, one row per position") {
  for (const HeaderRow& row : kHeaderRows) {
    CAPTURE(std::string{row.line});
    const auto decoded = test::decode_text(std::string{row.line} + "\n",
                                           {.year_hint = parse_time("2026-12-01T00:00:00Z")});
    REQUIRE(decoded.records.size() == 1);
    CHECK(name(decoded.records[0].level) == name(row.level));
    CHECK(decoded.records[0].rank.value_or(-1) == row.rank);
  }
}

}  // namespace
}  // namespace l4::decode
