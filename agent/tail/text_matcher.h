// Compares texts: does a file hold the text of a part?
//
// Place in the flow: Placement -> here. Compares the fingerprint of the first bytes, the bytes
// before the offset that was read to, and hashes of earlier stretches (Marks). Private to
// agent/tail; one thread; keeps nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/tail/file_probe.h"

namespace l4::tail {

/// `maybe`: the texts agree as far as the file goes, and the file may still be growing.
enum class TextMatch : std::uint8_t { no, maybe, yes };

class TextMatcher {
 public:
  TextMatcher(Context& context, OpenFiles& open_files)
      : context_(context), open_files_(open_files) {}

  /// Whether the file holds the text of the part, as far as the part was read.
  TextMatch match(const LogPart& part, Candidate& file);
  /// Whether a file with the inode of the part is still the same file.
  bool same_text(const LogPart& part, Candidate& file);
  /// Some text of a part; nothing if its file cannot be read, or its name leads elsewhere by now.
  std::optional<std::string> text_of(const LogPart& part, std::uint64_t offset, std::size_t bytes);

 private:
  TextMatch match_whole(const LogPart& part, Candidate& file);
  TextMatch match_ending(const LogPart& part, Candidate& file);
  bool same_beginning(const LogPart& part, Candidate& file, std::uint64_t bytes);
  bool still_growing(const Candidate& file) const;

  Context& context_;
  OpenFiles& open_files_;
};

}  // namespace l4::tail
