// Searches a block of lines for prefixes that only recurrence distinguishes from text: labels of
// srun (`13: `) and MPICH (`[13] `), names of hosts and pods (`node-1: `, `pod-0  | `).
//
// The decoder passes each block before it decodes it (64 KiB, cut by position, so that the result
// does not depend on the chunks). If no prefix recurred in the first megabyte, a block is searched
// whole only if one of its last lines has one. Bound: 4,096 host names. One per file, one thread.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "agent/decode/speaker_prefix.h"

namespace l4::decode {

class Survey {
 public:
  void observe(std::string_view block);
  PrefixTrust trust() const;

 private:
  struct Count {
    std::uint64_t lines = 0, labels = 0, local_tags = 0, rank_mismatches = 0;
    std::uint64_t lines_before_label = 0;
    /// Repeated labels, and padded ones that do not grow evenly, are no enumeration.
    std::uint64_t repeated_labels = 0, padded_labels = 0, uneven_labels = 0;
    std::int32_t last_label = 0, label_step = 0;
    std::bitset<4096> seen_labels;
    /// `descents`: labels below the previous one; numbers of steps never fall, ranks do.
    std::uint64_t bracket_labels = 0, descents = 0;
    std::int32_t last_bracket_label = 0;
    std::array<std::uint64_t, kFronts> fronts{}, lines_before_front{};
  };
  bool expects_none() const;
  template <class Visit>
  void each_line(std::string_view block, Visit visit);
  void count(std::string_view line);
  std::optional<std::int32_t> count_label(std::string_view& line);
  void count_front(std::string_view& line);
  void compare_tag(std::string_view line, std::int32_t label);
  void judge_labels();
  void judge_fronts();

  Count block_;
  std::uint64_t blocks_ = 0;
  bool labels_ = false;
  bool labels_are_nodes_ = false;
  bool bracket_labels_ = false;
  std::array<bool, kFronts> fronts_{};
  std::map<std::string, std::uint64_t, std::less<>>
      names_;  // candidates and their numbers of lines
  std::string scratch_, clean_scratch_;
};

}  // namespace l4::decode
