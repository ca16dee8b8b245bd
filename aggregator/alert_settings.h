// `[alerts]` of the config of l4-aggregator: sinks, silences, how often and how long.
//
// Part of settings.h, in a file of its own for its size. What is wrong is noted in the table with
// its key; `file` is the config, for paths in it.
#pragma once

#include <filesystem>

#include "aggregator/alert/alerter.h"
#include "common/base/config_table.h"

namespace l4::aggregator {

void read_alerts(ConfigTable& alerts, const std::filesystem::path& file,
                 alert::AlerterOptions& options);

}  // namespace l4::aggregator
