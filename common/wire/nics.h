// What an agent's network cards did: definitions, a row for each card and second, counters that
// rose.
//
// Flow: agent/nic reads counters of sysfs and fills them, the agent ships them in batches of the
// jobs that run on its node, aggregator/job keeps the newest. Plain values; bounds stand at the
// fields, the decoder refuses what breaks them. A second on the wire takes 40 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace l4::wire {

inline constexpr std::size_t kNicsMax = 64;  ///< of one agent
inline constexpr std::size_t kNicNameBytesMax = 64;
inline constexpr std::size_t kNicLocalRanksMax = 64;

enum class NicKind : std::uint8_t { ethernet, infiniband };

/// How it is known which processes use a card.
enum class NicRanksBy : std::uint8_t {
  none,          ///< not known
  pci_distance,  ///< these GPUs are nearest; GPUs are numbered by their PCI address
  nccl_lines,    ///< lines of NCCL of the job name the card
};

struct NicDefinition {
  std::uint16_t nic = 0;  ///< local id: valid for one incarnation of one agent
  NicKind kind = NicKind::ethernet;
  std::string name;                       ///< "eth0", "mlx5_0/1" (device and port)
  std::string node;                       ///< as the agent names it
  std::string driver;                     ///< "mlx5_core"; empty: not known
  std::string pci;                        ///< "0000:3b:00.0"; empty: not known
  std::uint32_t rate_mbps = 0;            ///< 0: not known
  std::vector<std::int32_t> local_ranks;  ///< whose GPUs are nearest or that name it, ascending
  std::vector<std::int32_t> ranks;        ///< of the job that name it, ascending
  NicRanksBy ranks_by = NicRanksBy::none;
  bool operator==(const NicDefinition&) const = default;
};

/// The course of one second in tenths. Each is idle, not known, or a share of the busiest tenth.
class Tenths {
 public:
  static constexpr std::size_t kCount = 10;
  static constexpr unsigned kIdle = 0, kMost = 62, kUnknown = 63;

  Tenths() = default;
  explicit Tenths(std::uint64_t bits) : bits_(bits) {}

  unsigned at(std::size_t tenth) const { return (bits_ >> (6 * tenth)) & 63U; }
  void set(std::size_t tenth, unsigned level) {
    bits_ = (bits_ & ~(std::uint64_t{63} << (6 * tenth))) | std::uint64_t{level} << (6 * tenth);
  }
  bool is_busy(std::size_t tenth) const { return at(tenth) != kIdle && at(tenth) != kUnknown; }
  bool is_known(std::size_t tenth) const { return at(tenth) != kUnknown; }
  std::uint64_t bits() const { return bits_; }
  bool operator==(const Tenths&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

struct NicSecond {
  static constexpr std::uint16_t kNone = 0xffff;  ///< no activity in this second

  TimeMs begin;                          ///< a whole second of the agent's wall clock
  std::uint64_t sent = 0, received = 0;  ///< bytes
  Tenths tenths;                         ///< of both directions together
  std::uint16_t nic = 0;
  /// Milliseconds in the second: begin of the first and end of the last time that carried data, and
  /// end of the last one in which data was sent; to a sampling interval.
  std::uint16_t first = kNone, last = kNone, last_sent = kNone;
  bool operator==(const NicSecond&) const = default;
};

/// A counter of errors or of congestion that rose.
struct NicRise {
  TimeMs at;  ///< when it was seen
  std::uint16_t nic = 0;
  std::string counter;  ///< the file of sysfs: "symbol_error"
  bool fault = false;   ///< of the link or the card; else congestion, which healthy jobs see, too
  std::uint64_t rise = 0, total = 0;
  bool operator==(const NicRise&) const = default;
};

/// What one agent tells of its cards at a time.
struct NicNews {
  std::vector<NicDefinition> definitions;
  std::vector<NicSecond> seconds;  ///< of each card in the order of time
  std::vector<NicRise> rises;
  bool empty() const { return definitions.empty() && seconds.empty() && rises.empty(); }
  bool operator==(const NicNews&) const = default;
};

}  // namespace l4::wire
