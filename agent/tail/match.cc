// The half of identity.cc that compares texts: is what a file holds the text of a part?
#include <algorithm>
#include <array>

#include "agent/tail/scanner.h"

namespace l4::tail {

/// The file has the inode of the part: is it the same one still?
bool Scanner::same_text(const LogPart& part, Newcomer& file) {
  const std::uint32_t bytes = part.id.fingerprint_bytes;
  return bytes > 0 && file.head.size() >= bytes &&
         fingerprint_of({file.head.data(), bytes}) == part.id.fingerprint &&
         match_ending(part, file) == TextMatch::yes;
}

/// It may be a copy that is being made.
bool Scanner::still_growing(const Newcomer& file) const {
  return !file.waited && file.rotated() &&
         context_.now.wall - file.seen.status.modified < context_.options.search;
}

/// Is the text of the file that of the part, as far as it was read? `maybe`: as far as it goes, and
/// it may still be growing.
Scanner::TextMatch Scanner::match(const LogPart& part, Newcomer& file) {
  const std::uint32_t bytes = part.id.fingerprint_bytes;
  if (part.closed || (part.placed() && !file.rotated())) return TextMatch::no;
  if (part.placed() && (bytes == 0 || part.first_scan == scan_)) {
    const auto head = text_of(part, 0, bytes);
    const bool holds = head && fingerprint_of(*head) == part.id.fingerprint;
    if (bytes == 0 || holds) return match_whole(part, file);
  }
  if (bytes == 0) return TextMatch::no;
  const Status& status = file.seen.status;
  const bool same_file = part.id.device == status.device && part.id.inode == status.inode;
  if (!file.rotated() && !same_file && bytes < kFingerprintMin) return TextMatch::no;
  if (same_file && !part.resumed) return TextMatch::no;  // it was just found to be another text
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

/// Some text of a part; nothing if its file can not be read, or its name leads elsewhere by now.
std::optional<std::string> Scanner::text_of(const LogPart& part, std::uint64_t offset,
                                            std::size_t bytes) {
  std::unique_ptr<TextFile> opened;
  TextFile* file = part.file.get();
  if (file == nullptr && part.named) {
    auto found = open_file(part.path);
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

/// Two files of which nothing was known: is one all that the other begins with? Else it is older.
Scanner::TextMatch Scanner::match_whole(const LogPart& part, Newcomer& file) {
  const auto size = file.text->claimed_bytes();
  const bool known = size && *size && file.head.size() >= kFingerprintMin;
  if (!known || text_of(part, 0, file.head.size()) != file.head) return TextMatch::no;
  const std::uint64_t bytes = **size;
  const std::uint64_t end = bytes - std::min<std::uint64_t>(bytes, kHeadBytes);
  if (file.text->packed())  // all of it, or of one that has the same beginning and no end yet
    return text_of(part, end, kHeadBytes + 1).value_or("").size() == bytes - end ? TextMatch::yes
                                                                                 : TextMatch::no;
  std::string ending(bytes - end, '\0');
  const auto piece = file.text->read(end, ending);
  const bool same = piece && text_of(part, end, ending.size()) == ending;
  return same ? TextMatch::yes : TextMatch::no;
}

/// Of a copy that was made before the last lines were written that we know of: between copying and
/// truncating. It has the text of the part at its last mark; of a part from positions, whose marks
/// are forgotten, a long beginning must do, which the caller has compared.
bool Scanner::same_beginning(const LogPart& part, Newcomer& file, std::uint64_t bytes) {
  const bool lost = part.truncated || part.resumed || part.shorter;
  if (!lost || !file.rotated()) return false;
  const Status& status = file.seen.status;
  const bool same_file = part.id.device == status.device && part.id.inode == status.inode;
  if (same_file && part.id.fingerprint_bytes == bytes) return true;  // it was known to be all of it
  const std::string_view read = part.ending.view();
  if (read.size() == part.read)  // so little of it that it must be all that the copy has
    return bytes > 0 && bytes <= part.read && file.head.starts_with(read.substr(0, bytes));
  bytes = std::min(bytes, part.read);
  const std::uint64_t mark = part.marks.last_until(bytes);
  if (mark == 0) return part.id.fingerprint_bytes >= kHeadBytes && bytes >= kHeadBytes;
  std::string ending(Ending::kMost, '\0');
  const auto piece = file.text->read(mark - ending.size(), ending);
  return piece && piece->bytes == ending.size() && part.marks.hold(mark, ending);
}

Scanner::TextMatch Scanner::match_ending(const LogPart& part, Newcomer& file) {
  const auto claimed = file.text->claimed_bytes();
  if (!claimed) return TextMatch::no;
  const bool less = *claimed && **claimed < part.read && same_beginning(part, file, **claimed);
  const bool grows = still_growing(file) && (!part.shorter || *claimed != part.shorter);
  const TextMatch shorter = grows ? TextMatch::maybe : less ? TextMatch::yes : TextMatch::no;
  const bool packed = file.text->packed();
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

}  // namespace l4::tail
