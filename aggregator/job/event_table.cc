#include "aggregator/job/event_table.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/saved/archive.h"

namespace l4::job {
namespace {

static_assert(sizeof(EventTable::Entry) == 64);

template <class T>
void make_room(std::vector<T>& list) {
  constexpr std::size_t kLeast = 8;
  if (list.size() == list.capacity()) list.reserve(list.size() + std::max(kLeast, list.size() / 4));
}

enum EventFlag : std::uint8_t {
  kExact = 1,
  kFirstTime = 2,
  kLastTime = 4,
  kFirstIteration = 8,
  kLastIteration = 16
};

std::uint8_t flags_of(const EventStats& stats) {
  return static_cast<std::uint8_t>(
      (stats.first_time_exact ? kExact : 0) | (stats.first_time ? kFirstTime : 0) |
      (stats.last_time ? kLastTime : 0) | (stats.first_iteration ? kFirstIteration : 0) |
      (stats.last_iteration ? kLastIteration : 0));
}

template <class Archive, class Slim>
void persist_some(Archive& archive, Slim& iteration) {
  Iteration number{0};
  if constexpr (!Archive::kLoads) number = *iteration;
  archive(number);
  if constexpr (Archive::kLoads) iteration = number;
}

/// `local` and the last line are stored as distances: from the entry before, from the first line.
template <class Archive, class Times, class Entry>
void persist_entry(Archive& archive, Times& times, std::int64_t& local, Entry& entry) {
  auto& stats = entry.stats;
  std::uint8_t flags = flags_of(stats);
  Stage stage = stats.first_stage;  // bit-fields have no address
  std::uint64_t count = stats.count;
  std::int64_t step = entry.local - (local + 1);
  auto lines = static_cast<std::int64_t>(stats.last_line - stats.first_line);
  archive(flags);
  archive.enumerator(stage, Stage::exit);
  archive(step, count, stats.first_line, lines);
  if constexpr (Archive::kLoads) {
    entry.local = static_cast<std::uint32_t>(local + 1 + step);
    stats.first_stage = stage;
    stats.count = count;
    stats.first_time_exact = (flags & kExact) != 0;
    stats.last_line = stats.first_line + static_cast<std::uint64_t>(lines);
  }
  if ((flags & kFirstTime) != 0) times(stats.first_time);
  if ((flags & kLastTime) != 0) times(stats.last_time);
  if ((flags & kFirstIteration) != 0) persist_some(archive, stats.first_iteration);
  if ((flags & kLastIteration) != 0) persist_some(archive, stats.last_iteration);
  local = entry.local;
}

}  // namespace

const EventStats* EventTable::find(std::uint32_t local) const {
  const auto at = std::ranges::lower_bound(index_, local, {}, &IndexEntry::local);
  return at == index_.end() || at->local != local ? nullptr : &entries_[at->index].stats;
}

EventStats& EventTable::operator[](std::uint32_t local) {
  const auto at = std::ranges::lower_bound(index_, local, {}, &IndexEntry::local);
  if (at != index_.end() && at->local == local) return entries_[at->index].stats;
  const auto before = at - index_.begin();
  make_room(index_);
  make_room(entries_);
  index_.insert(index_.begin() + before, {local, static_cast<std::uint32_t>(entries_.size())});
  entries_.push_back({local, {}});
  return entries_.back().stats;
}

void EventTable::bound_times(TimeMs newest) {
  for (Entry& entry : entries_) {
    EventStats& stats = entry.stats;
    if (stats.first_time && *stats.first_time > newest) {
      stats.first_time = newest;
      stats.first_time_exact = false;
    }
    if (stats.last_time && *stats.last_time > newest) stats.last_time = newest;
  }
}

void EventTable::erase(const std::vector<std::uint32_t>& locals) {
  const auto dead = [&](const Entry& entry) {
    return std::ranges::binary_search(locals, entry.local);
  };
  L4_CHECK(std::ranges::is_sorted(locals), "{} templates to drop are not ascending", locals.size());
  if (std::erase_if(entries_, dead) == 0) return;
  rebuild_index();
}

void EventTable::rebuild_index() {
  index_.resize(entries_.size());
  for (std::uint32_t i = 0; i < entries_.size(); ++i) index_[i] = {entries_[i].local, i};
  std::ranges::sort(index_, {}, &IndexEntry::local);
}

template <class Archive, class Self>
void EventTable::persist(Archive& archive, Self& self) {
  constexpr std::size_t kBytesEach = 6;
  saved::TimeDistances times(archive);
  std::int64_t local = -1;
  archive.list(self.entries_, kBytesEach,
               [&](auto& entry) { persist_entry(archive, times, local, entry); });
  if constexpr (Archive::kLoads) self.rebuild_index();
}

void EventTable::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void EventTable::load(ByteReader& in) {
  saved::Reader archive(in);
  *this = EventTable();
  persist(archive, *this);
}

}  // namespace l4::job
