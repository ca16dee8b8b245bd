// Files of nfcapd and sfcapd, through the program nfdump.
//
// Place in the flow: a file of nfcapd -> nfdump as a child, which prints a line a record ->
// FlowRecord; packet samples of sFlow, as sfcapd keeps them, are put together on the way
// (samples.h). nfdump's own CSV prints whole seconds only, so lines are given a format of ours.
#pragma once

#include <filesystem>
#include <string_view>

#include "aggregator/flows/decode/input.h"
#include "common/base/error.h"

namespace l4::flows::decode {

/// Adds to `announced` what packet samples tell. Error: nfdump is not installed, or it cannot read
/// the file.
Result<void> read_nfcapd(const std::filesystem::path& file, Counts& counts,
                         ExporterSettings& announced, const Sink& sink);

/// One line of "%tsr %td %sa %da %sp %dp %pr %byt %pkt"; false if it is none. The length stands for
/// the end, because nfdump 1.7.1 drops a digit of "%ter".
bool parse_nfdump_line(std::string_view line, FlowRecord& record);

}  // namespace l4::flows::decode
