// Findings made by hand over a job made by hand, for tests of single sources of clues.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose::clues::test {

/// Say and iterate on `job` first; what is found is set by hand afterwards.
class MadeScene {
 public:
  explicit MadeScene(job::test::MadeJob& job) : view_(job.view()), clock_(job::make_clock(view_)) {
    hints_.events.resize(view_.events.size());
    hints_.faults.resize(view_.events.size());
    hints_.accused.resize(view_.events.size());
  }

  Findings& findings() { return findings_; }
  const job::JobView& view() const { return view_; }
  detect::EventHint& hint(const std::string& part) { return hints_.events[event(part)]; }
  detect::Accused& accused(const std::string& part) { return hints_.accused[event(part)]; }
  Hints& hints() { return hints_; }
  State state = State::crashed;
  std::vector<std::uint32_t> lost = {};

  /// The line that holds `part` tells of the failure, wherever it stands.
  detect::FailureEvent& fail(const std::string& part, detect::Severity severity) {
    detect::FailureEvent failure;
    failure.event = event(part);
    failure.severity = severity;
    const job::EventView& all = view_.events[failure.event];
    for (std::uint32_t i = 0; i < all.at.size(); ++i) failure.occurrences.push_back(i);
    failure.first_stream = all.at.front().stream;
    failure.first_time = all.at.front().time;
    findings_.failures.events.push_back(failure);
    return findings_.failures.events.back();
  }

  std::vector<Clue> clues(std::vector<Clue> (*source)(const Scene&)) const {
    const Voices voices(findings_);
    return source({findings_, state, lost, shipped_scale(), voices});
  }

 private:
  std::uint32_t event(const std::string& part) const { return job::test::event_of(view_, part); }

  job::JobView view_;
  job::JobClock clock_;
  Hints hints_;
  Findings findings_{view_, clock_, hints_};
};

/// The clue of a rank; a rank with none, or with several, fails the test.
inline const Clue& of_rank(const std::vector<Clue>& clues, std::uint32_t rank) {
  const auto is_its = [&](const Clue& clue) {
    return clue.whose == Whose::rank && clue.index == rank;
  };
  REQUIRE(std::ranges::count_if(clues, is_its) == 1);
  return *std::ranges::find_if(clues, is_its);
}

}  // namespace l4::diagnose::clues::test
