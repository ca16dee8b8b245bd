// Kind: several processes wrote one line. Rows give the pieces that the line is made of.
#include "agent/decode/seams.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/agent/decode/decode_text.h"

namespace l4::decode {
namespace {

std::vector<std::string> cut(const std::string& text) {
  std::vector<std::size_t> seams;
  find_seams(text, seams);
  std::vector<std::string> pieces;
  std::size_t from = 0;
  for (const std::size_t seam : seams) {
    pieces.push_back(text.substr(from, seam - from));
    from = seam;
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

TEST_CASE("seams: something that begins lines stands directly behind text") {
  for (const std::vector<std::string>& pieces : std::vector<std::vector<std::string>>{
           {"2024-01-01 10:00:00,120 - INFO - step 5 loss 1.2",
            "2024-01-01 10:00:00,121 - INFO - step 5 loss 1.3"},
           {"epoch 3 done in 12.5 s.", "[2024-11-26 22:07:06,119] [ERROR] [launch.py:322] exits 1"},
           {"loading the checkpoint of step 1000",
            "[INFO|trainer.py:1339] 2021-05-25 06:45:27 >> x"},
           {"all workers are ready", "I1126 22:07:06.123456  77 gloo.cc:12] connected"},
           {"the second stage is ready", "W103 22:07:06.123456789 logger.cc:7] slow"},
           {"9 of 80 shards were read", "E602 11:17:52.185053341 backend.cpp:6] no answer"},
           {"loss 2.25 at step 12 of 90", "[F1203 01:02:03.1 store.cpp:9] gone"},
           {"throughput is 12.3 samples/s", "Nov  6 22:07:06 node7 kernel: NVRM: Xid 79"},
           {"this job uses 8 processes", "[rank3]: RuntimeError: CUDA error", "[rank4]: x"},
           {"initialised the process group", "[default7]:ValueError: no"},
           {"Loading dataset of 100 files...", "[1,3]<stderr>:terminate called"},
           {"iteration 100 took 1.2 s 33%", "slurmstepd: error: *** JOB 7 ON n1 CANCELLED ***"},
           {"Waiting for the other ranks...", "srun: error: node12: task 3: Killed"},
           {"step 12 of 100, loss 0.25", "Traceback (most recent call last):"},
           {" 1%|# | 1/99 [00:01<00:09, 1it/s]a warning",
            "2%|# | 2/99 [00:01<00:09, 1it/s]another"},
           {"Epoch 0: :  1%|# | 1/99 [00:01<00:09, 1it/s]Epoch 0: :  2%|# | 2/99 [00:01<00:09, "
            "1it/s]",
            "Validation DataLoader 0:  9%|# | 1/11 [00:01<00:09, 1it/s]"},
           {" 92%|\u2588\u2588\u2588\u2588\u258f",
            "[rank1]:[E ProcessGroupX.cc:9] Watchdog: time-out"},
       }) {
    std::string line;
    for (const std::string& piece : pieces) line += piece;
    CAPTURE(line);
    CHECK(cut(line) == pieces);
  }
}

TEST_CASE("seams: a line that only quotes or wraps such things is one line") {
  for (const std::string line :
       {"Xid errors on instance: ip-26-0, Error: May 29 01:37:38 ip-26-0 kernel: [257.8] NVRM: 64",
        "{\"event\": \"log\", \"value\": \"text2024-01-01 10:00:00 more\", \"time\": 1}",
        "node-1: [rank3]:[W1120 15:54:09.600372791 ProcessGroupNCCL.cpp:4115] using GPU 1",
        "[default3]:[rank3]: Traceback (most recent call last):",
        "Fri Nov 20 15:54:21 2026[1,3]<stdout>:ready",
        "v100x16-1: [after megatron is initialized] datetime: 2026-04-19 16:14:19 ",
        "RESULT,RNN_SPEECH_RECOGNITION,,1095,nvidia,2022-05-19 05:58:45 AM",
        "Import of quick_gelu from megatron.core.fusions failed with: Traceback (most recent call "
        "last):",
        "the server socket has failed to listen on [::]:29500 (errno: 98 - Address in use).",
        "saved the run to /logs/run_2024-01-01 10:00:00/model.pt and left",
        "user_program.py: error: the following arguments are required: --data",
        "/usr/bin/cpp/tool.c:12:3: error: expected ';' before '}' token"}) {
    CAPTURE(line);
    CHECK(cut(line).size() == 1);
  }
}

TEST_CASE("seams: each piece is a record with its own bytes, and of the same line") {
  const std::string first = "2024-01-01 10:00:00,120 - INFO - step 5 loss 1.2";
  const std::string second = "[rank1]: RuntimeError: CUDA error: device-side assert triggered";
  const std::string text = "begin\n" + first + second + "\n\nend\n";
  const test::Decoded decoded = test::decode_text(text);
  REQUIRE(decoded.records.size() == 4);
  const test::Kept& one = decoded.records[1];
  CHECK(one.text == "INFO - step 5 loss 1.2");
  CHECK(one.lines == std::vector<std::uint64_t>{2});
  CHECK(one.bytes.from == 6);
  CHECK(one.bytes.to == 6 + first.size());
  const auto error = std::ranges::find(decoded.records, Level::error, &test::Kept::level);
  REQUIRE(error != decoded.records.end());
  CHECK(error->text == "RuntimeError: CUDA error: device-side assert triggered");
  CHECK(error->rank == 1);
  CHECK(error->lines.front() == 2);
  CHECK(error->bytes.from == 6 + first.size());
  CHECK(decoded.stats.lines == 4);
  CHECK(decoded.stats.blank_lines == 1);
  CHECK(decoded.stats.glued_lines == 1);
  CHECK(decoded.stats.further_pieces == 1);
  // The second piece alone, as a recall reads it, gives the same record.
  const test::Decoded alone = test::decode_text(text.substr(error->bytes.from));
  CHECK(std::ranges::count(alone.records, error->text, &test::Kept::text) == 1);
}

}  // namespace
}  // namespace l4::decode
