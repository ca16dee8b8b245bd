#include "tools/l4/commands/demo/folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "tests/temp_folder.h"

namespace l4::commands::demo {
namespace {

namespace fs = std::filesystem;

TEST_CASE("demo folder: is private, and goes away with its owner") {
  const test::TempFolder base;
  fs::path path;
  {
    const auto folder = Folder::make(base.path());
    REQUIRE(folder);
    path = (*folder)->path();
    CHECK(path.parent_path() == base.path());
    CHECK(path.filename().string().starts_with("l4-demo-"));
    CHECK(fs::status(path).permissions() == fs::perms::owner_all);
    CHECK(fs::exists(path / "lock"));
    CHECK(remove_abandoned(base.path()).empty());
    CHECK(fs::exists(path));
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(fs::is_empty(base.path()));
}

TEST_CASE("demo folder: what nobody holds is removed, and nothing else") {
  const test::TempFolder base;
  const auto held = Folder::make(base.path());
  REQUIRE(held);
  base.file("l4-demo-aB3xY9/keys/aggregator.key");
  base.file("l4-demo-aB3xY9/lock");
  base.file("l4-demo-notes/todo.txt");  // of another form
  base.file("l4-demo-fileXX");          // no folder
  base.file(".l4-demo-young1/lock");    // may still get its name
  base.file(".l4-demo-older1/lock");
  const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, (base.path() / ".l4-demo-older1").c_str(), long_ago, 0) == 0);
  fs::create_directory_symlink(base.path() / "l4-demo-notes", base.path() / "l4-demo-linkXX");
  CHECK(remove_abandoned(base.path()) ==
        std::vector<fs::path>{base.path() / ".l4-demo-older1", base.path() / "l4-demo-aB3xY9"});
  CHECK(fs::exists((*held)->path()));
  CHECK(fs::exists(base.path() / "l4-demo-notes" / "todo.txt"));
  CHECK(fs::exists(base.path() / "l4-demo-fileXX"));
  CHECK(fs::exists(base.path() / "l4-demo-linkXX"));
  CHECK(fs::exists(base.path() / ".l4-demo-young1"));
}

TEST_CASE("demo folder: where none can be made is an error with the next step") {
  const auto folder = Folder::make("/no/such/place");
  REQUIRE_FALSE(folder);
  CHECK(folder.error().text() ==
        "/no/such/place: cannot make a folder: No such file or directory; TMPDIR names another "
        "place");
  CHECK(remove_abandoned("/no/such/place").empty());
}

}  // namespace
}  // namespace l4::commands::demo
