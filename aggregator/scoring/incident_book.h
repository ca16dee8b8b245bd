// The incidents of one job: one for each attempt, opened, updated and resolved by its reports.
// Flow: LiveJob gives every report and the triggers that led to it, and gets changes back: rows to
// store and alerts to send. An attempt is *suspected* while triggers are not confirmed (for
// information only, never stored). Its incident is *open* from the first report that says how it
// failed, and *resolved* by a report that the job goes on, has ended well, or goes on as another
// attempt. If the same attempt fails again, the same incident opens again. The report at the
// opening is kept beside the newest one. Pure, one thread; bounds: 64 attempts, 32 triggers each;
// oldest first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/alert/alert.h"
#include "aggregator/diagnose/report.h"
#include "aggregator/store/database.h"
#include "aggregator/watch/job_watch.h"

namespace l4::scoring {

/// The head of a stored incident, made of its report and its evidence.
store::IncidentHead head_of(const store::Incident& row);
/// The alert that opens a stored incident, as of its newest report; none if that cannot be read.
std::optional<alert::Alert> standing_alert(const store::Incident& row);

class IncidentBook {
 public:
  struct Options {
    double confidence_min = 0.5;  ///< confidence that a state needs to open an incident
    /// Triggers stay pending for this long without a report that confirms them.
    Millis checks_for{60'000};
    /// Waits between alerts of one incident: the shortest, after the opening, and the longest. Each
    /// wait is twice the one before; a worse state is sent at once. The first report rests on the
    /// first lines of a failure, perhaps of one node alone, so its correction is sent soonest.
    Millis tells_soon{1'000}, tells_every{30'000};
  };
  struct Changes {
    std::vector<store::Incident> rows;
    std::vector<alert::Alert> alerts;
  };

  /// `source`: of the incidents (store::Incident).
  IncidentBook(std::string job, Options options, std::string source = {})
      : job_(std::move(job)), source_(std::move(source)), options_(options) {}
  void set(Options options) { options_ = options; }

  /// Restores the stored incidents of this job. They are not sent again, except for pending
  /// changes. None is resolved before heard(): a restart begins all silences anew, which does not
  /// show that the job goes on.
  void restore(const std::vector<store::Incident>& rows);
  /// A batch of the job has arrived since restore().
  void heard() { heard_ = true; }

  void triggered(const std::vector<watch::Trigger>& triggers, TimeMs now);
  Changes diagnosed(const diagnose::Report& report, TimeMs now);

  /// A trigger is neither confirmed nor over, so the job is checked again.
  bool is_checked(TimeMs now) const { return checked_until_ && now < *checked_until_; }
  /// A trigger is pending, and the newest report does not say that all is well.
  bool is_suspect(TimeMs now) const { return is_checked(now) && !well_ && !has_open(); }
  bool has_open() const;
  bool has_any() const { return !entries_.empty(); }  ///< open or resolved
  /// When a change that came too soon after the last alert may be sent: a report must be made then,
  /// even if no line arrived meanwhile.
  std::optional<TimeMs> owes_at() const;
  /// Each open incident, as it was last sent.
  std::vector<State> open_states() const;
  /// Id of the open incident of the newest attempt that has one; empty if there is none.
  std::string open_id() const;

 private:
  struct Entry {
    store::Incident row;
    std::string opening;      ///< JSON of the report at the first opening
    std::string resolved_by;  ///< a sentence, as sent; empty while it is open
    std::vector<watch::Trigger> triggers;
    std::string restored_evidence;  ///< evidence from before a restart
    State state = State::unknown;   ///< as last sent
    int gravest = 0;                ///< gravity of the worst state sent since the opening
    TimeMs told_at{};
    Millis waits{Millis::max()};  ///< time from told_at until a change is sent; at most tells_every
    std::optional<TimeMs> owed_at;
    std::uint32_t openings = 0;
    bool open = false;
  };
  static store::Gist gist_of(State state, const diagnose::Report& report);
  void fails(std::int32_t attempt, State state, std::optional<TimeMs> since,
             const diagnose::Report& report, TimeMs now, Changes& changes);
  void resolve(Entry& entry, const diagnose::Report& report, const std::string& why, TimeMs now,
               Changes& changes);
  void write(Entry& entry, Changes& changes) const;

  std::string job_, source_;
  Options options_;
  std::map<std::int32_t, Entry> entries_;  ///< by attempt
  std::vector<watch::Trigger> triggers_;   ///< triggers since the last report
  std::optional<TimeMs> checked_until_;
  bool well_ = false;  ///< the newest report says that all is well
  bool heard_ = true;  ///< a batch has arrived since restore()
};

}  // namespace l4::scoring
