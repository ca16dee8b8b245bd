// Many incidents at once: the first of a window are told one by one, the rest of it together.
//
// Flow: Alerter asks, for each sink that does not group by itself, what is to be sent instead of an
// alert. A window begins with the first incident after the one before; the summary is due at its
// end and grows until then. Once all incidents of a summary are resolved, that is told once. Pure:
// the clock is an argument; whoever owns it locks and stores. Bounds: 16 storms, 1,000 incidents
// each, whose changes and ends are kept back; the oldest storm is forgotten first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aggregator/alert/alert.h"

namespace l4::alert {

struct StormOptions {
  Millis window{30'000};
  std::size_t incidents = 8;  ///< of a window that are told one by one; 0: all of all
};

class Storm {
 public:
  explicit Storm(StormOptions options) : options_(options) {}
  void set(StormOptions options) { options_ = options; }

  struct Decision {
    bool alone = true;             ///< the alert is sent as it is
    std::optional<Alert> instead;  ///< takes the place of the summary before
    TimeMs due{};                  ///< of that
    std::string key;               ///< of the storm that has changed; empty: none
  };
  Decision decide(const Alert& alert, TimeMs now);

  /// The open incidents of a storm, a line each; empty if it is over. `restore` takes it back.
  std::string saved(const std::string& key) const;
  void restore(const std::string& key, const std::string& saved);

 private:
  struct One {
    std::string key, told;       ///< `told`: the jobs, as in the summary
    std::set<std::string> open;  ///< incidents
    std::vector<std::string> incidents;
    std::uint64_t count = 0;
    State state = State::unknown;  ///< the gravest
    bool tells = true;             ///< of this window: its summary still grows
  };
  Alert summary(const One& one, TimeMs now) const;
  Decision joins(const Alert& alert, TimeMs now);
  Decision ends(const Alert& alert, const std::deque<One>::iterator& at, TimeMs now);

  StormOptions options_;
  std::deque<One> storms_;
  std::optional<TimeMs> window_;  ///< its beginning
  std::size_t seen_ = 0;          ///< incidents that opened in it
};

}  // namespace l4::alert
