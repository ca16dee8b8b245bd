// The hits of one file that are kept: the first or the last ones, within bounds of lines and bytes.
//
// Flow: search.cc -> here -> Found. A hit comes with its context; a line in several blocks comes
// out once. One thread; bounded by the constructor's arguments.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "agent/lines/window.h"
#include "common/wire/lines.h"

namespace l4::lines {

class Collect {
 public:
  enum class Keep : std::uint8_t { first, last };

  Collect(Keep keep, std::size_t lines_max, std::uint64_t bytes_max, std::size_t context)
      : keep_(keep), lines_max_(lines_max), bytes_max_(bytes_max), context_(context) {}

  /// Adds the hits of the next stretch.
  void add(const std::vector<SeenLine>& lines);
  /// With Keep::first: whether no more hits will be kept.
  bool full() const { return keep_ == Keep::first && (more_lines_ || more_bytes_ || no_room()); }

  std::size_t hits() const { return hits_; }
  std::size_t records() const { return records_; }  ///< records of all hits, kept or not
  std::uint64_t bytes() const { return bytes_; }
  bool more_lines() const { return more_lines_; }
  bool more_bytes() const { return more_bytes_; }
  /// The lines that are kept, in order and redacted. `redacted` counts the lines that lost
  /// something.
  std::vector<wire::RawLine> lines(Blot& blot, std::uint64_t& redacted) const;

 private:
  struct Kept {
    wire::RawLine line;  ///< text as in the file
    std::vector<std::string> messages;
  };
  /// A hit with its context.
  struct Block {
    std::vector<Kept> lines;
    std::uint64_t bytes = 0;  ///< bytes of lines that the block before does not hold
  };
  bool no_room() const { return hits_ >= lines_max_ || bytes_ >= bytes_max_; }
  void add(Block block);

  Keep keep_;
  std::size_t lines_max_;
  std::uint64_t bytes_max_;
  std::size_t context_;
  std::deque<Block> blocks_;
  std::size_t hits_ = 0, records_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_ = 0;  ///< offset behind the last line that is kept
  bool more_lines_ = false, more_bytes_ = false;
};

}  // namespace l4::lines
