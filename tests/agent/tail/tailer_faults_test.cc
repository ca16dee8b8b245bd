// Failures around a tailer: it goes on with the other files, warns once about a failure, and
// recovers by itself.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agent/tail/positions_file.h"
#include "tests/agent/tail/played.h"
#include "tests/temp_folder.h"

namespace l4::tail {
namespace {

namespace fs = std::filesystem;

TEST_CASE("tailer faults: a file that may not be read, and one that can not be") {
  Played played;
  played.disk.refused["/logs/secret.log"] = EACCES;
  played.disk.append("/logs/secret.log", "hidden\n");
  played.disk.append("/logs/open.log", "one\n");
  played.pass(Millis{90'000});
  CHECK(played.sink.text_of_all() == "one\n");
  CHECK(played.sink.warned("unreadable") == 1);
  CHECK(played.sink.warnings[0].file == "/logs/secret.log");
  CHECK(played.sink.warnings[0].reason == "Permission denied");
  played.disk.refused.clear();
  played.pass(Millis{61'000});
  CHECK(played.sink.text_of_all() == "one\nhidden\n");

  played.disk.append("/logs/open.log", "two\n");
  played.disk.append("/logs/secret.log", "three\n");
  played.disk.read_error = EIO;
  played.pass(Millis{90'000});
  CHECK(played.sink.warned("unreadable") == 3);  // two more warnings, one for each file
  played.disk.read_error = 0;
  played.pass(Millis{61'000});
  CHECK(played.sink.text_of_all().size() == std::string("one\nhidden\ntwo\nthree\n").size());
  CHECK(played.sink.lost == 0);
}

TEST_CASE("tailer faults: a folder that may not be read for a while") {
  Played played;
  played.disk.append("/logs/a.log", "one\n");
  played.turn();
  played.disk.refused["/logs"] = EACCES;
  played.disk.append("/logs/a.log", "two\n");
  played.disk.append("/logs/b.log", "new\n");
  played.pass(Millis{120'000});
  CHECK(played.sink.text_of_all() == "one\ntwo\n");  // known files are read on
  CHECK(played.sink.warned("unreadable") == 1);
  played.disk.refused.clear();
  played.pass(Millis{2'000});
  CHECK(played.sink.text_of_all() == "one\ntwo\nnew\n");
  CHECK(played.sink.ended.empty());
  CHECK(played.sink.lost == 0);
}

TEST_CASE("tailer faults: nobody notices anything: looking finds what is written and rotated") {
  for (const bool network : {false, true}) {
    CAPTURE(network);
    Played played({}, network ? nullptr : make_blind_watcher());
    played.disk.network = network;
    played.disk.lose_notices = true;
    std::string written;
    const auto write = [&](const std::string& text) {
      played.disk.append("/logs/a.log", text);
      written += text;
    };
    write("first line of them\n");
    played.pass(Millis{12'000});
    for (int i = 0; i < 20; ++i) {
      write("line " + std::to_string(i) + "\n");
      if (i % 3 == 1) {
        if (i % 2 == 0)
          played.disk.rename("/logs/a.log", "/logs/a.log." + std::to_string(100 - i));
        else
          played.disk.remove("/logs/a.log");
        write("line after " + std::to_string(i) + "\n");
      }
      played.pass(Millis{1'200});
      CHECK(played.sink.text_of_all() == written);
    }
    CHECK(played.sink.warned("polling") == (network ? 0 : 1));
    CHECK(played.sink.lost == 0);
  }
}

struct Real {
  Real() {
    fs::create_directories(logs);
    Options options;
    options.sources = {logs};
    tailer.emplace(
        std::move(*Tailer::make(options, real_file_system(), std::move(*make_inotify_watcher()))));
    tailer->resume({});
  }
  void pass(Millis time) {
    for (const Millis end = now + time; now < end;) {
      now += Millis{200};
      const TimeMs wall = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
      for (int i = 0; i < 1000 && tailer->turn(sink, {now, wall}); ++i) {
      }
    }
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories(logs);
    std::ofstream{logs / name, std::ios::app} << text;
    written += text.size();
  }
  test::TempFolder folder;
  fs::path logs = folder.path() / "logs";
  Collector sink;
  std::optional<Tailer> tailer;
  Millis now{1'000};
  std::size_t written = 0;
};

TEST_CASE("tailer faults: the folder is removed and made again, again and again") {
  Real real;
  for (int i = 0; i < 5; ++i) {
    real.write("a.log", "life " + std::to_string(i) + "\n");
    real.pass(Millis{12'000});
    CHECK(real.sink.text_of_all().size() == real.written);
    fs::remove_all(real.logs);
    real.pass(Millis{3'000});
  }
  CHECK(real.sink.warned("missing") == 5);  // one warning each time
  CHECK(real.sink.lost == 0);
}

TEST_CASE("tailer faults: the process may open few files") {
  Real real;
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  const int free = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(free);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 60; ++i) real.write("rank" + std::to_string(i) + ".log", "a line\n");
    few.rlim_cur = static_cast<rlim_t>(free) + (round == 1 ? 1 : 8);
    ::setrlimit(RLIMIT_NOFILE, &few);
    real.pass(Millis{8'000});
    ::setrlimit(RLIMIT_NOFILE, &before);
    if (round != 1) CHECK(real.tailer->counters().bytes == real.written);
  }
  real.pass(Millis{12'000});
  CHECK(real.tailer->counters().bytes == real.written);
  CHECK(real.sink.warned("descriptors") == 1);
  CHECK(real.sink.lost == 0);
  CHECK(real.sink.warnings.size() <= 3);
}

/// Runs as another user, because root may do everything.
template <class Call>
auto without_rights(Call call) {
  constexpr uid_t kNobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root) REQUIRE(::seteuid(kNobody) == 0);
  auto result = call();
  if (root) REQUIRE(::seteuid(0) == 0);
  return result;
}

TEST_CASE("positions faults: a full disk, a folder that may not be written to") {
  test::TempFolder folder;
  const fs::path path = folder.path() / "positions";
  Position position;
  position.file = {1, 2, 3, 4, 5};
  position.offset = 17;
  const std::vector<Position> one{position}, two{position, position};
  PositionsFile file{path};
  REQUIRE(file.save(one));

  fs::create_symlink("/dev/full", path.string() + ".new");
  auto saved = file.save(two);
  REQUIRE_FALSE(saved);
  CHECK(saved.error().text() == path.string() + ": cannot be written: No space left on device");
  CHECK(file.load()->positions == one);
  REQUIRE(file.save(two));
  CHECK(file.load()->positions == two);

  fs::permissions(folder.path(), fs::perms{0555});
  saved = without_rights([&] { return file.save(one); });
  fs::permissions(folder.path(), fs::perms{0755});
  REQUIRE_FALSE(saved);
  CHECK(saved.error().text() == path.string() + ": cannot be written: Permission denied");
  CHECK(file.load()->positions == two);
  REQUIRE(file.save(one));
  CHECK(file.load()->positions == one);

  fs::permissions(path, fs::perms{0});
  const auto loaded = without_rights([&] { return file.load(); });
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().text() == path.string() + ": cannot be read: Permission denied");
}

}  // namespace
}  // namespace l4::tail
