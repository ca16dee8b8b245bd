// How a session of the live wire begins: the agent's identity, and up to where its files are
// counted.
//
// Part of common/wire/control.h, which has the other messages. Plain values; bounds stand at the
// fields, and the decoder refuses messages that break them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/wire/batch.h"

namespace l4::wire {

inline constexpr std::uint16_t kVersionMin = 1, kVersionMax = 1;
inline constexpr std::size_t kNameBytesMax = 253;  ///< name of a node, which may be a host name
inline constexpr std::size_t kControlTextBytesMax = 1024;  ///< other text
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr std::size_t kReleasedMax = 1024;
inline constexpr std::size_t kHintsMax = 8, kHintBytesMax = 400;  ///< of a heartbeat

/// Letters, digits and `._:-`, the first neither a dot nor a dash; at most kNameBytesMax.
bool is_node_name(std::string_view name);

/// The offset up to which one file is counted durably.
struct Position {
  FileId file;
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
  bool operator==(const Position&) const = default;
};

/// Positions in ascending order of `file.key`; the next page begins behind the last one's.
struct PositionPage {
  std::vector<Position> positions;
  bool more = false;
  bool operator==(const PositionPage&) const = default;
};

struct Hello {
  std::uint16_t version_min = kVersionMin, version_max = kVersionMax;
  std::uint64_t features = 0;  ///< bits; those that both ends have are used
  std::string agent;
  std::uint64_t incarnation = 0;  ///< drawn at the start of the agent
  std::string boot_id;
  std::string software;
  std::uint64_t batches_held = 0, bytes_held = 0, files_held = 0;
  bool operator==(const Hello&) const = default;
};

struct Welcome {
  std::uint16_t version = kVersionMax;
  std::uint64_t features = 0;
  std::uint64_t incarnation = 0;  ///< the aggregator's
  std::string software;
  std::uint32_t window = 0;  ///< batches that may be under way
  std::uint32_t heartbeat_ms = 0;
  std::uint32_t message_bytes_max = 0;
  std::uint64_t last_sequence = 0;  ///< last batch of this incarnation that is committed
  PositionPage page;
  bool operator==(const Welcome&) const = default;
};

/// Asks for the positions behind this key.
struct MorePositions {
  std::uint64_t after = 0;
  bool operator==(const MorePositions&) const = default;
};

}  // namespace l4::wire
