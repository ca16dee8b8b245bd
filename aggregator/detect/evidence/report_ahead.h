// A batch system's report that stands before the output of the job of which it tells the end.
//
// Place in the flow: LSF writes the file of a job that is over at once, its own report first ("The
// output (if any) follows:"). What stands in the report is about the end, although progress is
// printed behind it; detect/crash and detect/ending ask for each line. Of several reports in one
// file none counts: which lines are the last one's is not known. Pure.
#pragma once

#include "aggregator/detect/evidence/lines_by_log.h"

namespace l4::detect {

class ReportAhead {
 public:
  explicit ReportAhead(const job::JobView& view);

  /// The line belongs to such a report.
  bool holds(const job::JobView& view, const job::Occurrence& at) const;

 private:
  LinesByLog ends_;  // line with which the report ends
};

}  // namespace l4::detect
