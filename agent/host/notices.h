// What a user must be told once: something that the agent may not read or has not room for.
//
// Flow: parts of agent/host say it, the agent takes it into its log and its warnings. A kind is
// said once until it is `clear`ed because it works again. Bounds: kinds are few and fixed. One
// thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace l4::host {

struct Notice {
  std::string_view kind;  ///< static text
  std::string text;       ///< one sentence without a stop
};

class Notices {
 public:
  void say(std::string_view kind, std::string text) {
    if (said_.insert(kind).second) waiting_.push_back({kind, std::move(text)});
  }
  void clear(std::string_view kind) { said_.erase(kind); }
  std::vector<Notice> take() { return std::exchange(waiting_, {}); }

 private:
  std::set<std::string_view> said_;
  std::vector<Notice> waiting_;
};

}  // namespace l4::host
