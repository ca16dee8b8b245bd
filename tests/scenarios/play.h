// Plays a scenario: its log files into a folder, the real pipeline over them, a report out.
//
// Flow: read_scenario() -> play() -> the expectations of the scenario. Everything random comes
// from the scenario's seed, so a scenario gives the same bytes each time.
#pragma once

#include <filesystem>

#include "aggregator/diagnose/diagnose.h"
#include "tests/scenarios/scenario.h"

namespace l4::scenario {

/// Log files of one run, NODE/rankK.log or as torchrun leaves them.
void write_logs(const Scenario& scenario, const Run& run, const std::filesystem::path& folder);

/// Writes the runs below `folder` and diagnoses the job as `l4 diagnose` does.
Result<diagnose::Diagnosis> play(const Scenario& scenario, const std::filesystem::path& folder);

}  // namespace l4::scenario
