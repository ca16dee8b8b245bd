// Answers how a job stood at a time of the past, from saved states and the journal.
// Flow: Aggregator::past -> ask() -> this thread: the newest saved state of the job at or before
// the time, or none if the journal still has the job's first batch; then PastJob with all that the
// journal has behind it. One question at a time, so that the cost is bounded by PastOptions and the
// memory of one job. Scoring never waits for it. `ask`, `set` and `stop` are for any thread.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "aggregator/past/past.h"
#include "aggregator/past/past_job.h"
#include "aggregator/scoring/options.h"
#include "aggregator/scoring/services.h"
#include "common/base/mutex.h"

namespace l4::past {

class PastDesk {
 public:
  static constexpr std::string_view kDamaged = "damaged";  ///< code of a problem

  PastDesk(PastOptions options, scoring::JobOptions job, Millis closes_after,
           scoring::Services services);
  ~PastDesk();
  PastDesk(const PastDesk&) = delete;
  PastDesk& operator=(const PastDesk&) = delete;

  /// False: the desk is busy with another question, or was stopped. Otherwise `then` is called
  /// once, on the desk's thread.
  bool ask(PastQuestion question, PastThen then);
  void set(const scoring::Thresholds& thresholds);
  /// Gives up the current question.
  void stop();

 private:
  struct Task {
    PastQuestion question;
    PastThen then;
  };
  /// The starting point: a saved state, or the begin of the job.
  struct Base {
    std::unique_ptr<PastJob> job;
    store::Seq after;
    TimeMs time;
  };
  void run(const std::stop_token& stop);
  PastAnswer answer(const PastQuestion& question, const std::stop_token& stop);
  std::vector<store::SavedState> usable(const PastQuestion& question,
                                        const store::SegmentList& segments) const;
  std::expected<Base, PastProblem> begin(const PastQuestion& question,
                                         const store::SegmentList& segments) const;
  PastAnswer replay(const PastQuestion& question, const Base& base,
                    const store::SegmentList& segments, const std::stop_token& stop) const;
  PastProblem damaged(const PastQuestion& question, const Base& base,
                      const store::Replayed& replayed) const;
  PastProblem too_large(std::uint64_t bytes) const;

  const PastOptions options_;
  const Millis closes_after_;
  scoring::Services services_;
  mutable Mutex mutex_;
  CondVar asked_;
  scoring::JobOptions job_ L4_GUARDED_BY(mutex_);
  std::optional<Task> task_ L4_GUARDED_BY(mutex_);
  bool busy_ L4_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last
};

}  // namespace l4::past
