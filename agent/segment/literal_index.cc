#include "agent/segment/literal_index.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "common/base/check.h"

namespace l4::segment {
namespace {

constexpr std::size_t kBytes = 4;
constexpr std::size_t kSlots = 4096;

std::uint32_t bytes_at(std::string_view text, std::size_t at) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, text.data() + at, kBytes);
  return bytes;
}

std::size_t slot_of(std::uint32_t bytes) {
  return (bytes * 0x9e3779b1U) >> 20;
}

/// Calls `visit` with the four bytes at each position of a text.
template <class Visit>
void each_place(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at + kBytes <= text.size(); ++at) visit(bytes_at(text, at));
}

}  // namespace

std::uint32_t LiteralIndex::add(std::string_view literal) {
  L4_CHECK(starts_.empty(), "literal {} is added after build()", literal);
  literals_.emplace_back(literal);
  return size_++;
}

void LiteralIndex::build() {
  std::unordered_map<std::uint32_t, std::size_t> uses;
  for (const std::string& literal : literals_)
    each_place(literal, [&](std::uint32_t bytes) { ++uses[bytes]; });
  for (std::uint32_t number = 0; number < literals_.size(); ++number) {
    const std::string& literal = literals_[number];
    short_.push_back(literal.size() < kBytes);
    if (short_.back()) continue;
    std::uint32_t rarest = bytes_at(literal, 0);
    each_place(literal, [&](std::uint32_t bytes) {
      if (uses[bytes] < uses[rarest]) rarest = bytes;
    });
    entries_.push_back({rarest, number});
  }
  std::ranges::sort(entries_, {}, [](const Entry& entry) { return slot_of(entry.bytes); });
  for (std::size_t slot = 0; slot <= kSlots; ++slot) {
    const auto first = std::ranges::lower_bound(
        entries_, slot, {}, [](const Entry& entry) { return slot_of(entry.bytes); });
    starts_.push_back(static_cast<std::uint32_t>(first - entries_.begin()));
  }
  literals_ = std::vector<std::string>();
}

std::vector<bool> LiteralIndex::may_hold(std::string_view message) const {
  L4_CHECK(short_.size() == size_, "{} of {} literals are built", short_.size(), size_);
  std::vector<bool> found = short_;
  if (entries_.empty()) return found;
  each_place(message, [&](std::uint32_t bytes) {
    const std::size_t slot = slot_of(bytes);
    for (std::uint32_t i = starts_[slot]; i < starts_[slot + 1]; ++i)
      if (entries_[i].bytes == bytes) found[entries_[i].literal] = true;
  });
  return found;
}

}  // namespace l4::segment
