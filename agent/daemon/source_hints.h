// What the sources of the settings miss: patterns that match no log, files that may not be read,
// and files that grow below a source and are read by none.
//
// Flow: Agent::step -> poll -> a survey on a thread of its own (l4-hints), since it may wait for a
// slow file system -> hints, which are logged once and go to the aggregator with the heartbeats.
// The first survey is made a minute after the start, the second one a minute later, further ones
// every ten minutes while there are hints. Owner's thread only. Bound: kHintsMax hints.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agent/daemon/own_log.h"
#include "agent/tail/source_survey.h"
#include "common/base/time.h"

namespace l4::daemon {

class SourceHints {
 public:
  /// `log` outlives this.
  SourceHints(OwnLog& log, Millis now) : log_(log), due_at_(now + kFirst) {}
  SourceHints(const SourceHints&) = delete;
  SourceHints& operator=(const SourceHints&) = delete;

  /// True if the hints have changed.
  bool poll(const std::vector<std::string>& sources, const std::vector<std::string>& excludes,
            Millis now);
  /// The sources are others now: what was found is void.
  void restart(Millis now);
  const std::vector<std::string>& hints() const { return hints_; }
  Millis due_at() const { return due_at_; }
  /// A survey is under way, or its result has not been fetched by poll() yet.
  bool is_surveying() const { return thread_.joinable(); }

 private:
  static constexpr Millis kFirst{60'000}, kAgain{600'000};

  bool apply(const std::vector<tail::SurveyedSource>& rows, Millis now);

  OwnLog& log_;
  Millis due_at_;
  bool is_first_ = true;  ///< no survey of these sources has ended yet
  bool is_void_ = false;  ///< the survey under way is of former sources
  std::vector<std::string> hints_;
  std::set<std::string> said_;
  std::map<std::string, std::uint64_t> sizes_;  ///< of files that no source reads, by path
  std::vector<tail::SurveyedSource> found_;     ///< written by the thread, read once it is done
  std::atomic<bool> done_{false};
  std::jthread thread_;  ///< last member: it ends before the others do
};

}  // namespace l4::daemon
