#include "tools/l4/terminal/output.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/temp_folder.h"
#include "tools/l4/terminal/exit.h"

namespace l4::terminal {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_CASE("output: a whole file takes the place of the one before, with its mode") {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "report.html";
  CHECK(write_whole("first", file, "l4") == kDone);
  CHECK(content_of(file) == "first");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  CHECK(write_whole("second", file, "l4") == kDone);
  CHECK(content_of(file) == "second");
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("output: a link stays one, and its file is written") {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "report.html", link = folder.path() / "latest.html";
  CHECK(write_whole("first", file, "l4") == kDone);
  fs::create_symlink(file, link);
  CHECK(write_whole("second", link, "l4") == kDone);
  CHECK(fs::is_symlink(link));
  CHECK(content_of(file) == "second");
}

TEST_CASE("output: what cannot be written leaves what stood there, and nothing beside it") {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "report.html";
  CHECK(write_whole("first", file, "l4") == kDone);
  fs::create_directory(file.string() + ".new");  // the name beside is taken
  CHECK(write_whole("second", file, "l4") == kWrongUse);
  CHECK(content_of(file) == "first");
  CHECK(write_whole("text", folder.path() / "none" / "report.html", "l4") == kWrongUse);
  CHECK(write_whole("text", "/dev/full", "l4") == kWrongUse);
}

}  // namespace
}  // namespace l4::terminal
