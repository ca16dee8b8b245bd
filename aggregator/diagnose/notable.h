// What differs and harms nothing, as the report tells of it.
//
// Place in the flow: findings of detectors in, Report::notable out, most telling first. Pure; no
// state, suspect or alert follows from it. Private to this room.
#pragma once

#include <vector>

#include "aggregator/diagnose/findings/findings.h"
#include "aggregator/diagnose/report.h"

namespace l4::diagnose {

std::vector<Notable> notable_of(const Findings& findings);

}  // namespace l4::diagnose
