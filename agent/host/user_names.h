// Names of the users who own log files.
//
// Flow: Intake asks with the number that stat gives -> a name, or nothing until it is known. The
// users of a cluster stand in a directory service (LDAP, SSSD), and asking it may take seconds: so
// they are looked up on a thread of their own (l4-users), which lives while numbers wait. Owner's
// thread only. Bound: kMost names; further users are called by their numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace l4::host {

using UserId = std::uint32_t;

/// The name of a user of this host; empty where nobody knows one. May wait for a service.
std::string look_up_user(UserId id);

class UserNames {
 public:
  static constexpr std::size_t kMost = 4096;
  using LookUp = std::function<std::string(UserId)>;

  /// Without `look_up` no name is ever known.
  explicit UserNames(LookUp look_up) : look_up_(std::move(look_up)) {}
  UserNames(const UserNames&) = delete;
  UserNames& operator=(const UserNames&) = delete;

  /// The name, or the number as text if it has none; nothing while it is looked up.
  std::optional<std::string> name_of(UserId id);
  /// True if names have become known since the last call. Begins to look up what waits.
  bool poll();
  /// Names are being looked up, or were and poll() has not taken them yet.
  bool is_looking() const { return thread_.joinable() || !waiting_.empty(); }

 private:
  LookUp look_up_;
  std::map<UserId, std::optional<std::string>> names_;  ///< no name: it is looked up
  std::vector<UserId> waiting_;
  std::map<UserId, std::string> found_;  ///< written by the thread, read once it is done
  std::atomic<bool> done_{false};
  std::jthread thread_;  ///< last member: it ends before the others do
};

}  // namespace l4::host
