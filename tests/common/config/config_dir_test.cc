// Rule packs are found beside the binary or where the environment says.
#include "common/config/config_dir.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace l4 {
namespace {

/// L4_CONFIG_DIR with another value, or none, until the end of the scope.
class ConfigDir {
 public:
  explicit ConfigDir(const char* value) {
    if (const char* old = std::getenv("L4_CONFIG_DIR")) old_ = old;
    value == nullptr ? ::unsetenv("L4_CONFIG_DIR") : ::setenv("L4_CONFIG_DIR", value, 1);
  }
  ~ConfigDir() { old_ ? ::setenv("L4_CONFIG_DIR", old_->c_str(), 1) : ::unsetenv("L4_CONFIG_DIR"); }
  ConfigDir(const ConfigDir&) = delete;
  ConfigDir& operator=(const ConfigDir&) = delete;

 private:
  std::optional<std::string> old_;
};

TEST_CASE("the environment comes first") {
  const ConfigDir given("/somewhere/else");
  CHECK(find_config_dir() == "/somewhere/else");
}

TEST_CASE("a build inside the source tree finds the tree's own packs") {
  const ConfigDir none(nullptr);
  const auto found = find_config_dir();
  REQUIRE_FALSE(found.empty());
  CHECK(std::filesystem::is_directory(found / "frameworks"));
  CHECK(std::filesystem::is_directory(found / "faults"));
}

TEST_CASE("a build inside the source tree finds the tree's own samples") {
  const auto found = find_samples_dir();
  REQUIRE_FALSE(found.empty());
  CHECK(std::filesystem::is_directory(found / "crash-rank4" / "node-02"));
}

TEST_CASE("a build inside the source tree finds the tree's own manual") {
  CHECK(std::filesystem::is_regular_file(find_docs_dir() / "ALERTS.md"));
}

}  // namespace
}  // namespace l4
