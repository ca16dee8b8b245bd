#include "tools/l4/keyring/keyring.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "common/wire/zmq/curve_key.h"
#include "common/wire/zmq/key_file.h"
#include "tests/temp_folder.h"

namespace l4::keyring {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("keyring: a thousand nodes in one call, each with its own file") {
  const test::TempFolder folder;
  const Keyring keyring(folder.path() / "keys");
  REQUIRE(keyring.init().has_value());
  CHECK(keyring.init().error().text().contains("is there already"));
  std::string names;
  for (int i = 0; i < 1'000; ++i) names += "node-" + std::to_string(i) + "\n\n# remark\n";
  const auto read = read_names(folder.file("names", names));
  REQUIRE(read.has_value());
  REQUIRE(keyring.add(*read, false).has_value());
  const auto list = keyring.list();
  REQUIRE(list.has_value());
  CHECK(list->entries().size() == 1'000);
  const auto server = wire::load_server_key(keyring.aggregator_key());
  REQUIRE(server.has_value());
  const auto node = wire::load_node_key(keyring.node_key("node-7"));
  REQUIRE(node.has_value());
  CHECK(node->name == "node-7");
  CHECK(node->server_key == server->public_key);
  CHECK(*list->name_of(node->public_key) == "node-7");
  CHECK(fs::status(keyring.node_key("node-7")).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("keyring: all keys of a site in one call") {
  const test::TempFolder folder;
  const Keyring keyring(folder.path() / "etc" / "l4" / "keys");
  REQUIRE(keyring.init({"a", "b", "*"}).has_value());
  const auto server = wire::load_server_key(keyring.aggregator_key());
  for (const char* name : {"a", "b", "*"}) {
    const auto node = wire::load_node_key(keyring.node_key(name));
    REQUIRE(node.has_value());
    CHECK(node->server_key == server->public_key);
    CHECK(*keyring.list()->name_of(node->public_key) == name);
  }
  const std::string before = text_of(keyring.allow_list());
  CHECK(keyring.init({"c"}).error().text().contains("l4 keys add"));
  CHECK(text_of(keyring.allow_list()) == before);
  // Keys of nodes without the aggregator's are of no use, and nothing takes their place unasked.
  fs::remove(keyring.aggregator_key());
  CHECK(keyring.init({"c"}).error().text().contains("is gone"));
}

TEST_CASE("keyring: a site's keys that cannot all be made leave nothing behind") {
  const test::TempFolder folder;
  const Keyring fresh(folder.path() / "x" / "keys");
  CHECK(fresh.init({"a", "b", "a"}).error().text() == "a: is named twice");
  CHECK_FALSE(fresh.init({"a", std::string(250, 'n')}).has_value());  // NAME_MAX is reached by .new
  CHECK_FALSE(fs::exists(folder.path() / "x"));
  // A folder in the place of the last file: the others are as they were.
  const Keyring old(folder.path() / "old");
  REQUIRE(old.init().has_value());
  fs::remove(old.aggregator_key());
  fs::create_directories(old.folder() / "aggregator.key.new" / "in the way");
  const std::string before = text_of(old.allow_list());
  CHECK_FALSE(old.init({"a", "b"}).has_value());
  CHECK(text_of(old.allow_list()) == before);
  CHECK(fs::is_empty(old.folder() / "nodes"));
  fs::remove_all(old.folder() / "aggregator.key.new");
  CHECK(old.init({"a", "b"}).has_value());
}

TEST_CASE("keyring: all or none is added, replaced, revoked") {
  const test::TempFolder folder;
  const Keyring keyring(folder.path());
  CHECK(Keyring(folder.path() / "none").add({"a"}, false).error().text().contains("l4 keys init"));
  REQUIRE(keyring.init().has_value());
  REQUIRE(keyring.add({"a", "b", "*"}, false).has_value());
  const std::string before = text_of(keyring.allow_list());
  CHECK(keyring.add({"c", "b"}, false).error().where == "b");
  CHECK(keyring.add({"c", "c"}, false).error().text() == "c: is named twice");
  CHECK_FALSE(keyring.add({"c", "d/e"}, false).has_value());
  CHECK(text_of(keyring.allow_list()) == before);
  const auto old_key = wire::load_node_key(keyring.node_key("b"))->public_key;
  REQUIRE(keyring.add({"b"}, true).has_value());
  CHECK(keyring.list()->entries().size() == 3);
  CHECK(keyring.list()->name_of(old_key) == nullptr);
  CHECK(keyring.revoke({"a", "x"}).error().where == "x");
  CHECK(keyring.list()->entries().size() == 3);
  REQUIRE(keyring.revoke({"a", "*"}).has_value());
  CHECK(keyring.list()->entries().size() == 1);
  CHECK_FALSE(fs::exists(keyring.node_key("a")));
  CHECK_FALSE(fs::exists(keyring.node_key("*")));
}

TEST_CASE("keyring: broken files are named with their line") {
  const test::TempFolder folder;
  const Keyring keyring(folder.path());
  REQUIRE(keyring.init().has_value());
  CHECK(read_names(folder.file("names", "a\n\nb c\n")).error().where.ends_with("names:3"));
  CHECK_FALSE(read_names(folder.path()).has_value());
  folder.file("allow-list", "# fine\nnode\n");
  CHECK(keyring.add({"a"}, false).error().text().ends_with("allow-list:2: no key behind node"));
  const auto keys = *wire::make_key_pair();
  folder.file("allow-list", "a " + keys.public_key + "\nb " + keys.public_key + "\n");
  CHECK(keyring.list().error().text().ends_with("allow-list:2: b has the key of a"));
  folder.file("aggregator.key", "public = \"x\"\nsecret = \"" + keys.secret_key + "\"\n");
  CHECK(keyring.add({"a"}, false).error().text().contains("aggregator.key:1"));
  folder.file("n.key", "name = \"a\"\npublic = \"" + keys.secret_key + "\"\nsecret = \"" +
                           keys.secret_key + "\"\naggregator = \"" + keys.public_key + "\"\n");
  CHECK(wire::load_node_key(folder.path() / "n.key").error().text().contains("does not belong"));
}

}  // namespace
}  // namespace l4::keyring
