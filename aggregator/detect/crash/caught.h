// Exceptions that a program catches again and again while it goes on.
//
// Place in the flow: failure_events asks whether an exception behind the last progress is one of
// them. Their messages may differ each time (a sample, a request, what a model answered), so they
// are counted by kind: the name and the first words of the message. A traceback whose last line is
// not known is of any kind. Only exceptions such as programs raise and catch count, and a kind that
// is printed far more often behind the progress than before it is excused by nothing. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

class Caught {
 public:
  /// `view` must outlive it.
  Caught(const job::JobView& view, const std::vector<EventHint>& hints);

  /// `event` was printed `behind` times behind the last progress.
  void add(std::uint32_t event, std::uint64_t behind);
  /// The job went on after many of this kind; after all have been added.
  bool changed_nothing(std::uint32_t event) const;

 private:
  struct Counts {
    std::uint64_t all = 0, behind = 0;
  };
  const Counts* counts_of(std::uint32_t event) const;

  std::vector<std::string_view> kinds_;  // by event; empty: no such exception
  std::map<std::string_view, Counts> counts_;
  Counts any_;
};

}  // namespace l4::detect::crash
