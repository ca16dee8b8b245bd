#include "agent/tail/positions_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/temp_folder.h"

namespace l4::tail {
namespace {

std::vector<Position> some(std::size_t count) {
  std::vector<Position> positions;
  for (std::uint64_t i = 1; i <= count; ++i) {
    Position position;
    position.file = {~0ULL - i, 2049, i, 0x1234567890abcdefULL * i, 4096};
    position.path = "/logs/with \\ and\nline end " + std::to_string(i) + ".log";
    position.offset = i * 1000;
    position.lines = i * 10;
    position.known = i * 1001;
    positions.push_back(position);
  }
  return positions;
}

TEST_CASE("positions file: what was saved is loaded") {
  test::TempFolder folder;
  PositionsFile file{folder.path() / "positions"};
  auto loaded = file.load();
  REQUIRE(loaded);
  CHECK(loaded->positions.empty());
  for (const std::size_t count : {0, 1, 50}) {
    REQUIRE(file.save(some(count)));
    loaded = PositionsFile{folder.path() / "positions"}.load();
    REQUIRE(loaded);
    CHECK(loaded->positions == some(count));
    CHECK(loaded->complete);
    CHECK(loaded->damaged == 0);
  }
}

TEST_CASE("positions file: whatever is damaged is left out, the rest is used") {
  test::TempFolder folder;
  const auto path = folder.path() / "positions";
  const auto all = some(20);
  REQUIRE(PositionsFile{path}.save(all));
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t at = 0; at < whole.size(); at += 37) {
    std::string bad = whole;
    bad[at] = bad[at] == 'x' ? 'y' : 'x';
    folder.file("positions", bad);
    auto loaded = PositionsFile{path}.load();
    REQUIRE(loaded);
    CHECK(loaded->positions.size() >= 18);
    CHECK((loaded->damaged > 0 || !loaded->complete));
    folder.file("positions", whole.substr(0, at));
    loaded = PositionsFile{path}.load();
    REQUIRE(loaded);
    CHECK_FALSE(loaded->complete);
    const auto first = std::span(all).first(loaded->positions.size());
    CHECK(std::ranges::equal(loaded->positions, first));
  }
  folder.file("positions", std::string(100'000, '\0'));
  CHECK(PositionsFile{path}.load()->positions.empty());
}

TEST_CASE("positions file: what can not be written is said, the old one stays, and it recovers") {
  test::TempFolder folder;
  const auto path = folder.path() / "state" / "positions";
  PositionsFile file{path};
  auto saved = file.save(some(3));
  REQUIRE_FALSE(saved);
  CHECK(saved.error().text() == path.string() + ": cannot be written: No such file or directory");
  std::filesystem::create_directories(path.parent_path());
  REQUIRE(file.save(some(3)));

  // Plays a full disk: no file may become longer than this.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  saved = file.save(some(100));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  REQUIRE_FALSE(saved);
  CHECK(saved.error().reason == "cannot be written: File too large");
  CHECK_FALSE(std::filesystem::exists(path.string() + ".new"));
  CHECK(file.load()->positions == some(3));
  REQUIRE(file.save(some(100)));
  CHECK(file.load()->positions == some(100));

  std::filesystem::create_directories(folder.path() / "folder");
  CHECK_FALSE(PositionsFile{folder.path() / "folder"}.load());
  CHECK_FALSE(PositionsFile{folder.path() / "folder"}.save(some(1)));
}

}  // namespace
}  // namespace l4::tail
