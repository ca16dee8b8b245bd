// The part of the journal that is still needed: records that no checkpoint holds.
// Each state has a name. A state with records after its checkpoint needs the journal from that
// checkpoint on. Plain values; the caller locks.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "aggregator/store/record.h"
#include "common/base/check.h"

namespace l4::store {

class Needs {
 public:
  /// A record of that state got the number `seq`.
  void appended(const std::string& name, Seq seq) {
    State& state = states_[name];
    L4_CHECK(seq > state.last, "record {} of {} comes behind {}", seq, name, state.last);
    // The state has no record between its checkpoint and `seq`, so the floor never goes down.
    if (state.last <= state.saved) state.saved = std::max(state.saved, Seq{seq.value() - 1});
    state.last = seq;
  }
  /// A checkpoint holds the records of the state up to `position`.
  void saved(const std::string& name, Seq position) {
    State& state = states_[name];
    state.saved = std::max(state.saved, position);
  }
  /// The state is over: its records up to `position` are not needed.
  void closed(const std::string& name, Seq position) {
    const auto at = states_.find(name);
    if (at == states_.end()) return;
    if (at->second.last <= position)
      states_.erase(at);
    else
      at->second.saved = std::max(at->second.saved, position);
  }
  /// True if the state is open.
  bool has(const std::string& name) const { return states_.contains(name); }
  /// No state needs the records up to this number; `last` is the last durable one.
  Seq floor(Seq last) const {
    Seq floor = last;
    for (const auto& [name, state] : states_)
      if (state.last > state.saved) floor = std::min(floor, state.saved);
    return floor;
  }

 private:
  struct State {
    Seq saved, last;
  };
  std::map<std::string, State> states_;
};

}  // namespace l4::store
