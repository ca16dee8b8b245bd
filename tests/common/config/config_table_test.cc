// Strict reading: requested values are returned, everything else is refused with its place.
#include "common/config/config_table.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "common/config/config_values.h"

namespace l4 {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) { std::ofstream(path_) << content; }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / "l4_config_table.toml";
};

TEST_CASE("values of every kind") {
  const TemporaryFile file(
      "title = \"a\"\ncount = 3\non = true\nwords = [\"x\", \"y\"]\n"
      "[[entry]]\nid = \"one\"\n[[entry]]\nid = \"two\"\n");
  auto root = ConfigTable::load(file.path());
  REQUIRE(root.has_value());
  CHECK(root->text("title") == "a");
  CHECK(root->integer_or("count", 0) == 3);
  CHECK(root->flag_or("on", false));
  CHECK(root->flag_or("off", false) == false);
  CHECK(root->texts("words") == std::vector<std::string>{"x", "y"});
  auto entries = root->tables("entry");
  REQUIRE(entries.size() == 2);
  CHECK(entries[1].choice("id", {"one", "two"}) == 1);
  CHECK(root->finish()->text() == file.path().string() + ":6: id: unknown key");
}

TEST_CASE("what was taken is known by table and key, fallbacks too") {
  const auto taken = [](std::string_view text) {
    auto root = ConfigTable::parse(text, "a.toml");
    REQUIRE(root.has_value());
    ConfigTable wire = root->table("wire");
    wire.integer_within("port", 7, 1, 10);
    wire.flag_or("on", true);
    wire.text_or("name", "n");
    CHECK_FALSE(root->finish());
    return root->taken();
  };
  const std::map<std::string, std::string> bare{
      {"wire.port", "7"}, {"wire.on", "true"}, {"wire.name", "n"}};
  CHECK(taken("") == bare);
  CHECK(taken("[wire]\nport = 7\non = true\n") == bare);
  CHECK(taken("wire = {port = 8}\n").at("wire.port") == "8");
  auto twice = ConfigTable::parse("[[wire]]\n[[wire]]\n", "a.toml");
  REQUIRE(twice.has_value());
  twice->table("wire");
  CHECK(twice->finish()->text() == "a.toml:2: wire: must be one table");
}

TEST_CASE("an error of a path is told behind the place that names it") {
  auto root = ConfigTable::parse("a = 'x'\nb = 'y'\nc = 'x'\n", "/etc/a.toml");
  REQUIRE(root.has_value());
  std::filesystem::path a, b, c;
  read_path(*root, "a", "/etc/a.toml", a);
  read_path(*root, "b", "/etc/a.toml", b);
  read_path(*root, "c", "/etc/a.toml", c);
  const auto said = [&](const std::filesystem::path& path) {
    return named_error(root->named_paths(), path, {path.string(), "is none"}).text();
  };
  CHECK(said(b) == "/etc/a.toml:2: b: /etc/y: is none");
  CHECK(said(c) == "/etc/a.toml:1: a: /etc/x: is none");
  CHECK(said("/etc/z") == "/etc/z: is none");
}

TEST_CASE("the first fault is reported with file, line and key") {
  const TemporaryFile file("a = 1\nb = [1]\n");
  auto root = ConfigTable::load(file.path());
  REQUIRE(root.has_value());
  CHECK(root->text("a").empty());
  CHECK(root->texts_or_none("b").empty());
  CHECK(root->finish()->text() == file.path().string() + ":1: a: must be a text");
  CHECK_FALSE(ConfigTable::load("/nonexistent/l4.toml").has_value());
}

TEST_CASE("values and elements of lists know their lines") {
  const TemporaryFile file("a = 1\n[[entry]]\nid = 'x'\nlist = [\n  'p',\n\n  'q']\n");
  auto root = ConfigTable::load(file.path());
  REQUIRE(root.has_value());
  auto entry = root->tables("entry").front();
  CHECK(entry.line_of("id") == 3);
  CHECK(entry.line_of("list") == 5);
  CHECK(entry.line_of("list", 1) == 7);
  CHECK(entry.line_of("list", 2) == 4);
  CHECK(entry.line_of("missing") == 2);
  entry.refuse("list", "has a wrong element", 1);
  CHECK(root->finish()->text() == file.path().string() + ":7: list: has a wrong element");
}

}  // namespace
}  // namespace l4
