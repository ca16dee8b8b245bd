// Whether a new event is set apart by comparison alone: by what healthy runs print, by the place in
// its log, by the nodes that print it.
//
// Place in the flow: find_failure_events() asks it for new events whose wording says nothing of a
// failure; what words and the fault library know weighs in, but is no condition (the paper, 5.2 and
// 5.3: an event tells of the failure if healthy runs do not print it and it is where the job
// stopped). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

/// What is known beside the lines of the job.
struct Known {
  bool runs = false;    ///< healthy runs: the hints tell which events they print
  bool wording = true;  ///< what lines say: a line that says nothing bad is hardly a failure
};

/// How far each stream of a job went on as healthy runs do.
class UsualCourse {
 public:
  UsualCourse(const job::JobView& view, const std::vector<EventHint>& hints, Known known);

  const Known& known() const { return known_; }
  /// Several events that healthy runs print, too, began in the stream behind this line.
  bool goes_on(std::uint32_t stream, std::uint64_t line) const;
  /// The stream ends at this line, or prints little behind it that healthy runs print. Where lines
  /// cannot be told by what they say, a stack or a launcher's report may hold usual ones.
  bool closes_at(std::uint32_t stream, std::uint64_t line) const;

 private:
  Known known_;
  struct Course {
    std::vector<std::uint64_t> begins;  // first lines of such events
    std::uint64_t usual = 0;            // last line of any of them
    std::uint64_t completed = 0;        // line of the last iteration
    std::uint64_t end = 0;              // last line of the stream
  };
  std::vector<Course> courses_;  // by stream
};

/// `found`: an event that began after the end of progress.
bool is_set_apart(const job::JobView& view, const job::JobClock& clock, const FailureEvent& found,
                  const EventHint& hint, const UsualCourse& course);

/// How logs of nodes close with events that are set apart.
struct Closing {
  bool most_nodes = false;    ///< on most nodes some stream closes with one of them
  bool led = false;           ///< a stream with iterations does, or there is none
  std::size_t on_a_node = 0;  ///< different ones with which streams of one node close, at most
  bool parted = false;        ///< of two nodes each closes with one of which the other has none
};

Closing closing_of(const job::JobView& view, const std::vector<FailureEvent>& events,
                   const UsualCourse& course);

/// Nothing but a line or two stands behind it in most of its streams.
bool is_closing(const job::JobView& view, const FailureEvent& found);

}  // namespace l4::detect::crash
