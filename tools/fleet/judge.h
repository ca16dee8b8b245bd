// Compares what the aggregator found with what the script did.
//
// Flow: Script, incidents and the aggregator's log -> here -> a table for people and the exit
// status. An incident belongs to a fault if job and attempt are the fault's; it is right if its
// state fits, its first node is the faulty one (where anything shows it), and it was opened in
// time. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "tools/fleet/plan.h"

namespace l4::fleet {

struct Found {
  std::string id, job, state, first_node;
  std::int32_t attempt = 0;
  TimeMs opened{};
  bool resolved = false;
};

struct Ruling {
  const Fault* fault = nullptr;
  std::optional<Found> found;
  Millis after{0};    ///< time from the fault to the incident
  std::string wrong;  ///< the mismatch; empty if the fault was found
};

struct Judgement {
  std::vector<Ruling> rulings;  ///< one a fault of a job
  std::vector<Found> false_ones;
  std::size_t missed() const;
};

/// `until`: how much of the script was played; later faults are left out.
Judgement judge(const Script& script, const std::vector<JobPlan>& plans, TimeMs begin,
                std::int64_t until, const std::vector<Found>& found);

}  // namespace l4::fleet
