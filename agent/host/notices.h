// Notices for the user: something that the agent may not read, or has no room for.
//
// Flow: classes of agent/host add notices, the agent writes them to its log. A kind is reported
// once until it is `clear`ed because it works again. Bounds: kinds are few and fixed. One thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace l4::host {

struct Notice {
  std::string_view kind;  ///< static text
  std::string text;       ///< one sentence without a full stop
};

class Notices {
 public:
  void add(std::string_view kind, std::string text) {
    if (added_.insert(kind).second) waiting_.push_back({kind, std::move(text)});
  }
  void clear(std::string_view kind) { added_.erase(kind); }
  std::vector<Notice> flush() { return std::exchange(waiting_, {}); }

 private:
  std::set<std::string_view> added_;
  std::vector<Notice> waiting_;
};

}  // namespace l4::host
