// Which process each rank of a view is.
//
// Flow: last step of make_view. A rank's process has its node and its rank (or, without a rank, its
// local rank). Of several, those of the view's attempt count, and of these the one that began last.
// Where no process of any rank bears the number of the attempt - agents number the starts that they
// met - the newest attempt takes the newest processes, but none that was gone before the rank first
// spoke; an older attempt has none. Pure.
#pragma once

namespace l4::job {

class Attempts;
struct JobView;

void add_processes(JobView& view, const Attempts& attempts);

}  // namespace l4::job
