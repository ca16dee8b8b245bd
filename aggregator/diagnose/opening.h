// Whether a job that completed no iteration in its logs failed while it started up.
//
// Place in the flow: findings in, one answer for the verdict out. Pure. The contract
// calls any failure before the first completed iteration a failed launch; that holds for logs that
// show the beginning. An excerpt, a kernel log or a file that was rotated away begins in the middle
// of the job: then the stage that the failing program was in decides, else the kind of the fault.
#pragma once

#include <cstdint>

#include "aggregator/diagnose/findings.h"

namespace l4::diagnose {

enum class Opening : std::uint8_t {
  seen,     ///< the logs show how the job started
  launch,   ///< not seen, but what failed belongs to a start
  running,  ///< not seen, and what failed is part of training or of the machine
};

Opening opening_of(const Findings& findings);

}  // namespace l4::diagnose
