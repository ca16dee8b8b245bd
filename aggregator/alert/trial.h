// A test of the sinks: which of them took a test alert, and why not.
//
// Flow: Alerter::test makes a Trial of the wanted sinks; each Sender tries its own and says how it
// went; Alerter::poll ends a Trial whose senders are busy for too long. `then` is called once, with
// a row for each sink, on the thread of the last one. Any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/mutex.h"
#include "common/base/time.h"

namespace l4::alert {

struct TrialRow {
  std::string sink, kind;
  bool took = false;
  std::string why_not;  ///< empty if it took it
  Millis lasted{0};     ///< how long it took
};
using TrialThen = std::function<void(std::vector<TrialRow>)>;

/// Why there is no test.
struct TrialRefusal {
  bool under_way = false;  ///< another test is; else there is no such sink
  std::string message;
};

class Trial {
 public:
  static constexpr Millis kMost{20'000};

  /// `rows`: name and kind of each sink.
  Trial(std::vector<TrialRow> rows, TimeMs now, TrialThen then);

  void done(std::size_t row, const Result<void>& result, Millis lasted);
  /// Ends it if it has lasted too long. True if it is over.
  bool expire(TimeMs now);

 private:
  bool finish(std::vector<TrialRow>& rows) L4_REQUIRES(mutex_);

  const TimeMs begun_;
  const TrialThen then_;
  Mutex mutex_;
  std::vector<TrialRow> rows_ L4_GUARDED_BY(mutex_);
  std::vector<bool> waits_ L4_GUARDED_BY(mutex_);
  bool over_ L4_GUARDED_BY(mutex_) = false;
};

/// One line for the log: who asked, and how it went.
std::string to_line(const std::vector<TrialRow>& rows, std::string_view who);

}  // namespace l4::alert
