#include "tools/l4/replay/schedule.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace l4::replay {
namespace {

struct Made {
  Recording recording;
  std::vector<LineTimes> times;
  std::vector<std::string> notes;

  void add(const std::string& node, const std::string& file, const std::string& text,
           const std::string& modified = {}) {
    Log log;
    if (!modified.empty()) log.modified = read_times(modified, std::nullopt).lines[0].time;
    log.name = node + "/" + file;
    log.node = node;
    log.file = file;
    log.text = text;
    recording.logs.push_back(log);
    times.push_back(read_times(text, std::nullopt));
  }
  Schedule plan() { return by_printed_times(recording, times, notes); }
};

/// `0@0:5 1@2000:9`: log, milliseconds since the begin, size.
std::string spell(const Schedule& schedule) {
  std::string text;
  for (const Due& due : schedule.dues()) {
    if (!text.empty()) text += ' ';
    text += std::to_string(due.log) + "@" + std::to_string(schedule.since_begin(due.at).count()) +
            ":" + std::to_string(due.size);
  }
  return text;
}

// Each line has 25 bytes.
std::string line(const std::string& time) {
  return time + " text\n";
}

TEST_CASE("schedule: lines of several logs in order of time") {
  Made made;
  made.add("n1", "a.log", "begin\n" + line("2026-11-20 10:00:01") + "more\n");
  made.add("n2", "a.log", line("2026-11-20 10:00:00") + line("2026-11-20 10:00:03"));
  CHECK(spell(made.plan()) == "1@0:25 0@1000:36 1@3000:50");
  CHECK(made.notes.empty());
}

TEST_CASE("schedule: a clock that is set back, mixed writers, and lines far from the job") {
  Made made;
  made.add("n1", "a.log",
           line("2026-10-25 02:59:58") + line("2026-10-25 02:59:59") + line("2026-10-25 02:00:00") +
               line("2026-10-25 02:00:02"));
  CHECK(spell(made.plan()) == "0@0:25 0@1000:75 0@3000:100");

  Made mixed;
  mixed.add(
      "n1", "a.log",
      line("2026-11-20 10:00:10") + line("2026-11-20 10:00:07") + line("2026-11-20 10:00:12"));
  CHECK(spell(mixed.plan()) == "0@0:50 0@2000:75");

  Made strange;
  std::string text = line("1999-01-01 00:00:00");
  for (int i = 10; i < 40; ++i) text += line("2026-11-20 10:00:" + std::to_string(i));
  strange.add("n1", "a.log", text + line("2099-01-01 00:00:00"));
  const Schedule plan = strange.plan();
  CHECK(plan.length() == Millis{29'000});
  CHECK(plan.dues().front().size == 50);
  CHECK(plan.dues().back().size == 32 * 25);
  REQUIRE(strange.notes.size() == 1);
  CHECK(strange.notes[0].starts_with("2 lines with times more than a day from those of the job"));
}

TEST_CASE("schedule: last words of a launcher come when the logs beside it end") {
  const std::string rank = line("2026-11-20 10:00:00") + line("2026-11-20 12:00:00");
  const std::string begin = line("2026-11-20 10:00:00") + "using 8 workers\n";  // 41 bytes
  for (const std::string words :
       {"Traceback (most recent call last):\n  File a.py\nChildFailedError: a\n",
        "ERROR:torch.distributed.elastic:failed (exitcode: 1)\nexit\n",
        "srun: error: gpu-3: task 5: Killed\n"}) {
    CAPTURE(words);
    Made made;
    made.add("n1", "launcher.log", begin + words);
    made.add("n1", "0.log", rank);
    CHECK(spell(made.plan()) ==
          "0@0:41 1@0:25 0@7200000:" + std::to_string(41 + words.size()) + " 1@7200000:50");
    // A launcher without any time: its last words are not spread over the hours before.
    Made untimed;
    untimed.add("n1", "launcher.log", "using 8 workers\n" + words);
    untimed.add("n1", "0.log", rank);
    CHECK(spell(untimed.plan()) ==
          "1@0:25 0@0:16 1@7200000:50 0@7200000:" + std::to_string(16 + words.size()));
  }
  // Lines that follow a time at the end of the job, and those that are no error, go with it.
  Made told;
  told.add("n1", "launcher.log",
           line("2026-11-20 11:59:30") + "Traceback (most recent call last):\n");
  told.add("n1", "1.log", begin);
  told.add("n1", "0.log", rank);
  CHECK(spell(told.plan()) == "1@0:41 2@0:25 0@7170000:60 2@7200000:50");
}

TEST_CASE(
    "schedule: a launcher is quiet for seconds, too; what a rank says last follows its times") {
  std::string rank, others;
  for (int i = 10; i < 40; ++i) rank += line("2026-11-20 10:00:" + std::to_string(i));
  for (int i = 10; i < 38; ++i) others += line("2026-11-20 10:00:" + std::to_string(i));
  const std::string begin = line("2026-11-20 10:00:10") + "using 8 workers\n";  // 41 bytes
  const std::string words =
      "WARNING:elastic:Sending process 17 closing signal SIGTERM\nERROR:elastic:failed\n";
  Made made;
  made.add("n1", "launcher.log", begin + words);
  made.add("n1", "attempt_0/0.log", rank);
  const auto first = [](const Schedule& plan, std::uint32_t log, std::size_t size) {
    for (const Due& due : plan.dues())
      if (due.log == log && due.size >= size) return plan.since_begin(due.at).count();
    return std::int64_t{-1};
  };
  const Schedule plan = made.plan();
  CHECK(first(plan, 0, 41) == 0);
  CHECK(first(plan, 0, 42) == 29'000);  // the warning that comes with the error, too
  CHECK(first(plan, 0, 41 + words.size()) == 29'000);

  // A rank fails; half an hour later the others give up.
  Made failed;
  const std::string trace = "Traceback (most recent call last):\nRuntimeError: a\n";
  failed.add("n1", "0.log", rank + trace);
  failed.add("n1", "1.log", others + line("2026-11-20 10:30:00") + line("2026-11-20 10:30:01"));
  CHECK(first(failed.plan(), 0, rank.size() + trace.size()) == 29'000);
}

TEST_CASE("schedule: files that kept the times of their last writes say when a log ended") {
  std::string rank;
  for (int i = 10; i < 40; ++i) rank += line("2026-11-20 10:00:" + std::to_string(i));
  const auto plan = [&](const std::string& of_rank, const std::string& of_launcher,
                        const std::string& of_out) {
    Made made;
    made.add("n1", "a/err.log", rank, of_rank);
    made.add("n1", "a/out.log", "step 1\nstep 2\nstep 3\n", of_out);
    made.add("n1", "b/launcher.log", "begin\nmore\nsrun: error: task 5: Killed\n", of_launcher);
    std::string ends;
    const Schedule made_plan = made.plan();
    for (const Due& due : made_plan.dues())
      if (due.size == made.recording.logs[due.log].text.size())
        ends += std::to_string(due.log) + "@" +
                std::to_string(made_plan.since_begin(due.at).count()) + " ";
    return ends;
  };
  const std::string kept = line("2026-11-20 10:00:39"), later = line("2026-11-20 10:00:45");
  CHECK(plan(kept, later, line("2026-11-20 10:00:30")) == "1@20000 0@29000 2@35000 ");
  CHECK(plan("", "", "") == "0@29000 1@29000 2@29000 ");
  // Copied a day later, or printed in another zone: the files tell nothing.
  const std::string copied = line("2026-11-21 10:00:45"), zone = line("2026-11-20 15:00:39");
  CHECK(plan(copied, copied, copied) == "0@29000 1@29000 2@29000 ");
  CHECK(plan(zone, line("2026-11-20 10:00:20"), zone) == "0@29000 1@29000 2@29000 ");
  // One file was touched long afterwards.
  CHECK(plan(kept, copied, kept) == "0@29000 1@29000 2@29000 ");
}

TEST_CASE("schedule: many lines behind the last time are spread until the logs beside end") {
  Made made;
  std::string text = line("2026-11-20 10:00:00");
  for (int i = 0; i < 400; ++i) text += "step\n";
  made.add("n1", "1.log", text + "RuntimeError: lost\n");
  made.add("n1", "0.log", line("2026-11-20 10:00:00") + line("2026-11-20 10:06:40"));
  const Schedule plan = made.plan();
  std::vector<std::int64_t> at;
  for (const Due& due : plan.dues())
    if (due.log == 0) at.push_back(plan.since_begin(due.at).count());
  REQUIRE(at.size() == 401);  // the line with the time and the first behind it come together
  CHECK(at[200] == 200'000);
  CHECK(at.back() == 400'000);
}

TEST_CASE("schedule: silences of years are shortened") {
  Made made;
  made.add("n1", "a.log", line("2024-11-20 10:00:00") + line("2026-11-20 10:00:05"));
  const Schedule plan = made.plan();
  CHECK(plan.length() == Millis{10'000});
  REQUIRE(plan.silences().size() == 1);
  CHECK(plan.silences()[0].second == std::chrono::days{730} + std::chrono::seconds{5});
  CHECK(made.notes.empty());
}

TEST_CASE("schedule: the lines of a log without times are spread over the time of its neighbours") {
  Made made;
  made.add("n1", "0/out.log", "a\nb\nc\n");
  made.add("n1", "0/err.log", line("2026-11-20 10:00:00") + line("2026-11-20 10:00:04"));
  made.add("n2", "0/err.log", line("2026-11-20 09:00:00") + line("2026-11-20 11:00:00"));
  made.add("n3", "empty.log", "");
  CHECK(spell(made.plan()) ==
        "2@0:25 1@3600000:25 0@3600000:2 0@3602000:4 1@3604000:50 0@3604000:6 2@7200000:50");
  REQUIRE(made.notes.size() == 1);
  CHECK(made.notes[0] ==
        "n1/0/out.log prints no times that the decoder reads: the lines are spread over the time "
        "of the logs beside");

  Made none;
  none.add("n1", "a.log", "a\nb\n");
  none.add("n1", "b.log", "a\n");
  CHECK(spell(none.plan()) == "0@0:2 1@0:2 0@5000:4");
  REQUIRE(none.notes.size() == 1);
  CHECK(none.notes[0] ==
        "n1/a.log and 1 more print no times that the decoder reads: the lines are spread over some "
        "seconds");
}

TEST_CASE("schedule: arrivals whose clock is not that of the lines") {
  Made made;
  made.add("n1", "a.log", line("2026-11-20 10:00:00") + line("2026-11-20 10:00:04"));
  const auto difference = [&](Millis ahead) {
    const TimeMs begin = *made.times[0].lines[0].time;
    Arrivals arrivals;
    arrivals.rows.push_back({begin + ahead + Millis{200}, "n1/a.log", 25, 1});
    arrivals.rows.push_back({begin + ahead + Millis{5500}, "n1/a.log", 50, 2});
    const auto schedule = by_arrivals(made.recording, arrivals, "arrivals.csv");
    REQUIRE(schedule);
    CHECK(schedule->length() == Millis{5300});
    return clock_difference(*schedule, made.times);
  };
  CHECK(difference(Millis{0}) == Millis{0});
  CHECK(difference(Millis{30'000}) == Millis{0});
  CHECK(difference(std::chrono::hours{8}) == std::chrono::hours{8});
  CHECK(difference(std::chrono::hours{-500'000}) == std::chrono::hours{-500'000});
}

}  // namespace
}  // namespace l4::replay
