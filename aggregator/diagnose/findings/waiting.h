// Whether a failure began as a wait: the job stood still before anything failed.
//
// Place in the flow: the verdict asks where it tells a hang that a time-out kills later from a
// crash. Times are those of the job's lines; a line without one stands where lines near it stand.
// Pure.
#pragma once

#include <optional>

#include "aggregator/diagnose/findings/findings.h"
#include "common/base/time.h"

namespace l4::diagnose {

/// Time from the last progress to the first sign of failure; none if either is not known.
std::optional<Millis> delay_to_failure(const Findings& findings);

/// The failure was preceded by a wait that no error of its own explains.
bool began_as_hang(const Findings& findings);

/// Few of the ranks failed, nothing ended or was stopped, and since then nobody has completed
/// anything, for longer than peers of a process that ends would need to notice. To be asked where
/// the time of the question is known: nothing else tells how long it has been quiet.
bool stands_unended(const Findings& findings);

/// Somebody stops a job soon when it goes wrong, or for reasons of their own: only after a wait
/// that is long for any job does the stop tell of a hang. How long a first iteration takes nobody
/// knows.
bool stood_before_stop(const Findings& findings);

/// The job ended younger than any wait that tells of a hang, and than the waits that its lines
/// name: what they call one was an attempt.
bool is_too_young_to_wait(const Findings& findings);

/// How near the pause before the failure is to the length that makes it a wait, shorter or longer:
/// 1 if equal, falling to 0; 0 if it is not known.
double nearness_to_wait(const Findings& findings);

}  // namespace l4::diagnose
