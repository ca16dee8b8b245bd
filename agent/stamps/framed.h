// Stamps behind a frame: `[INFO|2024-11-26 22:07:06]`, `| INFO | 2024-..`, `(main) 2024-..`,
// `=== 2024-.. ===`, `Started at Tue Mar  4 ..`.
//
// A frame is what loggers and scripts put before a time: brackets, bars and other signs, levels,
// words that announce a time, the rank of the speaker, and any words within brackets. Behind it
// stands a stamp of one of the other rows (formats.h). A sentence is no frame, so a date in the
// middle of a text is left alone.
#pragma once

#include <string_view>

#include "agent/stamps/formats.h"

namespace l4::stamps {

/// A scanner as those of scanners.h, for formats.cc alone. Reads 56 characters of frame at most.
bool framed(std::string_view line, RawStamp& stamp);

/// The event log of HTCondor: `005 (4711.000.000) 2024-05-02 11:06:03 text`, older ones `05/02
/// 11:06:03`.
bool condor(std::string_view line, RawStamp& stamp);

}  // namespace l4::stamps
