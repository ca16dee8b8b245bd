// The cost of an idle tailer, and its behaviour at the limits of the system.
#include <doctest/doctest.h>
#include <poll.h>

#include <filesystem>

#include "agent/tail/tailer.h"
#include "tests/agent/tail/played.h"
#include "tests/temp_folder.h"

namespace l4::tail {
namespace {

bool readable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&wanted, 1, 0) > 0;
}

TEST_CASE("tailer limits: idle is a look every slow poll and nothing else") {
  test::TempFolder folder;
  for (int i = 0; i < 8; ++i) folder.file("rank" + std::to_string(i) + ".log", "begin\nunfinished");
  Options options;
  options.sources = {folder.path()};
  auto tailer = Tailer::make(options, real_file_system(), std::move(*make_inotify_watcher()));
  REQUIRE(tailer);
  tailer->resume({});
  Collector sink;
  const TimeMs wall = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  Millis now{1'000};
  std::uint64_t turns = 0;
  for (const Millis end{611'000}; now < end;) {
    while (tailer->turn(sink, {now, wall})) {
    }
    if (now >= Millis{11'000}) ++turns;  // turns after the first scan has settled
    const Wait wait = tailer->wait({now, wall});
    REQUIRE(wait.at_most);
    if (!readable(wait.fd)) now += std::max(*wait.at_most, Millis{1});
  }
  CHECK(turns <= 61);
  CHECK(sink.quiets.size() == 8);
}

TEST_CASE("tailer limits: the more is found, the later it looks again") {
  Played played;
  const auto waits_after = [&](std::size_t bytes) {
    const std::string text = std::string(bytes - 1, 'a') + '\n';
    played.pass(Millis{2'000});
    played.disk.append("/logs/rank0.log", text);
    played.turn(Millis{10});
    const std::uint64_t before = played.tailer->counters().bytes;
    played.disk.append("/logs/rank0.log", "one more\n");
    int steps = 0;
    for (; played.tailer->counters().bytes == before && steps < 200; ++steps)
      played.turn(Millis{10});
    return steps;
  };
  waits_after(100);
  CHECK(waits_after(100) == 10);
  CHECK(waits_after(400 << 10) == 20);
  CHECK(waits_after(1 << 20) == 36);
  CHECK(waits_after(3 << 20) == 87);
  CHECK(waits_after(4 << 20) == 100);
  CHECK(waits_after(100) == 10);
}

TEST_CASE("tailer limits: the pause holds however often is written") {
  Played played;
  const std::string piece = std::string((4 << 10) - 1, 'a') + '\n';
  int looks = 0;
  for (int step = 0; step < 1'000; ++step) {
    for (int i = 0; i < 10; ++i) played.disk.append("/logs/rank0.log", piece);
    const std::uint64_t before = played.tailer->counters().bytes;
    played.turn(Millis{10});
    if (played.tailer->counters().bytes > before) ++looks;
  }
  CHECK(looks >= 10);  // each pause is 100 ms longer than the one before, up to a second
  CHECK(looks <= 18);
  played.turn(Millis{1'000});
  CHECK(played.tailer->counters().bytes == 10'000 * piece.size());
}

TEST_CASE(
    "tailer limits: no descriptors are left: some are closed for others, and it is said once") {
  Played played;
  played.disk.open_most = 20;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i)
      played.disk.append("/logs/rank" + std::to_string(i) + ".log", "a line\n");
    for (int i = 0; i < 20; ++i) played.turn();
    CHECK(played.tailer->counters().bytes == 700U * (static_cast<unsigned>(round) + 1));
  }
  CHECK(played.sink.warned("descriptors") <= 1);
  CHECK(played.sink.lost == 0);
}

TEST_CASE("tailer limits: told to hold fewer files open it closes some, and reads all the same") {
  Played played;
  const auto write = [&] {
    for (int i = 0; i < 40; ++i)
      played.disk.append("/logs/rank" + std::to_string(i) + ".log", "a line\n");
    for (int i = 0; i < 20; ++i) played.turn();
  };
  write();
  REQUIRE(played.tailer->counters().open_files == 40);
  played.tailer->hold_open(10);
  CHECK(played.tailer->counters().open_files == 10);
  CHECK(played.tailer->counters().closed_for_others == 30);
  write();
  CHECK(played.tailer->counters().bytes == 560);
  CHECK(played.tailer->counters().open_files <= 10);
  played.tailer->hold_open(0);
  CHECK(played.tailer->counters().open_files == 4);
  write();
  CHECK(played.tailer->counters().bytes == 840);
  played.tailer->hold_open(100);
  write();
  CHECK(played.tailer->counters().bytes == 1120);
  CHECK(played.tailer->counters().open_files == 40);
  CHECK(played.sink.lost == 0);
}

TEST_CASE("tailer limits: a file that is written to very much does not hold up the others") {
  Options options;
  options.bytes_per_file = 100;
  options.bytes_per_turn = 300;
  Played played(options);
  played.disk.append("/logs/big.log", std::string(10'000, 'x'));
  for (int i = 0; i < 50; ++i) played.disk.append("/logs/s" + std::to_string(i) + ".log", "a\n");
  std::size_t turns = 0;
  while (played.sink.logs.size() < 51 && ++turns < 100)
    played.tailer->turn(played.sink, {played.now, {}});
  CHECK(turns <= 5);
}

TEST_CASE("tailer limits: without room nothing is read, and what comes and goes is known") {
  Played played;
  played.disk.append("/logs/a.log", "first\n");
  played.turn();
  const auto looks = [&](int seconds) {
    for (int i = 0; i < seconds; ++i)
      played.tailer->scan(played.sink, {played.now += Millis{1'000}, played.disk.now});
  };
  std::size_t gone = 0;
  for (int i = 0; i < 20; ++i) {  // each log is rotated away before it is read
    played.disk.append("/logs/a.log", std::string(1'000, 'x') + "\n");
    gone += 1'001;
    looks(1);
    if (i > 0) played.disk.remove("/logs/a.log.1");
    played.disk.rename("/logs/a.log", "/logs/a.log.1");
    played.disk.append("/logs/a.log", "");
    looks(1);
  }
  CHECK(played.tailer->counters().bytes == 6);
  CHECK(played.sink.lost == 0);
  CHECK(played.disk.open_files >= 19);
  looks(130);  // longer than deleted files are held open
  CHECK(played.tailer->counters().bytes == 6);
  CHECK(played.disk.open_files <= 2);
  CHECK(played.sink.lost == 19 * 1'001);
  played.pass(Millis{5'000});
  CHECK(played.tailer->counters().bytes + played.sink.lost == gone + 6);
}

TEST_CASE("tailer limits: overflow and a missing folder are said once, and nothing is missed") {
  Played played;
  played.disk.append("/logs/a.log", "one\n");
  played.turn();
  for (int i = 0; i < 3; ++i) {
    played.disk.notes.clear();
    played.disk.append("/logs/a.log", "more\n");
    played.disk.notes.clear();
    played.disk.overflow = true;
    played.turn();
  }
  CHECK(played.sink.text_of_all() == "one\nmore\nmore\nmore\n");
  CHECK(played.sink.warned("polling") == 1);
  CHECK(played.tailer->counters().overflows == 3);
}

TEST_CASE("tailer limits: 2,000 files that are rotated are all read") {
  Played played;
  for (int i = 0; i < 2000; ++i)
    played.disk.append("/logs/rank" + std::to_string(i) + ".log",
                       "first " + std::to_string(i) + "\n");
  played.turn();
  const std::uint64_t first = played.tailer->counters().bytes;
  for (int i = 0; i < 2000; ++i) {
    const std::string path = "/logs/rank" + std::to_string(i) + ".log";
    played.disk.rename(path, path + ".1");
    played.disk.append(path, "later " + std::to_string(i) + "\n");
  }
  for (int i = 0; i < 10; ++i) played.turn();
  CHECK(played.tailer->counters().bytes == 2 * first);
  CHECK(played.tailer->counters().open_files <= 256);
}

}  // namespace
}  // namespace l4::tail
