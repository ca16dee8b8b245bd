// Receivers of alerts for tests, by URL, with a clock that stands until it is set.
//
// Any thread may post; arrived posts, tries and log lines are recorded.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/alert/alerter.h"
#include "aggregator/alert/alertmanager.h"
#include "aggregator/alert/pagerduty.h"
#include "aggregator/alert/slack.h"
#include "tests/temp_folder.h"

namespace l4::alert {

struct World {
  store::Database database() const { return {folder.path() / "state.db", {}}; }
  Hooks hooks() {
    return {[this](const Request& request) { return post(request); },
            [this](const std::string& line) {
              const std::lock_guard lock(mutex);
              lines.push_back(line);
            },
            [this] { return TimeMs{Millis{clock.load()}}; }};
  }
  Result<unsigned> post(const Request& request) {
    const std::lock_guard lock(mutex);
    ++tries[request.url];
    if (const auto at = status.find(request.url); at != status.end()) {
      if (at->second == 0) return std::unexpected(Error{request.url, "connection refused"});
      if (refused.empty() || request.body.find(refused) != std::string::npos) return at->second;
    }
    bodies[request.url].push_back(request.body);
    return 200;
  }
  std::size_t count(const std::string& url) {
    const std::lock_guard lock(mutex);
    return bodies[url].size();
  }
  std::string body(const std::string& url, std::size_t at) {
    const std::lock_guard lock(mutex);
    return bodies[url].at(at);
  }
  void set(const std::string& url, unsigned answer) {
    const std::lock_guard lock(mutex);
    status[url] = answer;
  }
  void heal() {
    const std::lock_guard lock(mutex);
    status.clear();
  }
  bool wait(const std::function<bool()>& until) const {
    for (int i = 0; i < 5'000; ++i) {
      if (until()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  /// Waits until Alertmanager has got every due alert and the database says so.
  bool settle(store::Database& database) const {
    return wait([&] { return database.due("am", TimeMs{Millis{clock.load()}}, 1)->empty(); });
  }
  bool said(const std::string& part) {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(
        lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  /// Sleeps long enough for a thread to poll several times.
  void rest() const { std::this_thread::sleep_for(std::chrono::milliseconds(40)); }
  void pass(std::int64_t seconds) { clock += seconds * 1000; }

  test::TempFolder folder;
  std::atomic<std::int64_t> clock{1'000'000'000};
  std::mutex mutex;
  std::map<std::string, unsigned> status;  ///< 0: no answer
  std::string refused;                     ///< empty: everything
  std::map<std::string, int> tries;
  std::map<std::string, std::vector<std::string>> bodies;
  std::vector<std::string> lines;
};

inline constexpr auto kManager = "http://am/api/v2/alerts";

inline AlerterOptions options() {
  AlerterOptions made;
  made.sinks = {{.name = "am", .kind = &kAlertmanager, .url = "http://am"},
                {.name = "chat", .kind = &kSlack, .url = "http://chat"},
                {.name = "pager", .kind = &kPagerDuty, .url = "http://pager"}};
  made.sender.poll_every = Millis{2};
  return made;
}

inline Alert alert(const std::string& job, Kind kind = Kind::opened) {
  Alert made;
  made.kind = kind;
  made.at = TimeMs{Millis{1'000'000'000}};
  made.job = job;
  made.incident = job + ".0.1";
  made.state = State::crashed;
  made.summary = "it is " + job;
  return made;
}

inline void send(Alerter& alerter, const Alert& alert, const store::Incident* incident = nullptr) {
  REQUIRE(alerter.send(alert, incident).has_value());
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace l4::alert
