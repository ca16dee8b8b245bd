#include "agent/tail/text_matcher.h"

#include <algorithm>
#include <array>
#include <memory>

#include "common/base/check.h"

namespace l4::tail {

std::optional<std::string> TextMatcher::text_of(const LogPart& part, std::uint64_t offset,
                                                std::size_t bytes) {
  std::unique_ptr<TextFile> opened;
  TextFile* file = part.file.get();
  if (file == nullptr && part.named) {
    auto found = open_files_.open(part.path);
    auto made = found ? TextFile::make(std::move(*found)) : std::unexpected(found.error());
    if (made) opened = std::make_unique<TextFile>(std::move(*made));
    file = opened.get();
  }
  if (file == nullptr) return std::nullopt;
  const auto status = file->status();
  if (!status || status->inode != part.id.inode || status->device != part.id.device)
    return std::nullopt;
  std::string text(bytes, '\0');
  const auto piece = file->read(offset, text);
  if (!piece) return std::nullopt;
  text.resize(piece->bytes);
  return text;
}

bool TextMatcher::same_text(const LogPart& part, Candidate& file) {
  const std::uint32_t bytes = part.id.fingerprint_bytes;
  return bytes > 0 && file.head.size() >= bytes &&
         fingerprint_of({file.head.data(), bytes}) == part.id.fingerprint &&
         match_ending(part, file) == TextMatch::yes;
}

TextMatch TextMatcher::match(const LogPart& part, Candidate& file) {
  const std::uint32_t bytes = part.id.fingerprint_bytes;
  if (part.closed || (part.placed() && !file.rotated())) return TextMatch::no;
  if (part.placed() && (bytes == 0 || part.first_scan == context_.scan)) {
    const auto head = text_of(part, 0, bytes);
    const bool holds = head && fingerprint_of(*head) == part.id.fingerprint;
    if (bytes == 0 || holds) return match_whole(part, file);
  }
  if (bytes == 0) return TextMatch::no;
  const Status& status = file.entry.status;
  const bool same_file = part.id.device == status.device && part.id.inode == status.inode;
  if (!file.rotated() && !same_file && bytes < kFingerprintMin) return TextMatch::no;
  if (same_file && !part.resumed) return TextMatch::no;  // `same_text` found another text
  if (file.head.size() < bytes) {
    if (!still_growing(file))
      return same_beginning(part, file, file.head.size()) ? match_ending(part, file)
                                                          : TextMatch::no;
    const auto head = text_of(part, 0, file.head.size());
    return head && *head != file.head ? TextMatch::no : TextMatch::maybe;
  }
  if (fingerprint_of({file.head.data(), bytes}) != part.id.fingerprint) return TextMatch::no;
  return match_ending(part, file);
}

/// Compares two files of which nothing was known: does the part begin with all of the file's text?
/// If not, the file is an older text.
TextMatch TextMatcher::match_whole(const LogPart& part, Candidate& file) {
  const auto size = file.text->claimed_bytes();
  const bool known = size && *size && file.head.size() >= kFingerprintMin;
  if (!known || text_of(part, 0, file.head.size()) != file.head) return TextMatch::no;
  const std::uint64_t bytes = **size;
  const std::uint64_t end = bytes - std::min<std::uint64_t>(bytes, kHeadBytes);
  if (file.text->packed())  // compares the size that the packed file claims
    return text_of(part, end, kHeadBytes + 1).value_or("").size() == bytes - end ? TextMatch::yes
                                                                                 : TextMatch::no;
  std::string ending(bytes - end, '\0');
  const auto piece = file.text->read(end, ending);
  const bool same = piece && text_of(part, end, ending.size()) == ending;
  return same ? TextMatch::yes : TextMatch::no;
}

/// A copy may lack the last lines of its original, which were written between copying and
/// truncating. Such a copy has the text of the part at the last mark. The marks of a part that was
/// resumed from positions are lost: so a long common beginning, which the caller has compared, is
/// enough.
bool TextMatcher::same_beginning(const LogPart& part, Candidate& file, std::uint64_t bytes) {
  const bool lost = part.truncated || part.resumed || part.shorter;
  if (!lost || !file.rotated()) return false;
  const Status& status = file.entry.status;
  const bool same_file = part.id.device == status.device && part.id.inode == status.inode;
  if (same_file && part.id.fingerprint_bytes == bytes) return true;  // all of its text was known
  const std::string_view read = part.ending.view();
  // If `ending` holds all that was read, the copy must hold nothing else.
  if (read.size() == part.read)
    return bytes > 0 && bytes <= part.read && file.head.starts_with(read.substr(0, bytes));
  bytes = std::min(bytes, part.read);
  const std::uint64_t mark = part.marks.last_until(bytes);
  if (mark == 0) return part.id.fingerprint_bytes >= kHeadBytes && bytes >= kHeadBytes;
  std::string ending(Ending::kMost, '\0');
  const auto piece = file.text->read(mark - ending.size(), ending);
  return piece && piece->bytes == ending.size() && part.marks.hold(mark, ending);
}

TextMatch TextMatcher::match_ending(const LogPart& part, Candidate& file) {
  const auto claimed = file.text->claimed_bytes();
  if (!claimed) return TextMatch::no;
  const bool less = *claimed && **claimed < part.read && same_beginning(part, file, **claimed);
  const bool grows = still_growing(file) && (!part.shorter || *claimed != part.shorter);
  const TextMatch shorter = grows ? TextMatch::maybe : less ? TextMatch::yes : TextMatch::no;
  const bool packed = file.text->packed();
  L4_CHECK(packed || claimed->has_value(), "the size of a plain file is not known");
  if (packed && (part.resumed || (*claimed && **claimed == static_cast<std::uint32_t>(part.known))))
    return TextMatch::yes;
  if (!packed && **claimed < part.read) return shorter;
  const std::string_view ending = part.ending.view();
  if (ending.empty()) return TextMatch::yes;
  std::array<char, Ending::kMost> bytes{};
  const auto piece =
      file.text->read(part.read - ending.size(), std::span(bytes).first(ending.size()));
  if (!piece) return TextMatch::no;
  if (piece->bytes < ending.size()) return piece->damage.empty() ? shorter : TextMatch::no;
  return std::string_view(bytes.data(), ending.size()) == ending ? TextMatch::yes : TextMatch::no;
}

/// The file may be a copy that is still being made.
bool TextMatcher::still_growing(const Candidate& file) const {
  return !file.waited && file.rotated() &&
         context_.now.wall - file.entry.status.modified < context_.options.search;
}

}  // namespace l4::tail
