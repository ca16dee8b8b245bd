#include "agent/decode/progress_bar.h"

#include <doctest/doctest.h>

#include <string>

namespace l4::decode {
namespace {

struct Row {
  std::string_view line;
  int done, total;  ///< -1: none
  std::string_view behind;
};

void check(const Row& row) {
  CAPTURE(row.line);
  const auto bar = find_bar(row.line);
  REQUIRE(bar);
  CHECK(bar->done.value_or(-1) == row.done);
  CHECK(bar->total.value_or(-1) == row.total);
  CHECK(bar->behind == row.behind);
}

TEST_CASE("progress bar: the counts, and the text behind the bar") {
  for (const Row& row : {
           Row{" 10%|#   | 10/100 [00:05<00:45,  2.00it/s]", 10, 100, ""},
           Row{"  0%|          | 0/40 [00:00<?, ?it/s]", 0, 40, ""},
           Row{"Epoch [1/9], Loss: 0.06:   0%|   | 6/2281 [24:51<133:38:16, 211.47s/it]", 6, 2281,
               ""},
           Row{"Train: 50%|\u2588\u2588  | 1/2 [1:00:01<1:00:01, loss=[2, 3]]x y", 1, 2, "]x y"},
           Row{" 22%|\u2588\u2588\u258f   | 11/50 [1:55:19<6:48:37, 628.66s/it]srun: error: n1: "
               "Killed",
               11, 50, "srun: error: n1: Killed"},
           Row{"text:   0%|   | 1/384(max) [00:00,  5.46it/s]Traceback (most recent call last):", 1,
               384, "Traceback (most recent call last):"},
           Row{"0% 0/60 [00:00<?, ?it/s]RuntimeError: no", 0, 60, "RuntimeError: no"},
           Row{"Sanity Checking: 12it [00:00, ?it/s]Killed by signal 9", 12, -1,
               "Killed by signal 9"},
           Row{" 30%|###4      | 30/90 [00:30<01:00]", 30, 90, ""},
           Row{"Epoch 2/5 : |\u2588\u2588----| 25.98% [318/1224 02:00<05:44 0.8313]libgomp: Thread "
               "creation failed",
               318, 1224, "libgomp: Thread creation failed"},
           Row{" [ 96/1230 14:22 < 2:52:41, 0.11 it/s, Epoch 0.08/1]", 96, 1230, ""},
           Row{"|###---| 50.00% [3/6 1:00:02<1:00:02]Killed", 3, 6, "Killed"},
       })
    check(row);
}

TEST_CASE("progress bar: a text that was printed in the middle of a bar") {
  for (const Row& row : {
           Row{" 34%|\u2588\u2588\u2588 Memory access fault by GPU node-3. Reason: "
               "Unknown.:32<00:59, "
               " 1.00s/it]",
               -1, -1, "Memory access fault by GPU node-3. Reason: Unknown."},
           Row{" 71%|#######   slurmstepd: error: *** STEP 7.0 ON n12 CANCELLED ***", -1, -1,
               "slurmstepd: error: *** STEP 7.0 ON n12 CANCELLED ***"},
           Row{"Train:  8%|\u258a         [rank1]: Traceback (most recent call last):", -1, -1,
               "[rank1]: Traceback (most recent call last):"},
           Row{" 50%|\u2588\u2588\u2588\u2588    | 45/9NCCL WARN Cuda failure 'out of memory'0 "
               "[00:45<00:45,  1.00s/it]",
               -1, -1, "NCCL WARN Cuda failure 'out of memory'0"},
           Row{" 50%|\u2588\u2588\u2588\u2588    | 45/90 [00:4terminate called recursively5<00:45, "
               "1.00s/it]",
               45, 90, "terminate called recursively5"},
       })
    check(row);
}

TEST_CASE("progress bar: other text with a percentage is none") {
  for (const std::string_view line :
       {"memory 34% | of 80 GB", "GPU 0: 98%| 71 C | 300/400 W", "5%| of the data were left out",
        "rate 12.5% of 10/20 [seconds]", "| 50%|    | abc", "100% of 3/4 done [00:01 later]",
        "took 12 s [00:10 and more]"}) {
    CAPTURE(line);
    CHECK_FALSE(find_bar(line));
  }
}

TEST_CASE("progress bar: which state draws the one before again") {
  CHECK(redraws(" 11%|# | 11/100 [00:01<00:09, 9it/s]", " 10%|# | 10/100 [00:01<00:09, 9it/s]"));
  CHECK(redraws("{'loss': 1}", " 10%|# | 10/100 [00:01<00:09, loss=2]"));
  CHECK(redraws("Receiving objects:  13% (13/100)", "Receiving objects:  12% (12/100)"));
  CHECK(redraws("Done", "|"));
  CHECK(
      redraws("13/100 [=>...] - ETA: 1:22 - loss: 0.4", "12/100 [=>...] - ETA: 1:23 - loss: 0.5"));
  CHECK(redraws(" 11%|# | 11/100 [00:01<00:09] loss: 3.1",
                " 10%|# | 10/100 [00:01<00:09] loss: 3.2"));
  CHECK_FALSE(redraws(" 11%|# | 11/100 [00:01<00:09, 9it/s]",
                      " 10%|# | 10/100 [00:01<00:09, 9it/s]RuntimeError: no memory"));
  CHECK_FALSE(
      redraws(" 11%|# | 11/100 [00:01<00:09, 9it/s]", "ncclSystemError: System call failed"));
  CHECK_FALSE(redraws("second line", "first line"));
}

TEST_CASE("progress bar: kind 'a bar of another loop': it draws none of the loop before again") {
  for (const char* other :
       {"Validation DataLoader 0:  4%|# | 1/25 [00:01<00:09, 9it/s]",
        "Evaluating:  4%|# | 1/25 [00:01<00:09, 9it/s]", "Sampling: 12it [00:03, 4it/s]"})
    CHECK_FALSE(redraws(other, "Epoch 0: :  10%|# | 10/100 [00:01<00:09, 9it/s]"));
  CHECK(redraws("Epoch 1: :   0%|  | 0/100 [00:00<?, ?it/s]",
                "Epoch 0: : 100%|#| 100/100 [00:01<00:00, 9it/s]"));
}

TEST_CASE("kind: a bar that is cut off shows at least the count that it showed before") {
  const std::string before = " 42%|####2     | 840/2000 [02:20<03:13,  6.0it/s]";
  for (const std::string_view cut :
       {" 42%|####2", " 42%|####2   srun: error: n7: task 3: Killed",
        " 42%|\u2588\u2588\u2588\u2588 terminate called without an active exception"}) {
    CAPTURE(cut);
    const BarLine line = read_bar_line(cut, before);
    CHECK(line.done == 840);
    CHECK(line.total == 2000);
  }
  CHECK(read_bar_line(" 42%|####2", before).text == before);
  CHECK_FALSE(read_bar_line(" 41%|####2", before).done);  // it began anew
}

TEST_CASE("progress bar: for how long it was drawn") {
  const std::string_view first = " 1%|# | 1/100 [00:05<08:15,  5.0s/it]";
  CHECK(time_drawn(first, "20%|## | 20/100 [01:40<06:40,  5.0s/it]") == Millis{95'000});
  CHECK(time_drawn(first, "99%|## | 99/100 [1:00:05<00:05,  5.0s/it]") == Millis{3'600'000});
  CHECK(time_drawn("20%| | 20/100 [01:40<06:40, 5.0s/it]", first) == Millis{0});
  for (const std::string_view other : {"", "12it [00:09, 1.3it/s]", "[1:2:3:4<", "a < b", "[<"})
    CHECK(time_drawn(first, other) == Millis{0});
}

TEST_CASE("progress bar: a percentage that stands for one count") {
  CHECK(count_of_percent(34, 90) == 31);
  CHECK(count_of_percent(0, 40) == 0);
  CHECK(count_of_percent(100, 40) == 40);
  CHECK_FALSE(count_of_percent(34, 1000));
  CHECK_FALSE(count_of_percent(34, 0));
}

}  // namespace
}  // namespace l4::decode
