#include "tools/l4/commands/compared.h"

#include <doctest/doctest.h>

#include <fstream>
#include <vector>

#include "tests/temp_folder.h"

namespace l4::commands {

TEST_CASE("compared: what --diff names follows from how it is written") {
  struct Row {
    const char *with, *file, *job, *at;
  };
  const std::vector<Row> rows{
      {"before.json", "before.json", "", ""},
      {"./before", "./before", "", ""},
      {"-", "-", "", ""},
      {"2026-11-20T15:54:42Z", "", "mine", "2026-11-20T15:54:42Z"},
      {"2026-11-20 15:54:42.120", "", "mine", "2026-11-20 15:54:42.120"},
      {"1795190022", "", "mine", "1795190022"},
      {"1795190022.5", "", "mine", "1795190022.5"},
      {"s1795190022000", "", "mine", "s1795190022000"},
      {"other", "", "other", ""},
      {"4711", "", "4711", ""},
      {"s17", "", "s17", ""},
      {"s1795190022000x", "", "s1795190022000x", ""},
      {"other@s1795190022000", "", "other", "s1795190022000"},
      {"4711@2026-11-20T15:54:42Z", "", "4711", "2026-11-20T15:54:42Z"},
      {"user@host", "", "user@host", ""},
      {"user@host@1795190022", "", "user@host", "1795190022"},
      {"@1795190022", "", "@1795190022", ""},
  };
  for (const Row& row : rows) {
    INFO(row.with);
    const Compared found = compared_with(row.with, "mine");
    CHECK(found.file == row.file);
    CHECK(found.job == row.job);
    CHECK(found.at == row.at);
  }
}

TEST_CASE("compared: a file that is there is one, whatever it is called") {
  const test::TempFolder folder;
  const auto name = folder.path() / "other";
  std::ofstream(name) << "{}";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const Compared there = compared_with("other", "mine"), gone = compared_with("another", "mine");
  std::filesystem::current_path(before);
  CHECK(there.file == "other");
  CHECK(gone.job == "another");
}

}  // namespace l4::commands
