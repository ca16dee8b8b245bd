// `[alerts]` of the config of l4-aggregator: sinks, silences, how often and how long.
//
// Errors are noted in the table with their keys; `file` is the config, for paths in it.
#pragma once

#include <filesystem>

#include "aggregator/alert/alerter.h"
#include "common/config/config_table.h"

namespace l4::alert {

void read_settings(ConfigTable& alerts, const std::filesystem::path& file, AlerterOptions& options);

}  // namespace l4::alert
