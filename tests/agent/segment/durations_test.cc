// Times that programs print by name or with a unit, where no rule pack names them.
#include "agent/segment/durations.h"

#include <doctest/doctest.h>

namespace l4::segment {
namespace {

struct Row {
  std::string_view line, name;
  double ms;
};

std::optional<double> read(std::string_view line, const Duration& duration) {
  return read_duration(line, duration, outline_of(line));
}

TEST_CASE("a number with a unit, or with a name for a time, is a time") {
  for (const Row& row : {
           Row{"load 8012 ms", "load", 8012},
           Row{"loader: 53 ms for batch 17", "loader", 53},
           Row{"dataloader next: data_time=0.0231", "data_time", 23.1},
           Row{"step 4 data_wait: 1.503", "data_wait", 1503},
           Row{"step step=3 loss=2.5 step_time=1.25 lr=0.1", "step_time", 1250},
           Row{"batch loaded seconds=0.9311", "batch loaded seconds", 931.1},
           Row{"load_next_batch seconds: 0.25", "load_next_batch seconds", 250},
           Row{"elapsed time per iteration (ms): 731.5 | lr", "elapsed time per iteration (ms)",
               731.5},
           Row{"INFO | train | iterator: waited 0.125 s", "iterator: waited", 125},
           Row{"read 481902 bytes from shard, read time 80.5 ms", "read time", 80.5},
           Row{"time/forward: 0.5", "time/forward", 500},
           Row{"msg=\"batch ready\" step=7 load_ms=53.2", "load_ms", 53.2},
       }) {
    CAPTURE(row.line);
    const auto found = find_durations(row.line);
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == row.name);
    const auto ms = read(row.line, found[0]);
    REQUIRE(ms);
    CHECK(*ms == doctest::Approx(row.ms));
  }
}

TEST_CASE("a name that says nothing takes the first words of its line") {
  const auto found = find_durations("forward done step=12 dur=0.311s");
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "forward done dur");
}

TEST_CASE("rates, moments, bounds, sizes, counts and dates are no times") {
  for (const std::string_view line :
       {"tokens per second: 900", "samples/s: 3.25", "tokens_per_s=1200", "tps: 3504",
        "Tokens/s/device: 51.5", "timestamp: 1700000000.5", "timeout=600", "time: 12:30:05",
        "date time: 2024-03-05", "loss: 2.31 grad_norm: 0.5", "memory 40.2 GB", "lr=0.0003",
        "12.5 s/it", "fan speed 874 rpm", "eta seconds: 4000", "version 1.2.3 s"}) {
    CAPTURE(line);
    CHECK(find_durations(line).empty());
  }
}

TEST_CASE("what a rank does itself and what it waits for are told by the name") {
  const auto kind = [](std::string_view line) {
    const auto found = find_durations(line);
    return found.empty() ? wire::TimerKind::mixed : found[0].kind;
  };
  CHECK(kind("batch wait 0.1 s") == wire::TimerKind::own);
  CHECK(kind("forward: 53 ms") == wire::TimerKind::own);
  CHECK(kind("all-reduce: 53 ms") == wire::TimerKind::wait);
  CHECK(kind("gradients synced in 0.5 s") == wire::TimerKind::wait);
  CHECK(kind("phase seven 0.5 s") == wire::TimerKind::mixed);
}

TEST_CASE("the value is read in other lines of the template, and not where the unit differs") {
  const auto found = find_durations("optimizer step 0.125 s, waited 0.5 s for gradients");
  REQUIRE(found.size() == 2);
  const std::string_view other = "optimizer step 12.25 s, waited 0.75 s for gradients";
  CHECK(read(other, found[0]) == doctest::Approx(12250.0));
  CHECK(read(other, found[1]) == doctest::Approx(750.0));
  CHECK_FALSE(read("optimizer step 12.25 ms, waited", found[0]));
  CHECK_FALSE(read("nothing of the kind", found[0]));
}

}  // namespace
}  // namespace l4::segment
