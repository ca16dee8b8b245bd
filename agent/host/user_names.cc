#include "agent/host/user_names.h"

#include <pwd.h>

#include <cerrno>
#include <utility>

#include "common/base/thread.h"
#include "common/wire/limits.h"

namespace l4::host {

std::string look_up_user(UserId id) {
  constexpr std::size_t kRoom = 1024, kRoomMost = 1u << 20;  // a row of many comments is long
  for (std::size_t room = kRoom; room <= kRoomMost; room *= 4) {
    std::vector<char> text(room);
    passwd entry{};
    passwd* found = nullptr;
    const int error = ::getpwuid_r(id, &entry, text.data(), text.size(), &found);
    if (error == ERANGE) continue;
    return found == nullptr ? std::string() : std::string(entry.pw_name);
  }
  return {};
}

std::optional<std::string> UserNames::name_of(UserId id) {
  if (!look_up_) return std::nullopt;
  const auto known = names_.find(id);
  if (known != names_.end()) return known->second;
  if (names_.size() >= kMost) return std::to_string(id);
  names_.emplace(id, std::nullopt);
  waiting_.push_back(id);
  return std::nullopt;
}

bool UserNames::poll() {
  bool news = false;
  if (thread_.joinable()) {
    if (!done_) return false;
    thread_.join();
    thread_ = {};
    news = !found_.empty();
    for (auto& [id, name] : std::exchange(found_, {})) {
      const bool fits = !name.empty() && name.size() <= wire::kUserBytesMax;
      names_[id] = fits ? std::move(name) : std::to_string(id);
    }
  }
  if (waiting_.empty()) return news;
  done_ = false;
  thread_ = start_thread("l4-users", [this, ids = std::exchange(waiting_, {})] {
    for (const UserId id : ids) found_[id] = look_up_(id);
    done_ = true;
  });
  return news;
}

}  // namespace l4::host
