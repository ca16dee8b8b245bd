#include "common/base/rows_file.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "tests/temp_folder.h"

namespace l4 {
namespace {

TEST_CASE("rows file: what was saved is loaded, but by who looks for another form") {
  test::TempFolder folder;
  const std::string path = folder.path() / "rows";
  RowsFile file(path, "l4 test 1");
  CHECK(file.load()->rows.empty());
  CHECK(file.load()->complete);
  const std::vector<std::string> rows{"a 1", "", "end of all", "end 3"};
  for (const std::size_t count : {0U, 1U, 2U}) {
    const std::vector<std::string> some(rows.begin(), rows.begin() + count);
    REQUIRE(file.save(some));
    const auto loaded = RowsFile(path, "l4 test 1").load();
    REQUIRE(loaded);
    CHECK(loaded->rows == some);
    CHECK(loaded->complete);
    CHECK(loaded->damaged == 0);
  }
}

TEST_CASE("rows file: a folder that is not there is said, and tried again") {
  test::TempFolder folder;
  RowsFile file(folder.path() / "later" / "rows", "l4 test 1");
  const auto failed = file.save({"a"});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().text().find("cannot be written: No such file") != std::string::npos);
  std::filesystem::create_directory(folder.path() / "later");
  CHECK(file.save({"a"}));
  CHECK(file.load()->rows.size() == 1);
}

TEST_CASE("rows file: words of a row") {
  const std::string odd = " a\\b c\n_d\\_ \\n";
  const std::string row = "12 ff " + word(odd) + " " + word("") + " -3 " + words(odd);
  CHECK(row.find('\n') == std::string::npos);
  RowReader reader(row);
  CHECK(reader.number<std::uint64_t>() == 12);
  CHECK(reader.number<std::uint32_t>(16) == 0xff);
  CHECK(reader.text() == odd);
  CHECK(reader.text().empty());
  CHECK(reader.number<int>() == -3);
  CHECK(reader.good());
  CHECK(reader.texts() == odd);
  CHECK(reader.at_end());
  for (const std::string_view bad : {"", "x", "12x", "-1", "4294967296", " 7"}) {
    CAPTURE(bad);
    RowReader other(bad);
    CHECK(other.number<std::uint32_t>() == 0);
    CHECK_FALSE(other.good());
  }
}

}  // namespace
}  // namespace l4
