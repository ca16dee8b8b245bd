// What differs and harms nothing, as the report tells of it.
//
// Place in the flow: findings of detectors in, Report::notable out, most telling first. Pure; no
// state, suspect or alert follows from it. Private to this room.
#pragma once

#include <optional>
#include <vector>

#include "aggregator/diagnose/findings/findings.h"
#include "aggregator/diagnose/findings/live.h"
#include "aggregator/diagnose/findings/standing.h"
#include "aggregator/diagnose/report.h"

namespace l4::diagnose {

/// `told`: what the watch of a running job says, if there is one.
std::vector<Notable> notable_of(const Findings& findings, const std::vector<StandingFault>& faults,
                                const std::optional<Live>& told);

}  // namespace l4::diagnose
