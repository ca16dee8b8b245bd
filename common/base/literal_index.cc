#include "common/base/literal_index.h"

#include <algorithm>
#include <cstring>

#include "common/base/find_bytes.h"

namespace l4 {
namespace {

constexpr std::size_t kShortBytes = 2;
/// Up to this many short literals are searched for one by one, because a second pass over the text
/// costs more.
constexpr std::size_t kSearchedMax = 8;
constexpr unsigned kSlotBits = 15;
constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

template <class Bytes>
std::uint32_t bytes_at(const char* at) {
  Bytes bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

std::uint32_t four(const char* at) {
  return bytes_at<std::uint32_t>(at);
}

std::size_t slot_of(std::uint32_t bytes) {
  return (bytes * 0x9E3779B1u) >> (32 - kSlotBits);
}

}  // namespace

void LiteralIndex::Table::build(std::vector<Entry> all) {
  entries = std::move(all);
  if (entries.empty()) return;
  std::ranges::sort(entries, {}, [](const Entry& entry) { return slot_of(entry.bytes); });
  used.assign(kSlots, 0);
  starts.assign(kSlots + 1, 0);
  for (const Entry& entry : entries) {
    used[slot_of(entry.bytes)] = 1;
    ++starts[slot_of(entry.bytes) + 1];
  }
  for (std::size_t slot = 0; slot < kSlots; ++slot) starts[slot + 1] += starts[slot];
}

template <class Bytes, class Found>
void LiteralIndex::Table::each(std::string_view text, Found found) const {
  if (entries.empty() || text.size() < sizeof(Bytes)) return;
  const char* const begin = text.data();
  const char* const last = begin + text.size() - sizeof(Bytes);
  const std::uint8_t* const flags = used.data();
  for (const char* at = begin; at <= last; ++at) {
    const std::uint32_t bytes = bytes_at<Bytes>(at);
    const std::size_t slot = slot_of(bytes);
    if (flags[slot] == 0) continue;
    for (std::uint32_t i = starts[slot]; i < starts[slot + 1]; ++i)
      if (entries[i].bytes == bytes) found(entries[i], static_cast<std::size_t>(at - begin));
  }
}

void LiteralIndex::add(std::string_view literal, std::uint32_t owner) {
  const auto [at, created] =
      numbers_.try_emplace(std::string(literal), static_cast<std::uint32_t>(literals_.size()));
  if (created) literals_.push_back({at->first, {}});
  literals_[at->second].owners.push_back(owner);
}

void LiteralIndex::build() {
  numbers_ = {};
  std::unordered_map<std::uint32_t, std::uint32_t> literals_with;
  for (const Literal& literal : literals_)
    for (std::size_t i = 0; i + kBytes <= literal.text.size(); ++i)
      ++literals_with[four(literal.text.data() + i)];
  std::vector<Entry> long_ones, short_ones;
  for (std::uint32_t number = 0; number < literals_.size(); ++number) {
    const std::string& text = literals_[number].text;
    if (text.size() < kBytes) {
      if (text.size() < kShortBytes)
        searched_.push_back(number);
      else
        short_ones.push_back({bytes_at<std::uint16_t>(text.data()), number, 0});
      continue;
    }
    std::uint32_t rarest = 0;
    for (std::uint32_t i = 1; i + kBytes <= text.size(); ++i)
      if (literals_with[four(text.data() + i)] < literals_with[four(text.data() + rarest)])
        rarest = i;
    long_ones.push_back({four(text.data() + rarest), number, rarest});
  }
  if (short_ones.size() <= kSearchedMax) {
    for (const Entry& entry : short_ones) searched_.push_back(entry.literal);
    short_ones.clear();
  }
  long_.build(std::move(long_ones));
  short_.build(std::move(short_ones));
}

std::vector<std::uint32_t> LiteralIndex::find(std::string_view text) const {
  std::vector<std::uint32_t> owners;
  const auto add_owners = [&](const Literal& literal) {
    owners.insert(owners.end(), literal.owners.begin(), literal.owners.end());
  };
  const auto check = [&](const Entry& entry, std::size_t at) {
    if (entry.offset > at) return;
    const Literal& literal = literals_[entry.literal];
    if (text.substr(at - entry.offset).starts_with(literal.text)) add_owners(literal);
  };
  for (const std::uint32_t number : searched_)
    if (find_phrase(text, literals_[number].text) != std::string_view::npos)
      add_owners(literals_[number]);
  long_.each<std::uint32_t>(text, check);
  short_.each<std::uint16_t>(text, check);
  std::ranges::sort(owners);
  owners.erase(std::ranges::unique(owners).begin(), owners.end());
  return owners;
}

}  // namespace l4
