// Maps the joined text of a log to its physical files, and tells which byte ranges are covered.
//
// Place in the flow: JobPipeline notes here which file each piece of text belongs to, and asks for
// coverage when it ships the records of the text. The ranges of a file follow each other without
// gaps from the first byte that was read; the receiver counts by them (docs/WIRE.md, "Positions are
// the sequence"). One per log, one thread. Bounded by the pieces that are not shipped; covered
// pieces are dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/decoder.h"
#include "common/wire/batch.h"

namespace l4::pipeline {

class Extents {
 public:
  /// The text from `at` on is the file's from `offset` on.
  void begin(const std::string& path, const wire::FileId& file, std::uint64_t offset,
             std::uint64_t known, decode::LinePosition at);
  /// The range of the file is covered as a whole once the text before `end` is shipped: for missing
  /// bytes, and for records of a log whose positions are not bytes. `lost`: a literal that says why
  /// the bytes are lost; empty if they are not.
  void add_whole(const std::string& path, const wire::FileId& file, wire::ByteRange range,
                 std::uint64_t known, decode::LinePosition at, std::uint64_t end,
                 std::string_view lost);
  /// Updates the fingerprint, path and size of the file that was begun last; another file's
  /// fingerprint and path are ignored.
  void set_known(const wire::FileId& file, std::uint64_t bytes);

  /// Appends to the batch the ranges of the text before `to` that were not covered before, and
  /// warnings for lost bytes. `all`: empty ranges too.
  void cover(decode::LinePosition to, bool all, wire::Batch& batch);
  /// Drops all pieces without covering them.
  void clear() { extents_.clear(); }
  /// True if a piece before this byte is not covered.
  bool waits(std::uint64_t byte) const;

 private:
  struct Extent {
    std::string path;
    wire::FileId file;
    std::uint64_t offset = 0;  ///< first byte of the file that is not covered
    std::uint64_t known = 0;
    decode::LinePosition at;          ///< position of `offset` in the text
    std::optional<std::uint64_t> to;  ///< covered as a whole: end of the range in the file
    std::uint64_t end = 0;            ///< covered as a whole: end of its text
    std::string_view lost = {};       ///< covered as a whole: why the bytes are lost
    bool covered = false;             ///< some range of it was appended to a batch
  };
  std::deque<Extent> extents_;
};

}  // namespace l4::pipeline
