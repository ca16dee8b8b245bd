// Groups rows into templates: by their frames first, then by the values within a frame.
//
// Flow: TemplateMiner (and aggregator/job for texts) inserts a masked row on a memo miss. The row's
// frame gives its class (frame_set.h). Within a class a position is *open* once it has shown enough
// distinct values; rows that agree at all other positions are one group. Positions never close and
// classes only merge, so the groups depend on the set of rows and not on their order: nodes that
// read the same lines in different orders agree exactly. Bounded by FrameSetOptions and forget();
// one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/base/byte_stream.h"
#include "common/drain/frame_set.h"
#include "common/drain/frozen_groups.h"
#include "common/drain/row.h"

namespace l4::drain {

class Grouping {
 public:
  struct Merge {
    GroupId from;
    GroupId to;  ///< the smaller
  };

  explicit Grouping(FrameSetOptions options) : options_(options), frames_(options) {}

  /// The group of a row; a new group if no rule gives one. `general`: the row is a template, whose
  /// `<*>` stand for other values too.
  GroupId insert(const Row& row, bool general = false);
  /// The group that insert() would return if the row had no new value.
  std::optional<GroupId> find(const Row& row) const;

  /// The template of a group that exists: constant words and `<*>`.
  Row template_of(GroupId id) const;

  /// Merges since the last call, in order, and groups whose template_of() changed.
  std::vector<Merge> poll_merges();
  std::vector<GroupId> poll_changed();
  /// Drops groups, ascending.
  void forget(const std::vector<GroupId>& sorted);

  /// Returns the part that find() needs; the grouping is empty afterwards.
  FrozenGroups freeze();

  /// Saves everything except merges and changes that were not polled. A Grouping that loads it
  /// continues exactly as this one.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  std::uint64_t dropped_rows() const { return frames_.dropped_rows(); }

 private:
  struct Position {
    std::uint64_t first = 0;   // the first value; most positions have no other
    std::uint32_t weight = 0;  // weight of all values; 0: none yet
    bool open = false;
  };
  struct OtherValue {
    std::uint32_t position = 0;
    std::uint64_t id = 0;
    bool operator==(const OtherValue&) const = default;
  };
  /// Groups of one class of frames.
  struct Variants {
    std::vector<Position> positions;
    std::vector<OtherValue> others;                     // further values of closed positions
    std::unordered_map<std::uint64_t, GroupId> groups;  // by projection
  };
  struct Group {
    PackedRow row;  // one of its rows
    ClassId owner;
  };

  bool see(Variants& variants, const Row& row, bool general) const;
  bool adopt_merged();
  bool adopt(ClassId from, ClassId to);
  void regroup(Variants& variants);
  GroupId unite(GroupId a, GroupId b);

  FrameSetOptions options_;
  FrameSet frames_;
  std::unordered_map<ClassId, Variants> variants_;
  std::unordered_map<GroupId, Group> groups_;
  std::vector<Merge> merges_;
  std::vector<GroupId> changed_;
  GroupId next_ = 0;
};

}  // namespace l4::drain
