// Which physical files the joined text of a log is made of, and up to where they are accounted for.
//
// Place in the flow: JobPipeline notes here what each piece of text is of, and asks for coverage
// when the records of it are shipped. Ranges of a file follow each other without gaps from where it
// began to be read; the receiver counts by them (docs/WIRE.md, "Positions are the sequence"). One
// per log, one thread. Bounded by the pieces that are not shipped; what is covered is forgotten.
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
  /// The text that stands at `at` and behind it is that of the file from `offset` on.
  void begin(const std::string& path, const wire::FileId& file, std::uint64_t offset,
             std::uint64_t known, decode::TextPosition at);
  /// [offset, to) of the file is accounted for as a whole, as soon as the text before `end` is out.
  /// For what is missing, and for records of a log whose positions are no bytes. `lost`: why the
  /// bytes are (a literal), if they are.
  void whole(const std::string& path, const wire::FileId& file, wire::ByteRange range,
             std::uint64_t known, decode::TextPosition at, std::uint64_t end,
             std::string_view lost);
  /// What is known by now of the file that was begun last: how it begins, where it stands, its
  /// size. Of another file nothing is taken but the size.
  void set_known(const wire::FileId& file, std::uint64_t bytes);

  /// Adds ranges of the text before `to` that were not covered before, and what is lost of them.
  /// `all`: also those that are empty.
  void cover(decode::TextPosition to, bool all, wire::Batch& batch);
  /// Nothing was covered, and nothing is.
  void clear() { extents_.clear(); }
  /// There is something to cover before this byte.
  bool waits(std::uint64_t byte) const;

 private:
  struct Extent {
    std::string path;
    wire::FileId file;
    std::uint64_t offset = 0;  ///< in the file, of what is not covered
    std::uint64_t known = 0;
    decode::TextPosition at;          ///< in the text, of what is not covered
    std::optional<std::uint64_t> to;  ///< whole: in the file
    std::uint64_t end = 0;            ///< whole: in the text
    std::string_view lost = {};       ///< whole: why it is, if it is
    bool told = false;
  };
  std::deque<Extent> extents_;
};

}  // namespace l4::pipeline
