// Many incidents at once: the first ones of a window are sent one by one, the others in a summary.
//
// Flow: for each sink that does not group by itself, Alerter asks what to send instead of an alert.
// A window begins with the first incident after the former window; the summary is due at its end
// and grows until then. When all incidents of a summary are resolved, one alert says so. Pure: the
// clock is an argument; the owner locks and stores. Bounds: 16 storms with 1,000 incidents each,
// whose changes and ends are held back; the oldest storm is dropped first.
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
  std::size_t incidents = 8;  ///< sent one by one in each window; 0: all of them
};

class Storm {
 public:
  explicit Storm(StormOptions options) : options_(options) {}
  void set(StormOptions options) { options_ = options; }

  struct Decision {
    bool alone = true;             ///< the alert is sent as it is
    std::optional<Alert> instead;  ///< a summary that replaces the former summary
    TimeMs due{};                  ///< when the summary is sent
    std::string key;               ///< the alert of the changed storm; empty: none
  };
  Decision decide(const Alert& alert, TimeMs now);

  /// The open incidents of a storm, one line each, for `restore`; empty if the storm is over.
  std::string saved(const std::string& key) const;
  void restore(const std::string& key, const std::string& saved);

 private:
  struct Group {
    std::string key, jobs;       ///< `jobs`: as in the summary
    std::set<std::string> open;  ///< incidents
    std::vector<std::string> incidents;
    std::uint64_t count = 0;
    State state = State::unknown;  ///< the gravest
    bool growing = true;           ///< belongs to the current window
  };
  Alert summary(const Group& group, TimeMs now) const;
  Decision add(const Alert& alert, TimeMs now);
  Decision resolve(const Alert& alert, const std::deque<Group>::iterator& at, TimeMs now);

  StormOptions options_;
  std::deque<Group> groups_;
  std::optional<TimeMs> window_;  ///< when the current window began
  std::size_t seen_ = 0;          ///< incidents that opened in this window
};

}  // namespace l4::alert
