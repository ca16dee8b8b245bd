#include "aggregator/cards/nic_table.h"

#include <algorithm>
#include <utility>

#include "common/saved/archive.h"

namespace l4::cards {
namespace {

/// A clock that was set back by more than this began anew; what is repeated is younger.
constexpr std::chrono::hours kSetBack{1};

template <class Archive, class Facts>
void persist_facts(Archive& archive, Facts& facts) {
  archive(facts.nic, facts.node, facts.driver, facts.pci, facts.rate_mbps);
  archive.enumerator(facts.kind, wire::NicKind::infiniband);
  archive.enumerator(facts.ranks_by, wire::NicRanksBy::nccl_lines);
  archive.list(facts.local_ranks, 1, [&](auto& rank) { archive(rank); });
  archive.list(facts.ranks, 1, [&](auto& rank) { archive(rank); });
}

/// Bytes of a second as a whole number; what an agent cannot have counted is the most that there
/// is.
std::uint64_t whole(float bytes) {
  constexpr float kMost = 0x1p63F;
  if (!(bytes > 0)) return 0;
  return static_cast<std::uint64_t>(std::min(bytes, kMost));
}

/// Seconds as what they add to the one before; most have neither fractions nor gaps.
template <class Archive, class Seconds>
void persist_seconds(Archive& archive, Seconds& seconds) {
  std::uint64_t last = 0;
  archive.list(seconds, 7, [&](auto& one) {
    std::uint64_t ahead = one.second - last, bits = one.tenths.bits();
    std::uint64_t sent = whole(one.sent), received = whole(one.received);
    archive(ahead, bits, sent, received, one.first, one.last, one.last_sent);
    last += ahead;
    if constexpr (Archive::kLoads) {
      one.second = static_cast<std::uint32_t>(last);
      one.tenths = wire::Tenths(bits);
      one.sent = static_cast<float>(sent);
      one.received = static_cast<float>(received);
    }
  });
}

}  // namespace

NicHistory* NicTable::of(std::uint16_t id) {
  const auto name = names_.find(id);
  if (name == names_.end()) return nullptr;
  const auto found = nics_.find(name->second);
  return found == nics_.end() ? nullptr : &found->second;
}

void NicTable::apply(const wire::NicNews& news, std::size_t seconds_max) {
  for (const wire::NicDefinition& one : news.definitions) {
    if (nics_.size() >= wire::kNicsMax && !nics_.contains(one.name)) continue;
    names_[one.nic] = one.name;
    wire::NicDefinition& known = nics_[one.name].facts;
    const wire::NicDefinition before = std::exchange(known, one);
    // An agent that began anew does not read NCCL's lines again, which stand at the start.
    if (before.ranks_by == wire::NicRanksBy::nccl_lines && before.pci == one.pci &&
        one.ranks_by != wire::NicRanksBy::nccl_lines) {
      known.ranks_by = before.ranks_by;
      known.local_ranks = before.local_ranks;
      known.ranks = before.ranks;
    }
  }
  for (const wire::NicSecond& one : news.seconds) {
    NicHistory* const nic = of(one.nic);
    if (nic == nullptr) continue;
    auto& seconds = nic->seconds;
    if (!seconds.empty() && one.begin + kSetBack < seconds.back().begin()) seconds.clear();
    const auto second = static_cast<std::uint32_t>(one.begin.time_since_epoch().count() / 1000);
    if (!seconds.empty() && second <= seconds.back().second) continue;
    seconds.push_back({one.tenths, second, static_cast<float>(one.sent),
                       static_cast<float>(one.received), one.first, one.last, one.last_sent});
    while (seconds.size() > seconds_max) seconds.pop_front();
  }
  for (const wire::NicRise& one : news.rises) {
    NicHistory* const nic = of(one.nic);
    if (nic == nullptr) continue;
    auto& rises = nic->rises;
    const bool known = std::ranges::any_of(rises, [&](const wire::NicRise& other) {
      return other.counter == one.counter && other.at >= one.at;
    });
    if (known) continue;
    rises.push_back(one);
    if (rises.size() > kRisesMax) rises.pop_front();
  }
}

template <class Archive, class Self>
void NicTable::persist(Archive& archive, Self& self) {
  const auto text = [&](auto& name) { archive(name); };
  archive.map(self.nics_, 9, text, [&](auto& nic, const std::string& name) {
    persist_facts(archive, nic.facts);
    persist_seconds(archive, nic.seconds);
    archive.list(nic.rises, 6, [&](auto& rise) {
      archive(rise.at, rise.nic, rise.counter, rise.fault, rise.rise, rise.total);
    });
    if constexpr (Archive::kLoads) nic.facts.name = name;
  });
  archive.map(self.names_, 2, [&](auto& id) { archive(id); }, text);
}

void NicTable::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void NicTable::load(ByteReader& in) {
  saved::Reader archive(in);
  nics_.clear();
  names_.clear();
  persist(archive, *this);
}

}  // namespace l4::cards
