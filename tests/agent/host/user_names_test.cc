// Names of users are looked up beside the agent's work, each once.
#include "agent/host/user_names.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "common/wire/limits.h"

namespace l4::host {
namespace {

/// Polls until what waits is known; false if that takes ten seconds.
bool settle(UserNames& users) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  bool news = false;
  while (users.is_looking() && std::chrono::steady_clock::now() < end) {
    news |= users.poll();
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return news && !users.is_looking();
}

TEST_CASE("user names: a name is known once it was looked up, and is looked up once") {
  std::vector<UserId> asked;
  UserNames users([&](UserId id) {
    asked.push_back(id);
    return id == 7 ? std::string("alice") : std::string();
  });
  CHECK_FALSE(users.poll());
  CHECK_FALSE(users.name_of(7));
  CHECK_FALSE(users.name_of(7));
  CHECK_FALSE(users.name_of(8));
  REQUIRE(settle(users));
  CHECK(users.name_of(7) == "alice");
  CHECK(users.name_of(8) == "8");  // nobody knows a name
  CHECK_FALSE(users.is_looking());
  CHECK(asked == std::vector<UserId>{7, 8});
}

TEST_CASE("user names: a name that the wire does not take is a number") {
  UserNames users([](UserId id) { return std::string(wire::kUserBytesMax + (id == 2), 'n'); });
  for (const UserId id : {1, 2}) CHECK_FALSE(users.name_of(id));
  REQUIRE(settle(users));
  CHECK(users.name_of(1) == std::string(wire::kUserBytesMax, 'n'));
  CHECK(users.name_of(2) == "2");
}

TEST_CASE("user names: more users than are kept are called by number") {
  std::size_t asked = 0;
  UserNames users([&](UserId) {
    ++asked;
    return std::string("somebody");
  });
  for (UserId id = 0; id < UserNames::kMost; ++id) CHECK_FALSE(users.name_of(id));
  CHECK(users.name_of(UserNames::kMost) == std::to_string(UserNames::kMost));
  REQUIRE(settle(users));
  CHECK(asked == UserNames::kMost);
}

TEST_CASE("user names: without a way to look up nobody is known and nothing waits") {
  UserNames users({});
  CHECK_FALSE(users.name_of(0));
  CHECK_FALSE(users.is_looking());
}

TEST_CASE("user names: this host's") {
  CHECK(look_up_user(0) == "root");
  CHECK(look_up_user(4'000'000'123U).empty());
}

}  // namespace
}  // namespace l4::host
