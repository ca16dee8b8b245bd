// The part of Scanner that handles text that was cut off.
#include <algorithm>
#include <utility>

#include "agent/tail/scanner.h"

namespace l4::tail {

void Scanner::tell_truncated(TailedLog& log) {
  ++context_.counters.truncations;
  if (!log.told_truncated)
    context_.warn("truncated", log.path,
                  "it is truncated while it is written; more may be missing than is counted");
  log.told_truncated = true;
}

/// The text of the part stands no longer in its file.
void Scanner::lose_file(LogPart& part) {
  tell_truncated(*part.log);
  context_.close_file(part);
  context_.table.drop_file(part);
  forget_name(part);
  part.named = false;
  part.truncated = true;
  context_.search(part);
}

void Scanner::replaced(LogPart& part) {
  lose_file(part);
  if (const auto at = folders_.find(split_folder(part.path).first); at != folders_.end())
    scan(*at->second);
  if (!part.placed()) adopt_copy(part);
}

/// A file turned up that may be what another held before it was truncated. Which parts have lost
/// their text must be known before that can be told.
void Scanner::verify_relatives(Folder& folder, const Seen& seen) {
  if (seen.name == seen.base || folder.verified.contains(seen.base) ||
      context_.table.by_file(seen.status.device, seen.status.inode).part != nullptr)
    return;
  folder.verified.insert(seen.base);
  for (LogPart* part : context_.table.relatives(folder.path, seen.base)) {
    if (!part->named || part->packed || part->closed || part->id.fingerprint_bytes == 0) continue;
    const auto head = text_of(*part, 0, part->id.fingerprint_bytes);
    if (!head) continue;
    const auto status = context_.files.status(part->path, true);
    const bool shorter = status && status->inode == part->id.inode &&
                         status->device == part->id.device && status->bytes < part->read &&
                         part->shorter != status->bytes;  // it is a copy, and had no more
    if (shorter && cut_back(*part, status->bytes)) continue;
    if (shorter || fingerprint_of(*head) != part->id.fingerprint) lose_file(*part);
  }
}

/// Many programs begin with the same bytes: short texts prove nothing.
bool Scanner::cut_back(LogPart& part, std::uint64_t bytes) {
  const std::uint64_t mark = part.marks.last_until(bytes);
  const bool proves = mark > kHeadBytes && part.id.fingerprint_bytes >= kHeadBytes;
  if (!proves || !part.copies.empty()) return false;
  const auto head = text_of(part, 0, kHeadBytes);
  if (!head || fingerprint_of(*head) != part.id.fingerprint) return false;
  const auto ending = text_of(part, mark - Ending::kMost, Ending::kMost);
  if (!ending || !part.marks.hold(mark, *ending)) return false;
  go_on_behind(part, bytes);
  return true;
}

void Scanner::go_on_behind(LogPart& part, std::uint64_t bytes) {
  tell_truncated(*part.log);
  context_.missing(part, part.known, Missing::truncated);
  const auto ending = text_of(part, bytes - std::min<std::uint64_t>(bytes, Ending::kMost),
                              std::min<std::uint64_t>(bytes, Ending::kMost));
  LogPart& next = context_.table.add_behind(part);
  next.first_scan = part.first_scan;
  next.modified = part.modified;
  next.marks = part.marks;
  while (!next.marks.hashes.empty() && Marks::kFirst << (next.marks.hashes.size() - 1) > bytes)
    next.marks.hashes.pop_back();
  context_.table.set_file(next, part.id.device, part.id.inode);
  while (!part.copies.empty())
    context_.table.drop_copy(part.copies.back().device, part.copies.back().inode);
  if (part.file) std::ranges::replace(context_.open, &part, &next);
  next.file = std::move(part.file);
  next.named = std::exchange(part.named, false);
  next.give_up = part.give_up;
  if (const auto at = folders_.find(split_folder(part.path).first); at != folders_.end())
    for (auto& [name, holder] : at->second->parts)
      if (holder == &part) holder = &next;
  part.closed = true;
  next.known = bytes;
  context_.missing(next, bytes, Missing::counted);
  if (ending) next.ending.add(*ending);
  context_.touch(part);
  context_.touch(next);
}

}  // namespace l4::tail
