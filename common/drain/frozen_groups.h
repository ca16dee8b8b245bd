// A Grouping without its evidence, which still answers find().
//
// Made by Grouping::freeze() for agents that have read their files and only answer recall requests
// (`l4 diagnose` holds thousands of them). Sorted arrays: some 5 KB for a hundred templates instead
// of 200 KB. Gives exactly the answers of the Grouping. Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/drain/frame_set.h"
#include "common/drain/row.h"
#include "common/drain/sorted_table.h"

namespace l4::drain {

using GroupId = std::uint32_t;

struct FrozenGroups {
  /// Groups of one class of frames: [first, first + size) of `groups`, and the open positions
  /// [opened, opened + opened_size) of FrozenGroups::opened.
  struct Variants {
    std::uint32_t first = 0, size = 0;
    std::uint32_t opened = 0, opened_size = 0;
  };
  struct Group {
    std::uint64_t projection = 0;
    GroupId id = 0;
  };

  std::optional<GroupId> find(const Row& row) const;

  FrozenFrames frames;
  SortedTable<ClassId, Variants> variants;
  std::vector<Group> groups;          // ascending by projection within their class
  std::vector<std::uint16_t> opened;  // open positions, ascending within their class
};

}  // namespace l4::drain
