// How sure a report is of what it claims: a part of report.h, which explains all. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/clues/grounds.h"

namespace l4::diagnose {

struct ClaimGround {
  std::string kind;  ///< clues::name(GroundKind)
  double value = 0;
};

struct ClaimShare {
  std::optional<std::string> name;  ///< null: none of those that are named
  double share = 0;
};

/// How sure one claim of the report is, why, and what else may be so.
struct Certainty {
  clues::Claim of = clues::Claim::state;
  std::string name;  ///< what is claimed: a state, a node, a template id
  double confidence = 0;
  std::vector<ClaimGround> grounds;
  std::vector<ClaimShare> alternatives;  ///< what is claimed among them; the shares add up to 1
  std::vector<std::string> decided_by;   ///< evidence that would tell, where it is not sure
};

}  // namespace l4::diagnose
