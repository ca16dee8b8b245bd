#include "aggregator/faults/literal_index.h"

#include <algorithm>
#include <cstring>

namespace l4::faults {
namespace {

constexpr std::size_t kSlotBits = 14;
constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

std::uint32_t four(const char* at) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, at, LiteralIndex::kBytes);
  return bytes;
}

std::size_t slot_of(std::uint32_t bytes) {
  return (bytes * 0x9E3779B1u) >> (32 - kSlotBits);
}

}  // namespace

void LiteralIndex::add(const std::string& literal, std::uint32_t owner) {
  const auto [at, created] =
      numbers_.try_emplace(literal, static_cast<std::uint32_t>(literals_.size()));
  if (created) literals_.push_back({literal, {}});
  literals_[at->second].owners.push_back(owner);
}

void LiteralIndex::build() {
  numbers_ = {};
  std::unordered_map<std::uint32_t, std::uint32_t> literals_with;
  for (const Literal& literal : literals_)
    for (std::size_t i = 0; i + kBytes <= literal.text.size(); ++i)
      ++literals_with[four(literal.text.data() + i)];
  for (std::uint32_t number = 0; number < literals_.size(); ++number) {
    const std::string& text = literals_[number].text;
    if (text.size() < kBytes) {
      short_.push_back(number);
      continue;
    }
    std::uint32_t rarest = 0;
    for (std::uint32_t i = 1; i + kBytes <= text.size(); ++i)
      if (literals_with[four(text.data() + i)] < literals_with[four(text.data() + rarest)])
        rarest = i;
    entries_.push_back({four(text.data() + rarest), number, rarest});
  }
  std::ranges::sort(entries_, {}, [](const Entry& entry) { return slot_of(entry.bytes); });
  starts_.assign(kSlots + 1, 0);
  for (const Entry& entry : entries_) ++starts_[slot_of(entry.bytes) + 1];
  for (std::size_t slot = 0; slot < kSlots; ++slot) starts_[slot + 1] += starts_[slot];
}

std::vector<std::uint32_t> LiteralIndex::find(std::string_view text) const {
  std::vector<std::uint32_t> owners;
  const auto found = [&](const Literal& literal) {
    owners.insert(owners.end(), literal.owners.begin(), literal.owners.end());
  };
  for (const std::uint32_t number : short_)
    if (text.find(literals_[number].text) != text.npos) found(literals_[number]);
  for (std::size_t i = 0; !entries_.empty() && i + kBytes <= text.size(); ++i) {
    const std::uint32_t bytes = four(text.data() + i);
    const std::size_t slot = slot_of(bytes);
    for (std::uint32_t at = starts_[slot]; at < starts_[slot + 1]; ++at) {
      const Entry& entry = entries_[at];
      if (entry.bytes != bytes || entry.offset > i) continue;
      const Literal& literal = literals_[entry.literal];
      if (text.substr(i - entry.offset).starts_with(literal.text)) found(literal);
    }
  }
  std::ranges::sort(owners);
  owners.erase(std::ranges::unique(owners).begin(), owners.end());
  return owners;
}

}  // namespace l4::faults
