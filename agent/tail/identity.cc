// The half of Scanner that tells which part a file is.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/discover/file_kind.h"
#include "agent/tail/scanner.h"
#include "common/base/find_bytes.h"

namespace l4::tail {
namespace {

constexpr std::size_t kJsonLineMax = 64 * 1024;
constexpr std::size_t kHeadsMax = 1024;  // of 4 KiB; beyond it they are read again

/// The first bytes that are none of a hole; empty if there are none yet.
std::string head_of_text(TextFile& text, std::string head) {
  for (std::uint64_t at = 0; head.size() == kHeadBytes && at < discover::kHoleBytesMax;) {
    if (!behind_hole(head).empty()) return head;
    at += head.size();
    const auto piece = text.read(at, head);
    head.resize(piece ? piece->bytes : 0);
  }
  return std::string(behind_hole(head));
}

}  // namespace

/// A file of a known part: it may have been renamed, or written to.
void Scanner::follow(Folder& folder, const Seen& seen, LogPart& part) {
  const std::string path = path_in(folder.path, seen.name);
  const bool elsewhere = !part.named || part.path != path;
  if (part.named && part.path != path) {
    const auto before = context_.files.status(part.path, true);
    if (before && before->device == part.id.device && before->inode == part.id.inode)
      return;  // one more name of it
    forget_name(part);
    ++context_.counters.rotations;
  }
  // An empty file that was rotated is not written to again; this is what has its inode now.
  const bool filled =
      seen.name != seen.base && part.id.fingerprint_bytes == 0 && seen.status.bytes > 0;
  if ((elsewhere || filled) && !part.file) {  // the inode may have been used again
    Newcomer file{folder, seen};
    Look look;
    const bool opened = look_into(file, look);
    part.told = part.resumed && !opened;  // it may be readable later
    if (opened && same_text(part, file)) return take_place(part, file);
    if (opened && part.resumed)  // of texts that stood in one file one after the other
      for (LogPart* other : context_.table.relatives(folder.path, seen.base))
        if (other->resumed && other->id.inode == part.id.inode &&
            other->id.device == part.id.device && same_text(*other, file)) {
          context_.table.drop_file(part);
          return take_place(*other, file);
        }
    if (opened) context_.table.drop_file(part);
    if (part.named) lose_name(part);
    return;
  }
  if (elsewhere) take_place(part, folder, seen);
  if (part.raw != seen.status.bytes || part.modified != seen.status.modified) context_.touch(part);
}

void Scanner::take_place(LogPart& part, Folder& folder, const Seen& seen) {
  if (part.id.device != seen.status.device || part.id.inode != seen.status.inode) {
    context_.close_file(part);
    part.complete = false;
  }
  context_.table.set_file(part, seen.status.device, seen.status.inode);
  part.named = true;
  part.give_up = Millis{0};
  part.path = path_in(folder.path, seen.name);
  TailedLog* log = part.log;
  if (!part.started && log->base != seen.base) log = &context_.table.log_of(folder.path, seen.base);
  if (log != part.log) {
    context_.table.move(part, *log);
  } else {
    context_.table.set_name(part, std::string(part.path));
  }
  part.resumed = false;
  if (log->root.empty()) log->root = sources_.root_of(log->path);
  LogPart*& holder = folder.parts[seen.name];
  if (holder != nullptr && holder != &part) folder.displaced.push_back(holder);
  holder = &part;
  folder.looks.erase(seen.name);
  if (names_settle_)
    unarranged_.insert(log->id);
  else
    context_.table.arrange(*log);
  context_.touch(part);
}

void Scanner::take_place(LogPart& part, const Newcomer& file) {
  take_place(part, file.folder, file.seen);
  part.packed = file.text->packed();
  if (file.head.size() < part.id.fingerprint_bytes) {  // it has less than the original had
    part.id.fingerprint_bytes = static_cast<std::uint32_t>(file.head.size());
    part.id.fingerprint = fingerprint_of(file.head);
  }
  const auto bytes = file.text->claimed_bytes();
  part.shorter.reset();
  if (file.rotated() && bytes && *bytes && **bytes < part.read) part.shorter = *bytes;
}

/// Its name may lead to another part by now.
void Scanner::forget_name(const LogPart& part) {
  const auto [place, name] = split_folder(part.path);
  const auto at = folders_.find(place);
  if (at == folders_.end()) return;
  auto& parts = at->second->parts;
  if (const auto own = parts.find(name); own != parts.end() && own->second == &part)
    parts.erase(own);
}

void Scanner::lose_name(LogPart& part) {
  forget_name(part);
  part.named = false;
  const Millis now = context_.now.steady;
  if (!part.file && adopt_copy(part)) return;
  if (part.file)  // from now on its place among the others is told by its time
    if (const auto status = part.file->status()) part.modified = status->modified;
  part.give_up = now + (part.file ? context_.options.deleted_hold : context_.options.search);
  context_.set_alarm(part, std::min(part.give_up, now + context_.options.blind_poll));
  context_.touch(part);
}

bool Scanner::adopt_copy(LogPart& part) {
  while (!part.copies.empty()) {
    const Copy copy = part.copies.back();
    context_.table.drop_copy(copy.device, copy.inode);
    const auto [place, name] = split_folder(copy.path);
    const auto at = folders_.find(place);
    if (at == folders_.end()) continue;
    const auto status = context_.files.status(copy.path, false);
    if (!status || status->device != copy.device || status->inode != copy.inode) {
      mark(*at->second);
      continue;
    }
    const Seen seen{name, *status, part.log->base};
    Newcomer file{*at->second, seen};
    Look look;
    if (look_into(file, look) && match(part, file) == TextMatch::yes) {
      take_place(part, file);
      ++context_.counters.copies_found;
      return true;
    }
    mark(*at->second);
  }
  return false;
}

void Scanner::let_go(LogPart& part) {
  if (const auto status = part.file->status(); status && !part.packed)
    part.known = std::max(part.known, status->bytes);
  give_up(part, Missing::held);
}

void Scanner::give_up(LogPart& part, Missing why) {
  const bool copied = !part.copies.empty();
  context_.close_file(part);
  if (adopt_copy(part)) return;
  if (copied) {  // which may have got another name since its folder was looked at
    context_.search(part);
    return;
  }
  context_.missing(part, part.known, part.truncated ? Missing::truncated : why);
  part.closed = true;
  part.resumed = false;
  context_.table.drop_file(part);
  context_.wake(*part.log);
}

void Scanner::newcomer(Folder& folder, const Seen& seen, bool first_round) {
  const Holder holder = context_.table.by_file(seen.status.device, seen.status.inode);
  if (holder.part != nullptr) {
    if (!holder.copy) return;
    const std::string path = path_in(folder.path, seen.name);
    const bool same = std::ranges::any_of(holder.part->copies, [&](const Copy& copy) {
      return copy.path == path && copy.inode == seen.status.inode &&
             copy.bytes == seen.status.bytes && copy.modified == seen.status.modified;
    });
    if (same && (holder.part->placed() || holder.part->closed)) return;
    if (same && adopt_copy(*holder.part)) return;
    context_.table.drop_copy(seen.status.device, seen.status.inode);
  }
  const Status& status = seen.status;
  Look& look = folder.looks[seen.name];
  const bool file = look.inode == status.inode;
  const bool same = file && look.bytes == status.bytes && look.modified == status.modified;
  const bool seen_enough = look.decided && look.bytes >= kHeadBytes && status.bytes >= look.bytes;
  if (file && (seen_enough || (same && look.decided))) return;
  if (file && look.retry > context_.now.steady) return;
  if (!file) look = {};
  if (!same) look.since = context_.now.steady;
  look.inode = status.inode;
  look.bytes = status.bytes;
  look.modified = status.modified;
  look.decided = false;
  Newcomer made{folder, seen};
  if (look_into(made, look)) place_newcomer(made, look, first_round);
}

/// Opens it and reads its first bytes. False if there is nothing to be done with it now.
bool Scanner::look_into(Newcomer& file, Look& look) {
  file.path = path_in(file.folder.path, file.seen.name);
  auto opened = open_file(file.path);
  if (!opened) {
    not_opened(file, look, opened.error());
    return false;
  }
  const auto status = (*opened)->status();
  if (!status || status->inode != file.seen.status.inode ||
      status->device != file.seen.status.device) {
    mark(file.folder);
    return false;
  }
  auto text = TextFile::make(std::move(*opened));
  if (!text) {
    not_opened(file, look, text.error());
    return false;
  }
  file.text = std::make_unique<TextFile>(std::move(*text));
  const auto steady = measure(file);
  if (!steady) {
    not_opened(file, look, steady.error());
    return false;
  }
  if (!*steady) mark(file.folder);
  look.told = false;
  return *steady;
}

/// Its first bytes and its size, of one and the same text: it may be truncated and written to right
/// now, and bytes that the old text had must not be expected of the new one.
Outcome<bool> Scanner::measure(Newcomer& file) {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    auto before = file.text->head(kHeadBytes);
    if (!before) return std::unexpected(before.error());
    file.head = std::move(*before);
    file.bytes = 0;
    if (file.text->packed()) return true;
    const auto status = file.text->status();
    if (!status) return std::unexpected(status.error());
    const auto after = file.text->head(kHeadBytes);
    if (!after) return std::unexpected(after.error());
    if (after->empty() != file.head.empty() || !after->starts_with(file.head)) continue;
    if (!file.head.empty()) file.bytes = std::max<std::uint64_t>(status->bytes, file.head.size());
    return true;
  }
  return false;
}

void Scanner::not_opened(Newcomer& file, Look& look, int error) {
  if (error == ENOENT) return;
  ++context_.counters.read_errors;
  const bool scarce = error == EMFILE || error == ENFILE;
  if (!look.told && !scarce)
    context_.warn("unreadable", file.path, std::strerror(error), file.seen.status.bytes);
  look.told = look.told || !scarce;
  const Millis most = scarce ? Millis{1'000} : context_.options.retry_max;
  look.backoff = std::clamp(2 * look.backoff, Millis{1'000}, std::max(most, Millis{1'000}));
  look.retry = context_.now.steady + look.backoff;
  set_alarm(file.folder, look.retry);
}

/// By its first bytes; says once what is left out.
bool Scanner::is_log(const Newcomer& file, Look& look) {
  const std::string head = head_of_text(*file.text, file.head);
  if (head.empty() && !file.head.empty()) return false;  // a hole, and its text is to come
  if (discover::content_of_head(head) == discover::Content::binary) {
    look.decided = true;
    ++context_.counters.left_out;
    context_.warn("binary", file.path, "its first 4 KiB are not text", file.seen.status.bytes);
    return false;
  }
  const bool asked =
      sources_.wanted(file.folder.path, file.seen.base, file.seen.name) == Wanted::by_name;
  if (asked || !discover::has_json_extension(file.seen.name)) return true;
  const auto line = file.text->head(kJsonLineMax);
  if (!line) return false;
  const std::size_t end = line->find('\n');
  if (end == std::string::npos && line->size() < kJsonLineMax) return false;  // not written yet
  if (discover::is_json_log_line(std::string_view(*line).substr(0, end))) return true;
  look.decided = true;
  ++context_.counters.left_out;
  return false;
}

void Scanner::place_newcomer(Newcomer& file, Look& look, bool first_round) {
  // An empty one that looks rotated is about to be filled with a copy.
  if (file.head.empty() && (file.rotated() || file.text->packed())) return;
  if (!is_log(file, look)) return;
  LogPart* copied = nullptr;
  bool maybe = false;
  file.waited = context_.now.steady - look.since >= context_.options.search;
  for (LogPart* part : context_.table.relatives(file.folder.path, file.seen.base)) {
    const TextMatch found = match(*part, file);
    maybe = maybe || found == TextMatch::maybe;
    if (found == TextMatch::yes && (copied == nullptr || copied->placed())) copied = part;
  }
  if (copied != nullptr && copied->id.fingerprint_bytes == 0) {
    // Nothing of it was read yet; from now on it would be noticed if it had another text.
    copied->id.fingerprint_bytes = static_cast<std::uint32_t>(file.head.size());
    copied->id.fingerprint = fingerprint_of(file.head);
  }
  if (first_round && (copied == nullptr || copied->placed())) return;
  if (copied != nullptr && copied->placed()) {
    const Status& status = file.seen.status;
    context_.table.add_copy(
        *copied, {file.path, status.device, status.inode, status.bytes, status.modified});
    file.folder.looks.erase(file.seen.name);
  } else if (copied != nullptr) {
    ++context_.counters.copies_found;
    take_place(*copied, file);
  } else if (maybe) {
    file.folder.waiting = true;
    // What follows it in the log waits with it.
    TailedLog& log = context_.table.log_of(file.folder.path, file.seen.base);
    context_.hold(log, context_.now.steady + 4 * context_.options.pause);
  } else {
    add_part(file);
  }
}

void Scanner::add_part(Newcomer& file) {
  if (context_.table.parts() >= context_.options.files_max) {
    if (!told_files_)
      context_.warn("too_many_files", file.folder.path, "files beyond the limit are left out");
    told_files_ = true;
    return;
  }
  const Status& status = file.seen.status;
  TailedLog& log = context_.table.log_of(file.folder.path, file.seen.base);
  if (log.parts.empty() && !log.announced) {
    const auto link = file.folder.only.find(file.seen.base);
    if (link != file.folder.only.end()) log.path = link->second;
    log.root = sources_.root_of(log.path);
  }
  wire::FileId id;
  id.device = status.device;
  id.inode = status.inode;
  id.fingerprint_bytes = static_cast<std::uint32_t>(file.head.size());
  id.fingerprint = fingerprint_of(file.head);
  LogPart& part = context_.table.add(log, id, file.path);
  part.modified = status.modified;
  context_.table.put_before_newer(part);
  context_.table.set_file(part, status.device, status.inode);
  part.named = true;
  part.first_scan = scan_;
  part.packed = file.text->packed();
  part.known = file.bytes;
  if (context_.keeps_heads && context_.counters.heads < kHeadsMax && !file.head.empty()) {
    part.head = file.head;
    ++context_.counters.heads;
  }
  part.skip_old = context_.now.wall - status.modified > context_.options.old_after;
  if (context_.open.size() < context_.options.descriptors_max)
    context_.keep_open(part, std::move(file.text));
  file.folder.parts[file.seen.name] = &part;
  file.folder.looks.erase(file.seen.name);
  context_.table.arrange(log);
  context_.touch(part);
}

}  // namespace l4::tail
