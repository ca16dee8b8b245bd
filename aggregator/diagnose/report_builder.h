// Turns findings into the lists of a report: nodes, ranks, events, stages, faults.
//
// Place in the flow: last step of diagnose; pure copying, naming and scoring of what the detectors
// found. Private to this room.
#pragma once

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/diagnose/findings/findings.h"
#include "aggregator/diagnose/suspicion.h"

namespace l4::diagnose {

struct Built {
  const Findings& findings;
  const Suspects& suspects;
};

void build_job(const job::JobView& view, JobSummary& job);
void build_nodes(const Built& built, Report& report);
void build_ranks(const Built& built, Report& report);
void build_clues(const Built& built, Report& report);
void build_events(const Built& built, Diagnosis& diagnosis);
void build_iterations(const Built& built, Report& report);
void build_stages(const Built& built, Report& report);
/// Faults that events show, and the exit of the first suspect's process; `library` may be null.
void build_faults(const Built& built, const faults::Library* library, Report& report);
Scope scope_of(const Built& built);
/// `launching`: it had not begun to train, whatever stage its words are of.
Stage stage_of(const Built& built, bool launching);

}  // namespace l4::diagnose
