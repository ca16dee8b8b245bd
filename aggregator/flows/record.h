// One record of a flow exporter: what a connection carried from its first to its last packet.
//
// Place in the flow: decode/ makes records out of files and datagrams; the analyser takes them one
// by one. Plain values. Times are nanoseconds since 1970 by the clock of the exporter.
#pragma once

#include <cstdint>
#include <limits>

#include "aggregator/flows/address.h"

namespace l4::flows {

using TimeNs = std::int64_t;
inline constexpr TimeNs kMillisecond = 1'000'000, kSecond = 1'000'000'000;
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// UDP port of RDMA over converged Ethernet.
inline constexpr std::uint16_t kRocePort = 4791;

struct FlowRecord {
  TimeNs start = 0, end = 0;
  Address src, dst;
  std::uint16_t src_port = 0, dst_port = 0;
  std::uint8_t protocol = 0;
  std::uint32_t exporter = kNone;  ///< number that the decoder gave it; kNone: not told
  std::uint64_t bytes = 0, packets = 0;
  std::uint64_t sequence = 0;  ///< number at its exporter, counted before loss
  bool has_sequence = false;
};

/// What a file of records does not tell by itself. Zero: not told.
struct ExporterSettings {
  std::uint32_t sampling = 1;  ///< one packet in so many is seen; counts are scaled back
  TimeNs active = 0;           ///< a record is cut after this time
  TimeNs inactive = 0;         ///< transfers closer than this share one record
  bool is_lossy = false;       ///< records are missing

  /// Events may be missing: counts of them are less certain.
  bool is_vague() const { return sampling > 1 || is_lossy; }
};

}  // namespace l4::flows
