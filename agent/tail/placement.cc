#include "agent/tail/placement.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace l4::tail {
namespace {

constexpr std::size_t kHeadsMax = 1024;  // each of 4 KiB; further heads are read again

}  // namespace

void Placement::restore_order() {
  order_deferred_ = false;
  for (const LogId id : std::exchange(unarranged_, {}))
    if (TailedLog* log = context_.table.find_log(id)) context_.table.arrange(*log);
}

void Placement::follow(Folder& folder, const FolderEntry& entry, LogPart& part) {
  const std::string path = path_in(folder.path, entry.name);
  const bool elsewhere = !part.named || part.path != path;
  if (part.named && part.path != path) {
    const auto before = context_.files.status(part.path, true);
    if (before && before->device == part.id.device && before->inode == part.id.inode)
      return;  // a second name of the file
    forget_name(part);
    ++context_.counters.rotations;
  }
  // A rotated empty file is not written to again: a file with bytes has got its inode.
  const bool filled =
      entry.name != entry.base && part.id.fingerprint_bytes == 0 && entry.status.bytes > 0;
  if ((elsewhere || filled) && !part.file) {  // the inode may have been used again
    Candidate file{folder, entry};
    Inspection inspection;
    const bool opened = probe_.open(file, inspection);
    part.warned = part.resumed && !opened;  // the file may be readable later
    if (opened && matcher_.same_text(part, file)) return assign(part, file);
    if (opened && part.resumed)  // several texts may have stood in the file, one after another
      for (LogPart* other : context_.table.relatives(folder.path, entry.base))
        if (other->resumed && other->id.inode == part.id.inode &&
            other->id.device == part.id.device && matcher_.same_text(*other, file)) {
          context_.table.drop_file(part);
          return assign(*other, file);
        }
    if (opened) context_.table.drop_file(part);
    if (part.named) lose_name(part);
    return;
  }
  if (elsewhere) assign(part, folder, entry);
  if (part.raw != entry.status.bytes || part.modified != entry.status.modified)
    context_.touch(part);
}

void Placement::assign(LogPart& part, Folder& folder, const FolderEntry& entry) {
  if (part.id.device != entry.status.device || part.id.inode != entry.status.inode) {
    context_.close_file(part);
    part.complete = false;
  }
  context_.table.set_file(part, entry.status.device, entry.status.inode);
  part.named = true;
  part.give_up = Millis{0};
  part.path = path_in(folder.path, entry.name);
  TailedLog* log = part.log;
  if (!part.started && log->base != entry.base)
    log = &context_.table.log_of(folder.path, entry.base);
  if (log != part.log) {
    context_.table.move(part, *log);
  } else {
    context_.table.set_name(part, std::string(part.path));
  }
  part.resumed = false;
  if (log->root.empty()) log->root = folders_.sources().root_of(log->path);
  LogPart*& holder = folder.parts[entry.name];
  if (holder != nullptr && holder != &part) folder.displaced.push_back(holder);
  holder = &part;
  folder.inspections.erase(entry.name);
  if (order_deferred_)
    unarranged_.insert(log->id);
  else
    context_.table.arrange(*log);
  context_.touch(part);
}

void Placement::assign(LogPart& part, const Candidate& file) {
  assign(part, file.folder, file.entry);
  part.packed = file.text->packed();
  if (file.head.size() < part.id.fingerprint_bytes) {  // the file has less than the original had
    part.id.fingerprint_bytes = static_cast<std::uint32_t>(file.head.size());
    part.id.fingerprint = fingerprint_of(file.head);
  }
  const auto bytes = file.text->claimed_bytes();
  part.shorter.reset();
  if (file.rotated() && bytes && *bytes && **bytes < part.read) part.shorter = *bytes;
}

/// Leaves the name alone if it leads to another part by now.
void Placement::forget_name(const LogPart& part) {
  const auto [path, name] = split_folder(part.path);
  Folder* const folder = folders_.find(path);
  if (folder == nullptr) return;
  auto& parts = folder->parts;
  if (const auto own = parts.find(name); own != parts.end() && own->second == &part)
    parts.erase(own);
}

void Placement::lose_name(LogPart& part) {
  forget_name(part);
  part.named = false;
  const Millis now = context_.now.steady;
  if (!part.file && adopt_copy(part)) return;
  if (part.file)  // without a name, its time tells its order among the parts
    if (const auto status = part.file->status()) part.modified = status->modified;
  part.give_up = now + (part.file ? context_.options.deleted_hold : context_.options.search);
  context_.set_alarm(part, std::min(part.give_up, now + context_.options.blind_poll));
  context_.touch(part);
}

bool Placement::adopt_copy(LogPart& part) {
  while (!part.copies.empty()) {
    const Copy copy = part.copies.back();
    context_.table.drop_copy(copy.device, copy.inode);
    const auto [path, name] = split_folder(copy.path);
    Folder* const folder = folders_.find(path);
    if (folder == nullptr) continue;
    const auto status = context_.files.status(copy.path, false);
    if (!status || status->device != copy.device || status->inode != copy.inode) {
      folders_.mark_dirty(*folder);
      continue;
    }
    const FolderEntry entry{name, *status, part.log->base};
    Candidate file{*folder, entry};
    Inspection inspection;
    if (probe_.open(file, inspection) && matcher_.match(part, file) == TextMatch::yes) {
      assign(part, file);
      ++context_.counters.copies_found;
      return true;
    }
    folders_.mark_dirty(*folder);
  }
  return false;
}

void Placement::release(LogPart& part) {
  L4_CHECK(part.file != nullptr, "part {} is not held open", part.id.key);
  if (const auto status = part.file->status(); status && !part.packed)
    part.known = std::max(part.known, status->bytes);
  give_up(part, Missing::held);
}

void Placement::give_up(LogPart& part, Missing why) {
  const bool copied = !part.copies.empty();
  context_.close_file(part);
  if (adopt_copy(part)) return;
  if (copied) {  // the copy may have been renamed since its folder was scanned
    context_.search(part);
    return;
  }
  context_.missing(part, part.known, part.truncated ? Missing::truncated : why);
  part.closed = true;
  part.resumed = false;
  context_.table.drop_file(part);
  context_.wake(*part.log);
}

void Placement::inspect(Folder& folder, const FolderEntry& entry, bool first_round) {
  const Holder holder = context_.table.by_file(entry.status.device, entry.status.inode);
  if (holder.part != nullptr) {
    if (!holder.copy) return;
    const std::string path = path_in(folder.path, entry.name);
    const bool same = std::ranges::any_of(holder.part->copies, [&](const Copy& copy) {
      return copy.path == path && copy.inode == entry.status.inode &&
             copy.bytes == entry.status.bytes && copy.modified == entry.status.modified;
    });
    if (same && (holder.part->placed() || holder.part->closed)) return;
    if (same && adopt_copy(*holder.part)) return;
    context_.table.drop_copy(entry.status.device, entry.status.inode);
  }
  const Status& status = entry.status;
  Inspection& inspection = folder.inspections[entry.name];
  const bool file = inspection.inode == status.inode;
  const bool same =
      file && inspection.bytes == status.bytes && inspection.modified == status.modified;
  const bool seen_enough =
      inspection.decided && inspection.bytes >= kHeadBytes && status.bytes >= inspection.bytes;
  if (file && (seen_enough || (same && inspection.decided))) return;
  if (file && inspection.retry > context_.now.steady) return;
  if (!file) inspection = {};
  if (!same) inspection.since = context_.now.steady;
  inspection.inode = status.inode;
  inspection.bytes = status.bytes;
  inspection.modified = status.modified;
  inspection.decided = false;
  Candidate made{folder, entry};
  if (probe_.open(made, inspection)) resolve(made, inspection, first_round);
}

void Placement::resolve(Candidate& file, Inspection& inspection, bool first_round) {
  // An empty file with a rotated name is about to be filled with a copy.
  if (file.head.empty() && (file.rotated() || file.text->packed())) return;
  if (!probe_.is_log(file, inspection)) return;
  LogPart* copied = nullptr;
  bool maybe = false;
  file.waited = context_.now.steady - inspection.since >= context_.options.search;
  for (LogPart* part : context_.table.relatives(file.folder.path, file.entry.base)) {
    const TextMatch found = matcher_.match(*part, file);
    maybe = maybe || found == TextMatch::maybe;
    if (found == TextMatch::yes && (copied == nullptr || copied->placed())) copied = part;
  }
  if (copied != nullptr && copied->id.fingerprint_bytes == 0) {
    // Nothing of the part was read yet; from now on a change of its text is noticed.
    copied->id.fingerprint_bytes = static_cast<std::uint32_t>(file.head.size());
    copied->id.fingerprint = fingerprint_of(file.head);
  }
  if (first_round && (copied == nullptr || copied->placed())) return;
  if (copied != nullptr && copied->placed()) {
    const Status& status = file.entry.status;
    context_.table.add_copy(
        *copied, {file.path, status.device, status.inode, status.bytes, status.modified});
    file.folder.inspections.erase(file.entry.name);
  } else if (copied != nullptr) {
    ++context_.counters.copies_found;
    assign(*copied, file);
  } else if (maybe) {
    file.folder.waiting = true;
    // The parts behind this part in the log wait with it.
    TailedLog& log = context_.table.log_of(file.folder.path, file.entry.base);
    context_.hold(log, context_.now.steady + 4 * context_.options.pause);
  } else {
    add_part(file);
  }
}

void Placement::add_part(Candidate& file) {
  if (context_.table.parts() >= context_.options.files_max) {
    if (!warned_files_)
      context_.warn("too_many_files", file.folder.path, "files beyond the limit are left out");
    warned_files_ = true;
    return;
  }
  const Status& status = file.entry.status;
  TailedLog& log = context_.table.log_of(file.folder.path, file.entry.base);
  if (log.parts.empty() && !log.announced) {
    const auto link = file.folder.only.find(file.entry.base);
    if (link != file.folder.only.end()) log.path = link->second;
    log.root = folders_.sources().root_of(log.path);
  }
  wire::FileId id;
  id.device = status.device;
  id.inode = status.inode;
  id.fingerprint_bytes = static_cast<std::uint32_t>(file.head.size());
  id.fingerprint = fingerprint_of(file.head);
  LogPart& part = context_.table.add(log, id, file.path);
  part.modified = status.modified;
  part.user = status.user;
  context_.table.insert_before_newer(part);
  context_.table.set_file(part, status.device, status.inode);
  part.named = true;
  part.first_scan = context_.scan;
  part.packed = file.text->packed();
  part.known = file.bytes;
  if (context_.keeps_heads && context_.counters.heads < kHeadsMax && !file.head.empty()) {
    part.head = file.head;
    ++context_.counters.heads;
  }
  part.skip_old = context_.now.wall - status.modified > context_.options.old_after;
  if (context_.open.size() < context_.options.descriptors_max)
    context_.keep_open(part, std::move(file.text));
  file.folder.parts[file.entry.name] = &part;
  file.folder.inspections.erase(file.entry.name);
  context_.table.arrange(log);
  context_.touch(part);
}

void Placement::warn_truncated(TailedLog& log) {
  ++context_.counters.truncations;
  if (!log.warned_truncated)
    context_.warn("truncated", log.path,
                  "it is truncated while it is written; more may be missing than is counted");
  log.warned_truncated = true;
}

void Placement::lose_file(LogPart& part) {
  warn_truncated(*part.log);
  context_.close_file(part);
  context_.table.drop_file(part);
  forget_name(part);
  part.named = false;
  part.truncated = true;
  context_.search(part);
}

void Placement::verify_relatives(Folder& folder, const FolderEntry& entry) {
  if (entry.name == entry.base || folder.verified.contains(entry.base) ||
      context_.table.by_file(entry.status.device, entry.status.inode).part != nullptr)
    return;
  folder.verified.insert(entry.base);
  for (LogPart* part : context_.table.relatives(folder.path, entry.base)) {
    if (!part->named || part->packed || part->closed || part->id.fingerprint_bytes == 0) continue;
    const auto head = matcher_.text_of(*part, 0, part->id.fingerprint_bytes);
    if (!head) continue;
    const auto status = context_.files.status(part->path, true);
    const bool shorter = status && status->inode == part->id.inode &&
                         status->device == part->id.device && status->bytes < part->read &&
                         part->shorter != status->bytes;  // not a copy that is known to be short
    if (shorter && cut_back(*part, status->bytes)) continue;
    if (shorter || fingerprint_of(*head) != part->id.fingerprint) lose_file(*part);
  }
}

/// Short texts prove nothing: many programs begin with the same bytes.
bool Placement::cut_back(LogPart& part, std::uint64_t bytes) {
  const std::uint64_t mark = part.marks.last_until(bytes);
  L4_CHECK(mark <= bytes, "mark {} lies behind {}", mark, bytes);
  const bool proves = mark > kHeadBytes && part.id.fingerprint_bytes >= kHeadBytes;
  if (!proves || !part.copies.empty()) return false;
  const auto head = matcher_.text_of(part, 0, kHeadBytes);
  if (!head || fingerprint_of(*head) != part.id.fingerprint) return false;
  const auto ending = matcher_.text_of(part, mark - Ending::kMost, Ending::kMost);
  if (!ending || !part.marks.hold(mark, *ending)) return false;
  go_on_behind(part, bytes);
  return true;
}

void Placement::go_on_behind(LogPart& part, std::uint64_t bytes) {
  warn_truncated(*part.log);
  context_.missing(part, part.known, Missing::truncated);
  const auto ending = matcher_.text_of(part, bytes - std::min<std::uint64_t>(bytes, Ending::kMost),
                                       std::min<std::uint64_t>(bytes, Ending::kMost));
  LogPart& next = context_.table.add_behind(part);
  next.first_scan = part.first_scan;
  next.modified = part.modified;
  next.user = part.user;
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
  if (Folder* const folder = folders_.folder_of(part.path))
    for (auto& [name, holder] : folder->parts)
      if (holder == &part) holder = &next;
  part.closed = true;
  next.known = bytes;
  context_.missing(next, bytes, Missing::counted);
  if (ending) next.ending.add(*ending);
  context_.touch(part);
  context_.touch(next);
}

}  // namespace l4::tail
