// Reads stretches of one file on disk; each begins at the beginning of a line.
//
// Flow: search.cc -> here -> tail::TextFile. Packed text is unpacked front to back; text that two
// stretches share is kept and not unpacked twice. Counts the bytes that it reads. One thread; holds
// one stretch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/lines/window.h"
#include "agent/tail/text_file.h"

namespace l4::lines {

class PartText {
 public:
  static constexpr std::uint64_t kStretchBytes = 256 * 1024;
  static constexpr std::uint64_t kLeadBytes = 32 * 1024;  ///< read before a stretch
  static constexpr std::uint64_t kTailBytes = 64 * 1024;  ///< read behind a stretch

  PartText(tail::TextFile file, std::uint64_t plain_bytes)
      : file_(std::move(file)), size_(file_.packed() ? kUnknown : plain_bytes) {}

  bool packed() const { return file_.packed(); }
  /// Size of the text; kUnknown for packed text that was not read to its end.
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::uint64_t size() const { return size_; }

  /// The text with the records from `from` up to `to` and some text around them; valid until the
  /// next call. Empty: there is no such text.
  Stretch stretch(std::uint64_t from, std::uint64_t to);
  /// The first lines at or behind `offset`, to read a time from.
  Stretch peek(std::uint64_t offset);
  /// LFs of a plain file in [from, to).
  std::uint64_t lines_between(std::uint64_t from, std::uint64_t to);

  std::uint64_t read_bytes() const { return read_bytes_; }
  const std::string& damage() const { return damage_; }  ///< why the rest cannot be read

 private:
  void fetch(std::uint64_t from, std::uint64_t to);
  Stretch made(std::uint64_t begin, std::uint64_t from, std::uint64_t to);

  tail::TextFile file_;
  std::uint64_t size_ = kUnknown;
  std::string text_;  ///< from `text_from_` on
  std::uint64_t text_from_ = 0;
  std::uint64_t counted_to_ = 0, lines_ = 0;  ///< packed: offset, and lines before it
  std::uint64_t read_bytes_ = 0;
  std::string damage_;
};

}  // namespace l4::lines
