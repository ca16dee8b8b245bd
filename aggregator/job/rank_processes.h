// The process of each rank of a view.
//
// Flow: last step of make_view. A rank's process has its node and its rank (or, without a rank, its
// local rank). If there are several, only those of the view's attempt count, and the one that began
// last is chosen. Agents number the starts that they saw, so perhaps no process has the number of
// the attempt. Then the newest attempt gets the newest processes, except those that were gone
// before the first line of the rank, and an older attempt gets none. Pure.
#pragma once

namespace l4::job {

class Attempts;
struct JobView;

void add_processes(JobView& view, const Attempts& attempts);

}  // namespace l4::job
