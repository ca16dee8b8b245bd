// Labels: what a person has said was true of an incident or a job, held against the report's
// claims. Flow: POST /incidents/{id}/label -> label_of; `l4 outcome` -> label_of_outcome; both ->
// database -> GET /labels -> `l4 fit`, which fits confidences to them. A label keeps the claims
// with their grounds as they stood when it was given, so it outlives the report. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "aggregator/store/rows.h"

namespace l4::confirm {

/// What was true of an incident. What is not given is not judged.
struct Truth {
  std::string state;               ///< as in reports; empty: not given
  std::vector<std::string> nodes;  ///< that were faulty; an outsider may be among them
  std::optional<std::int64_t> rank;
  std::string template_id;  ///< of the event that shows the root of the failure
  std::string fault;        ///< that was confirmed from this incident; empty: none

  bool is_empty() const { return state.empty() && nodes.empty() && !rank && template_id.empty(); }
};

/// Which states there are, for a message; empty if `state` is one of them.
std::string unknown_state(const std::string& state);

/// The label of the incident: the claims of its report that the truth judges. The first node is
/// right if it is one of `nodes`, or, without these, the node of `rank` as the report knows it.
/// Its source is the fault (the confirmed one, else the first known one), else the job.
store::Label label_of(const store::Incident& incident, const diagnose::Report& report,
                      const Truth& truth, const std::string& who, TimeMs now);

/// The label of an outcome: of a job whose newest report says that it runs or has ended well,
/// whether that was so. None where the report tells of a failure: which one is for the incident's
/// label.
std::optional<store::Label> label_of_outcome(const store::Outcome& outcome,
                                             const diagnose::Report& report);

}  // namespace l4::confirm
