#include "aggregator/job/event_table.h"

#include <algorithm>

namespace l4::job {
namespace {

static_assert(sizeof(EventTable::Entry) == 64);

template <class T>
void make_room(std::vector<T>& list) {
  constexpr std::size_t kLeast = 8;
  if (list.size() == list.capacity()) list.reserve(list.size() + std::max(kLeast, list.size() / 4));
}

}  // namespace

EventStats& EventTable::operator[](std::uint32_t local) {
  const auto place = std::ranges::lower_bound(places_, local, {}, &Place::local);
  if (place != places_.end() && place->local == local) return entries_[place->index].stats;
  const auto before = place - places_.begin();
  make_room(places_);
  make_room(entries_);
  places_.insert(places_.begin() + before, {local, static_cast<std::uint32_t>(entries_.size())});
  entries_.push_back({local, {}});
  return entries_.back().stats;
}

void EventTable::erase(const std::vector<std::uint32_t>& locals) {
  const auto dead = [&](const Entry& entry) {
    return std::ranges::binary_search(locals, entry.local);
  };
  if (std::erase_if(entries_, dead) == 0) return;
  places_.resize(entries_.size());
  for (std::uint32_t i = 0; i < entries_.size(); ++i) places_[i] = {entries_[i].local, i};
  std::ranges::sort(places_, {}, &Place::local);
}

}  // namespace l4::job
