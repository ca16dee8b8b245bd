// Orders a stop (by a person, by a limit of the batch system) among the failures of a job.
//
// Place in the flow: between the detectors that see failures and the verdict; changes which events
// are consequences. Whoever stops a job makes its processes fail, and a launcher stops what has
// failed: the first of both is the cause. Pure.
#pragma once

namespace l4::job {
struct JobView;
}  // namespace l4::job
namespace l4::detect {
struct FailureEvents;
}  // namespace l4::detect

namespace l4::diagnose {

struct Hints;

void order_stops(const job::JobView& view, const detect::FailureEvents& failures, Hints& hints);

}  // namespace l4::diagnose
