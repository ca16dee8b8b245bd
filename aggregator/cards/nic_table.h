// What the network cards of one agent's node did lately.
//
// Place in the flow: wire::Batch::nics -> here; aggregator/detect/nics reads it. A card is known by
// its name, so that its history goes on when the agent begins anew. A repeated batch changes
// nothing: seconds ascend. Bounds: wire::kNicsMax cards, kSecondsMax seconds each (fewer in a job
// of many cards: kSecondsOfJob together, at least kSecondsLeast each), kRisesMax rises each. 32
// bytes a second. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "common/base/byte_stream.h"
#include "common/base/time.h"
#include "common/wire/nics.h"

namespace l4::cards {

/// A second of a card, as kept.
struct NicSecond {
  wire::Tenths tenths;
  std::uint32_t second = 0;      ///< since the epoch
  float sent = 0, received = 0;  ///< bytes
  std::uint16_t first = wire::NicSecond::kNone, last = wire::NicSecond::kNone,
                last_sent = wire::NicSecond::kNone;  ///< ms, as in wire::NicSecond

  TimeMs begin() const { return TimeMs{std::chrono::seconds{second}}; }
  double bytes() const { return static_cast<double>(sent) + static_cast<double>(received); }
};

struct NicHistory {
  wire::NicDefinition facts;
  std::deque<NicSecond> seconds;    ///< in order of time; seconds may be missing
  std::deque<wire::NicRise> rises;  ///< in order of time
};

class NicTable {
 public:
  static constexpr std::size_t kSecondsMax = 900, kSecondsLeast = 120, kRisesMax = 64;
  static constexpr std::size_t kSecondsOfJob = std::size_t{1} << 20U;

  /// `seconds_max`: of each card.
  void apply(const wire::NicNews& news, std::size_t seconds_max);

  const std::map<std::string, NicHistory>& nics() const { return nics_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  NicHistory* of(std::uint16_t id);

  std::map<std::string, NicHistory> nics_;
  std::map<std::uint16_t, std::string> names_;  // by the agent's id
};

}  // namespace l4::cards
