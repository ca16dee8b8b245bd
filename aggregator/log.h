// The program's own log: lines on standard error, for the journal of the machine, or in a file.
//
// Any thread. Text is rendered harmless: names and lines of others stand in it. Both functions that
// start the log are for one thread, before others log.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace l4::aggregator {

/// `level`: debug, info, warning or error; may be called again.
void start_log(std::string_view level);
/// Writes into a file instead of standard error: at most 4 MiB, and as much of the time before.
Result<void> start_log_in(const std::filesystem::path& file);
void log_info(const std::string& text);
void log_warning(const std::string& text);
void log_error(const std::string& text);

}  // namespace l4::aggregator
