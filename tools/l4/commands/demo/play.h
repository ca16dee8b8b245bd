// One demo from its begin to its end.
//
// Flow: the site starts (crew.h), the recording is written again (tools/l4/replay), what comes of
// it is shown (story.h, display.h) until the report has settled, and with `keep` until it is ended.
// The thread that calls run() does all of it but following the alerts (feed.h); it is the main
// thread, with which the programs end. The destructor ends them and removes the folder.
#pragma once

#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "common/base/error.h"
#include "tools/l4/commands/demo/command.h"
#include "tools/l4/commands/demo/crew.h"
#include "tools/l4/commands/demo/display.h"
#include "tools/l4/commands/demo/feed.h"
#include "tools/l4/commands/demo/folder.h"
#include "tools/l4/commands/demo/recent_lines.h"
#include "tools/l4/commands/demo/signals.h"
#include "tools/l4/commands/demo/site.h"
#include "tools/l4/commands/demo/story.h"
#include "tools/l4/replay/replay.h"

namespace l4::commands::demo {

/// Why a demo ends before its end.
struct Stop {
  int exit = 0;
  std::optional<Error> error;  ///< none: a signal, or a reader that went away
};
template <class T>
using Step = std::expected<T, Stop>;

/// What a demo has shown.
struct Shown {
  std::optional<ask::ChangeRow> alert;  ///< the first
  std::vector<Delay> delays;            ///< how soon it came
  diagnose::Report report;
};

class Play {
 public:
  Play(const DemoOptions& options, Display& display, Signals& signals);
  ~Play();
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;

  Step<Shown> run();
  /// Ends the programs and removes the folder. Error: something is left.
  Result<void> clean_up();
  /// Whether programs were started.
  bool has_started() const { return crew_.has_value(); }

 private:
  Step<void> prepare();
  Step<void> load();
  Step<void> start();
  Step<void> wait_for_agents();
  Step<void> write_recording();
  Step<void> tell_report();
  Step<void> stay();

  /// Stop: a program has ended, a signal has come, or nobody reads what is shown.
  Step<void> check();
  /// Waits for a signal or an alert until the time has come.
  void wait_until(TimeMs time) const;
  Step<void> write_due(TimeMs now);
  void tell_alerts();
  void tell_progress(TimeMs now);
  void ask_progress(TimeMs now);
  bool is_settled(TimeMs now) const;
  bool awaits_alert(TimeMs now);
  TimeMs written_from(std::optional<TimeMs> printed) const;
  std::vector<Delay> delays_of(const ask::ChangeRow& alert);

  const DemoOptions& options_;
  Display& display_;
  Signals& signals_;
  std::filesystem::path recording_;
  std::unique_ptr<Folder> folder_;
  std::optional<replay::Replay> replay_;
  std::optional<Site> site_;
  std::unique_ptr<Feed> feed_;  ///< ended behind the crew, see feed.h
  std::optional<Crew> crew_;
  ask::Aggregator asked_;

  Progress progress_;
  RecentLines recent_;
  TimeMs begun_{}, asked_at_{}, told_at_{}, moved_at_{};
  std::optional<TimeMs> next_due_;
  std::string open_state_;          ///< of the newest alert, while it is not resolved
  std::optional<bool> is_awaited_;  ///< whether an alert may come, once all was written
  Shown shown_;
};

}  // namespace l4::commands::demo
