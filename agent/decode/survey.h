// Looks ahead over a block of lines for prefixes that only recurrence can tell from text:
// srun's labels (`13: `) and pdsh's host names (`node-1: `).
//
// The decoder shows each block (64 KiB, cut by position, so the outcome does not depend on how the
// bytes came in) before it decodes it. Bounds: 4,096 host names. One per file, one thread.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "agent/decode/speaker_prefix.h"

namespace l4::decode {

class Survey {
 public:
  void look_at(std::string_view block);
  PrefixTrust trust() const;

 private:
  void judge_labels();
  void judge_hosts();

  struct Count {
    std::uint64_t lines = 0, labels = 0, local_tags = 0, rank_mismatches = 0, hosts = 0;
    std::uint64_t lines_since_label = 0, lines_since_host = 0;
    std::uint64_t repeated_labels = 0;  ///< or padded ones: no enumeration
    std::bitset<4096> seen_labels;
  };
  void count(std::string_view line);

  Count block_;
  bool labels_ = false;
  bool labels_are_nodes_ = false;
  std::map<std::string, std::uint64_t, std::less<>> names_;  // candidates and their lines
  bool hosts_ = false;
};

}  // namespace l4::decode
