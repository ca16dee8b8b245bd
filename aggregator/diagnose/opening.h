// Whether a job that completed no iteration in its logs failed while it started up.
//
// Place in the flow: findings in, one answer for the verdict out. Pure. A failure before the first
// completed iteration is a failed launch (docs/DESIGN.md, "Report"), if the logs show the
// beginning. An excerpt, a kernel log or a file that was rotated away begins in the middle of the
// job; then the stage of the failing program decides, or, if it is unknown, the kind of the fault.
#pragma once

#include <cstdint>

#include "aggregator/diagnose/findings/findings.h"

namespace l4::diagnose {

enum class Opening : std::uint8_t {
  seen,     ///< the logs show how the job started
  launch,   ///< not seen, but the failed step belongs to a start
  running,  ///< not seen, and the failed step is part of training or of the machine
};

Opening opening_of(const Findings& findings);

}  // namespace l4::diagnose
