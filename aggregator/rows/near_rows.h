// The known faults nearest to a failure as JSON; schemas/openapi.yaml describes them as
// `near_faults`.
//
// Flow: api/incident_api.cc, and the file that is handed on (tools/l4) -> here. Thread-safe, no
// state. Bounds: three faults, of the first four events that are no consequence.
#pragma once

#include <functional>

#include "aggregator/diagnose/report.h"
#include "aggregator/faults/library.h"
#include "aggregator/serve/json_text.h"

namespace l4::rows {

/// Writes the answer; each fault once, nearest first. `may_see`: empty for all faults.
void write_near_faults(serve::JsonWriter& to, const diagnose::Report& report,
                       const faults::Library& library,
                       const std::function<bool(const faults::Fault&)>& may_see = {});

}  // namespace l4::rows
