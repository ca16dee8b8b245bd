#include "tools/l4/commands/local/site.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "aggregator/http/tokens.h"
#include "tests/temp_folder.h"
#include "tools/l4/ask/client_file.h"

namespace l4::commands::local {
namespace {

namespace fs = std::filesystem;

fs::perms mode_of(const fs::path& file) {
  return fs::status(file).permissions();
}

TEST_CASE("local site: private files, a token that the server knows, one holder") {
  const test::TempFolder folder;
  const fs::path at = folder.path() / "state" / "here";
  {
    const auto site = Site::open(at);
    REQUIRE(site.has_value());
    CHECK(mode_of(at) == fs::perms::owner_all);
    for (const fs::path& file : {at / "token", site->tokens()})
      CHECK(mode_of(file) == (fs::perms::owner_read | fs::perms::owner_write));
    const auto rows = http::read_tokens(site->tokens());
    REQUIRE(rows.has_value());
    CHECK(rows->front().hash == http::sha256_of(site->token()));
    CHECK(rows->front().role == http::Role::operate);

    REQUIRE(site->publish("http://127.0.0.1:12345").has_value());
    const auto client = ask::read_client_file(site->client_file());
    REQUIRE(client.has_value());
    CHECK(client->address == "http://127.0.0.1:12345");
    std::string token;
    std::ifstream(client->token_file) >> token;
    CHECK(token == site->token());

    const auto second = Site::open(at);
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().text().contains("l4 jobs"));
    CHECK(second.error().text().contains("pid "));
    CHECK(fs::exists(site->client_file()));  // the refused one took nothing away
  }
  CHECK_FALSE(fs::exists(at / "client.toml"));
  CHECK_FALSE(fs::exists(at / "token"));
  const auto again = Site::open(at);
  CHECK(again.has_value());
}

TEST_CASE("local site: a folder that cannot be made is named") {
  const test::TempFolder folder;
  const fs::path file = folder.file("file", "text");
  const auto site = Site::open(file / "state");
  REQUIRE_FALSE(site.has_value());
  CHECK(site.error().where == (file / "state").string());
}

TEST_CASE("local site: the state belongs to the set of paths") {
  ::setenv("XDG_STATE_HOME", "/state", 1);
  const auto one = state_folder_for({"/logs/job-7", "/tmp/x"});
  REQUIRE(one.has_value());
  CHECK(one->parent_path() == "/state/l4/local");
  CHECK(one->filename().string().starts_with("job-7-"));
  CHECK(*state_folder_for({"/tmp/x", "/logs/job-7"}) == *one);
  CHECK(*state_folder_for({"/logs/job-7"}) != *one);
  CHECK(state_folder_for({"/"})->filename().string().starts_with("logs-"));
  CHECK(state_folder_for({"/a/*"})->filename().string().starts_with("_-"));
  ::setenv("XDG_STATE_HOME", "relative", 1);
  const auto elsewhere = state_folder_for({"/logs/job-7"});
  CHECK((!elsewhere || elsewhere->is_absolute()));
  ::unsetenv("XDG_STATE_HOME");
}

}  // namespace
}  // namespace l4::commands::local
