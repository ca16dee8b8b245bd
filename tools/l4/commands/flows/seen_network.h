// What flow records beside the logs of a job show of it.
//
// Flow: --flows, --topology of `l4 diagnose` -> records -> jobs of the network -> the one that ran
// on the nodes of the logs. One thread. Bound: that of the analyser.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "aggregator/detect/network/network.h"
#include "common/base/error.h"
#include "common/wire/batch.h"

namespace l4::job {
class JobState;
}  // namespace l4::job

namespace l4::commands::flows {

/// None without `flows`, or if no job of the records runs on most of its servers among the nodes; a
/// warning says so. Error: no record could be read.
Result<std::optional<detect::network::Network>> see_network(
    const std::vector<std::filesystem::path>& flows, std::filesystem::path topology,
    const job::JobState& state, std::vector<wire::Warning>& warnings);

}  // namespace l4::commands::flows
