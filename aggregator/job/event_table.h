// Counts and times of each template in one stream.
//
// Filled by Stream::apply(), read through aggregator/job/view.h. Flat: 30,000 ranks with a hundred
// templates each are millions of entries, so an entry is 64 bytes, lies in one array and is found
// by binary search; growth is by a quarter. Rejected: a hash map (120 bytes an entry and more).
// References are valid until the next insertion. Plain value, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/byte_stream.h"
#include "common/base/slim_optional.h"
#include "common/base/vocabulary.h"

namespace l4::job {

/// One template in one stream.
struct EventStats {
  std::uint64_t count : 48 = 0;
  Stage first_stage : 8 = Stage::unknown;
  bool first_time_exact : 1 = false;  ///< printed, not taken from the segment around it
  std::uint64_t first_line = 0, last_line = 0;
  SlimTime first_time, last_time;  ///< printed, or the segment's
  SlimIteration first_iteration, last_iteration;
};

class EventTable {
 public:
  struct Entry {
    std::uint32_t local = 0;  ///< LocalTemplateId
    EventStats stats;
  };

  /// The entry of a template, a new one if there is none.
  EventStats& operator[](std::uint32_t local);
  /// Null if there is none.
  const EventStats* find(std::uint32_t local) const;

  /// Of times after `newest`, which another clock printed, none stays.
  void bound_times(TimeMs newest);

  /// Drops the entries of these templates, ascending.
  void erase(const std::vector<std::uint32_t>& locals);

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  /// Iterates in the order of first appearance.
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  struct IndexEntry {
    std::uint32_t local;
    std::uint32_t index;
  };
  void rebuild_index();
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);

  std::vector<Entry> entries_;
  std::vector<IndexEntry> index_;  // by template
};

}  // namespace l4::job
