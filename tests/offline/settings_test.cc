#include "offline/settings.h"

#include <doctest/doctest.h>
#include <cstdlib>

#include <fstream>
#include <string>

namespace l4::offline {
namespace {

namespace fs = std::filesystem;

class File {
 public:
  explicit File(const std::string& content) {
    std::string pattern = (fs::temp_directory_path() / "l4_settings_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::ofstream(path()) << content;
  }
  ~File() { fs::remove_all(folder_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  fs::path path() const { return folder_ / "l4.toml"; }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

TEST_CASE("settings: the file that ships says what the defaults are") {
  const auto shipped = load_settings(L4_SOURCE_DIR "/config/diagnose.toml");
  REQUIRE(shipped);
  const Settings plain;
  CHECK(shipped->agent.drain.templates_max == plain.agent.drain.templates_max);
  CHECK(shipped->agent.drain.memo_entries_max == plain.agent.drain.memo_entries_max);
  CHECK(shipped->shares.templates_max == plain.shares.templates_max);
  CHECK(shipped->shares.sequence_events_max == plain.shares.sequence_events_max);
  CHECK(shipped->agent.decode.line_bytes_max == plain.agent.decode.line_bytes_max);
  CHECK(shipped->hang.floor == plain.hang.floor);
  CHECK(shipped->hang.floor_min == plain.hang.floor_min);
  CHECK(shipped->archive_bytes_max == plain.archive_bytes_max);
  CHECK(shipped->frameworks == fs::path(L4_SOURCE_DIR) / "config/frameworks");
  REQUIRE(shipped->codes);
  CHECK(shipped->codes->rules() == drain::default_codes().rules());
}

TEST_CASE("settings: values and paths are taken") {
  const File file(
      "[drain]\ntemplates_max = 500\n[memory]\ntemplates_max_total = 7000\n[detect]\nhang_floor_s "
      "= 5\n"
      "[paths]\nfaults = \"mine\"\n");
  const auto settings = load_settings(file.path());
  REQUIRE(settings);
  CHECK(settings->agent.drain.templates_max == 500);
  CHECK(settings->shares.templates_max == 7000);
  CHECK(settings->hang.floor == Millis{5000});
  CHECK(settings->hang.floor_min == Millis{5000});
  CHECK(settings->faults == file.folder() / "mine");
}

TEST_CASE("settings: what is wrong is named with file, line and key") {
  struct Row {
    const char* content;
    const char* where;
  };
  for (const Row& row : {Row{"[drain]\ntemplate_max = 3\n", ":2: template_max"},
                         Row{"[drain]\ntemplates_max = 3\n", ":2: templates_max"},
                         Row{"[detect]\nhang_floor_s = \"x\"\n", ":2: hang_floor_s"},
                         Row{"\n[drian]\n", ":2: drian"}, Row{"[x\n", ":1"}}) {
    const File file(row.content);
    const auto settings = load_settings(file.path());
    REQUIRE_FALSE(settings);
    CHECK(settings.error().where.ends_with(file.path().string() + row.where));
  }
  CHECK_FALSE(load_settings("/nowhere/l4.toml"));
}

}  // namespace
}  // namespace l4::offline
