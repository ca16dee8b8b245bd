// The program's own log: lines on standard error, for the journal of the machine.
//
// Any thread. Text is rendered harmless: names and lines of others stand in it.
#pragma once

#include <string>
#include <string_view>

namespace l4::aggregator {

/// `level`: debug, info, warning or error; may be called again.
void start_log(std::string_view level);
void log_info(const std::string& text);
void log_warning(const std::string& text);
void log_error(const std::string& text);

}  // namespace l4::aggregator
