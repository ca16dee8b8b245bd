// Known faults of hardware that few nodes of a job tell of again and again.
//
// Place in the flow: findings in; a notice for each, and for a job that goes on or has ended well
// the events of its report: the job bears with them, and they are worth a look all the same. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregator/detect/evidence/failure_event.h"
#include "aggregator/diagnose/findings/findings.h"

namespace l4::faults {
struct Fault;
}  // namespace l4::faults

namespace l4::diagnose {

struct StandingFault {
  std::uint32_t node = 0;  ///< JobView::nodes
  const faults::Fault* fault = nullptr;
  std::uint64_t lines = 0;
};

struct Standing {
  std::vector<StandingFault> faults;  ///< by node, then by the fault's id
  detect::FailureEvents events;       ///< what tells of them, on those nodes alone
};

/// Healthy runs do not print them. `failed`: the job has, and what tells of that is left out.
Standing find_standing(const Findings& findings, bool failed);

}  // namespace l4::diagnose
