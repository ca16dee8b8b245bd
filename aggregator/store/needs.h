// Which part of the journal is still needed: what no checkpoint holds.
//
// A state is known by its name; it needs the journal from behind its checkpoint on, but only if
// something came after that. Values; the caller locks.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "aggregator/store/record.h"

namespace l4::store {

class Needs {
 public:
  /// A record of that state was numbered.
  void appended(const std::string& name, Seq seq) {
    State& state = states_[name];
    // Nothing of it stands between its checkpoint and here: the floor never goes down.
    if (state.last <= state.saved) state.saved = std::max(state.saved, Seq{seq.value() - 1});
    state.last = seq;
  }
  /// A checkpoint holds it up to there.
  void saved(const std::string& name, Seq position) {
    State& state = states_[name];
    state.saved = std::max(state.saved, position);
  }
  /// Nothing of it up to there is needed.
  void closed(const std::string& name, Seq position) {
    const auto at = states_.find(name);
    if (at == states_.end()) return;
    if (at->second.last <= position)
      states_.erase(at);
    else
      at->second.saved = std::max(at->second.saved, position);
  }
  /// The state is open: it may be asked for whatever the clock says.
  bool has(const std::string& name) const { return states_.contains(name); }
  /// Nobody needs what is numbered up to here; `taken` is the last number given.
  Seq floor(Seq taken) const {
    Seq floor = taken;
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
