#include "agent/tail/reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/check.h"

namespace l4::tail {
namespace {

constexpr int kChangesMax = 16;           // changes of the list of parts in one visit
constexpr Millis kUnfinishedMax{10'000};  // packed text that is still being written

}  // namespace

Reader::Reader(Context& context, Folders& folders, OpenFiles& open_files, Placement& placement,
               Scanner& scanner)
    : context_(context),
      folders_(folders),
      open_files_(open_files),
      placement_(placement),
      scanner_(scanner),
      buffer_(context.options.bytes_per_file + Ending::kMost) {}

Reader::Visit Reader::visit(TailedLog& log, std::size_t budget) {
  Visit visit;
  if (context_.now.steady < log.hold) return visit;
  budget = std::min(budget, context_.options.bytes_per_file);
  int changes = 0;
  for (std::size_t i = 0; i < log.parts.size();) {
    LogPart& part = *log.parts[i];
    if (part.closed) {
      const std::size_t before = log.parts.size();
      context_.missing(part, part.known, part.truncated ? Missing::truncated : Missing::gone);
      if (before == 1 && part.committed >= part.read) {
        context_.retire(part);  // the log may be gone with the part
        return visit;
      }
      if (!context_.retire(part)) ++i;
      continue;
    }
    if (!part.dirty && !part.unread()) {
      ++i;
      continue;
    }
    // The previous part may have got bytes before its file was rotated: those bytes come first.
    LogPart* before = i > 0 ? log.parts[i - 1] : nullptr;
    if (before != nullptr && before->placed() && !before->followed && !before->closed) {
      before->followed = true;
      before->dirty = true;
      i = 0;
      continue;
    }
    const std::uint64_t from = part.read;
    const Step step = this->step(part, budget - visit.bytes);
    if (step == Step::gave) visit.bytes += part.read - from;
    if (step == Step::wait) return visit;
    if (step == Step::changed) {
      // A part that turned up meanwhile may come first; this one waits until that is known.
      if (context_.now.steady < log.hold) return visit;
      visit.more = ++changes > kChangesMax;
      if (visit.more) return visit;
      i = 0;
      continue;
    }
    if (visit.bytes >= budget) {
      visit.more = true;
      return visit;
    }
    if (step == Step::idle) ++i;
  }
  return visit;
}

Reader::Step Reader::unplaced(LogPart& part) {
  if (part.resumed && part.warned) return at_end(part);
  // The search for its file has not begun.
  if (part.resumed && part.give_up == Millis{0}) return Step::wait;
  if (context_.now.steady < part.give_up) {
    context_.set_alarm(part, part.give_up);
    if (part.unread()) return Step::wait;
    part.dirty = false;
    return Step::idle;
  }
  placement_.give_up(part, part.resumed ? Missing::gone : Missing::deleted);
  return Step::changed;
}

Reader::Step Reader::step(LogPart& part, std::size_t budget) {
  part.used = ++visits_;
  if (!part.placed()) return unplaced(part);
  if (part.packed && part.skip_old) part.complete = true;
  const Millis now = context_.now.steady;
  if (!part.named) {
    const bool over = now >= part.give_up && !part.unread();
    if (over || now >= part.give_up + context_.options.deleted_hold) {
      placement_.release(part);
      return Step::changed;
    }
    context_.set_alarm(
        part, std::min(now + context_.options.blind_poll, std::max(part.give_up, now + Millis{1})));
  }
  if (!part.file) {
    if (now < part.retry) {
      context_.set_alarm(part, part.retry);
      return Step::idle;
    }
    Step otherwise = Step::idle;
    if (!open(part, otherwise)) return otherwise;
  }
  return part.packed ? read_packed(part, budget) : read_plain(part, budget);
}

Reader::Step Reader::failed(LogPart& part, int error) {
  ++context_.counters.read_errors;
  context_.close_file(part);
  const bool scarce = error == EMFILE || error == ENFILE;  // one warning for all files
  if (!part.warned && !scarce)
    context_.warn("unreadable", part.path, std::strerror(error),
                  part.known - std::min(part.known, part.read));
  part.warned = part.warned || !scarce;
  const Millis most = scarce ? Millis{1'000} : context_.options.retry_max;
  part.backoff = std::clamp(2 * part.backoff, Millis{1'000}, std::max(most, Millis{1'000}));
  part.retry = context_.now.steady + part.backoff;
  context_.set_alarm(part, part.retry);
  return Step::idle;  // the parts behind it are read meanwhile
}

/// The log waits until its folder has been scanned.
void Reader::hold(LogPart& part) {
  folders_.changed(part.path);
  context_.hold(*part.log, context_.now.steady + Millis{1});
}

bool Reader::open(LogPart& part, Step& otherwise) {
  auto opened = open_files_.open(part.path);
  if (!opened && (opened.error() == ENOENT || opened.error() == ENOTDIR)) {
    placement_.lose_name(part);
    hold(part);
    otherwise = Step::changed;
    return false;
  }
  if (!opened) {
    otherwise = failed(part, opened.error());
    return false;
  }
  const auto status = (*opened)->status();
  if (status && (status->device != part.id.device || status->inode != part.id.inode)) {
    placement_.lose_name(part);
    hold(part);
    otherwise = Step::changed;
    return false;
  }
  auto text = TextFile::make(std::move(*opened));
  if (!text) {
    otherwise = failed(part, text.error());
    return false;
  }
  part.packed = text->packed();
  context_.keep_open(part, std::make_unique<TextFile>(std::move(*text)));
  part.warned = false;
  part.backoff = Millis{0};
  return true;
}

/// Compares the first bytes with the fingerprint, and extends the fingerprint as the file grows.
bool Reader::same_head(LogPart& part, std::uint64_t bytes) {
  const auto head = part.file->head(std::min<std::uint64_t>(kHeadBytes, bytes));
  if (!head) return true;  // the next read gives the error
  wire::FileId& id = part.id;
  if (head->size() < id.fingerprint_bytes ||
      fingerprint_of({head->data(), id.fingerprint_bytes}) != id.fingerprint)
    return false;
  if (head->size() > id.fingerprint_bytes) {
    id.fingerprint_bytes = static_cast<std::uint32_t>(head->size());
    id.fingerprint = fingerprint_of(*head);
  }
  return true;
}

Outcome<bool> Reader::fill(LogPart& part, std::size_t budget, TextFile::Piece& piece,
                           std::string_view& text) {
  const std::size_t before = part.ending.size;
  L4_CHECK(before <= part.read, "part {} was read to {} and remembers {} bytes before that",
           part.id.key, part.read, before);
  auto got = part.file->read(part.read - before, std::span(buffer_).first(before + budget));
  if (!got) return std::unexpected(got.error());
  piece = std::move(*got);
  const std::string_view all{buffer_.data(), piece.bytes};
  if (all.size() < before) return piece.unfinished || !piece.damage.empty();
  if (all.substr(0, before) != part.ending.view()) return false;
  text = all.substr(before);
  return true;
}

/// All of the part is read.
Reader::Step Reader::at_end(LogPart& part) {
  part.dirty = false;
  return Step::idle;
}

/// Whether the file is a copy that lacks the last of the lines that the aggregator counts.
bool Reader::lacks_the_last(LogPart& part, std::uint64_t bytes) {
  const bool current = part.name.kind == discover::RotatedName::Kind::current;
  return std::exchange(part.ahead, false) && !current && bytes < part.read;
}

/// The file is a copy that holds less than was read before its original was truncated.
Reader::Step Reader::read_already(LogPart& part, const Status& status) {
  part.raw = status.bytes;
  part.modified = status.modified;
  part.complete = part.packed;
  context_.missing(part, part.known, Missing::truncated);
  context_.close_file(part);
  return at_end(part);
}

Reader::Step Reader::read_plain(LogPart& part, std::size_t budget) {
  auto status = part.file->status();
  if (!status) return failed(part, status.error());
  if (lacks_the_last(part, status->bytes)) part.shorter = status->bytes;
  if (part.shorter == status->bytes) return read_already(part, *status);
  part.shorter.reset();
  const std::uint32_t head_before = part.id.fingerprint_bytes;
  if (status->bytes < part.read && placement_.cut_back(part, status->bytes)) return Step::changed;
  bool same = status->bytes >= part.read && same_head(part, status->bytes);
  if (same && head_before == 0 && part.id.fingerprint_bytes > 0) {
    // The text became known with this read. Its size counts only if the text is the same before and
    // after the size is read.
    status = part.file->status();
    if (!status) return failed(part, status.error());
    same = status->bytes >= part.id.fingerprint_bytes && same_head(part, status->bytes);
    if (same && !part.started) {
      // The file may have held another text that was rotated away unseen; that text comes first.
      part.modified = status->modified;
      hold(part);
      return Step::wait;
    }
  }
  part.raw = status->bytes;
  part.modified = status->modified;
  part.user = status->user;
  if (!same) {
    scanner_.replaced(part);
    return Step::changed;
  }
  if (!part.truncated && status->bytes < part.cut.value_or(part.known)) {
    if (part.read <= kHeadBytes) {  // too short to differ from another text
      scanner_.replaced(part);
      return Step::changed;
    }
    part.cut = status->bytes;
  }
  // A copy may hold less than its original did before the truncation.
  const std::uint64_t known_before = part.known;
  part.known = std::max(part.known, status->bytes);
  if (part.skip_old && !part.started) context_.missing(part, part.known, Missing::old);
  part.started = true;
  if (!part.unread()) return at_end(part);
  TextFile::Piece piece;
  std::string_view text;
  const std::uint64_t end = part.cut.value_or(part.known);
  const auto follows = fill(part, std::min<std::uint64_t>(budget, end - part.read), piece, text);
  if (!follows) return failed(part, follows.error());
  // The file may have been truncated and written to while it was read.
  if (!*follows || !same_head(part, std::max<std::uint64_t>(part.id.fingerprint_bytes, 1))) {
    const auto after = part.file->status();
    if (after && after->bytes == status->bytes)  // the size belongs to the other text
      part.known = std::max(known_before, part.read);
    scanner_.replaced(part);
    return Step::changed;
  }
  if (part.cut && part.read == end) {
    placement_.go_on_behind(part, end);
    return Step::changed;
  }
  if (text.empty()) {
    if (part.truncated && part.unread()) part.shorter = status->bytes;
    return part.shorter ? read_already(part, *status) : at_end(part);
  }
  context_.give(part, text);
  part.known = std::max(part.known, part.read);
  return Step::gave;
}

Reader::Step Reader::read_packed(LogPart& part, std::size_t budget) {
  const auto status = part.file->status();
  if (!status) return failed(part, status.error());
  if (part.complete && part.raw == status->bytes) {
    context_.close_file(part);
    return at_end(part);
  }
  if (part.shorter) return read_already(part, *status);
  part.raw = status->bytes;
  part.modified = status->modified;
  part.user = status->user;
  part.complete = false;
  if (!part.verified && !same_head(part, kHeadBytes)) {
    scanner_.replaced(part);
    return Step::changed;
  }
  part.verified = true;
  const auto claimed = part.file->claimed_bytes();
  const bool read_all = claimed && *claimed && part.read > 0 && part.known <= part.read &&
                        **claimed == static_cast<std::uint32_t>(part.read);
  TextFile::Piece piece;
  std::string_view text;
  if (!read_all) {
    const auto same = fill(part, budget, piece, text);
    if (!same) return failed(part, same.error());
    if (!*same) {
      scanner_.replaced(part);
      return Step::changed;
    }
  }
  if (!text.empty()) {
    part.raw = 0;  // not read to its end
    context_.give(part, text);
    part.known = std::max(part.known, part.read);
    return Step::gave;
  }
  const Millis now = context_.now.steady;
  if (piece.unfinished && part.unfinished_since == Millis{0}) part.unfinished_since = now;
  if (piece.unfinished && now - part.unfinished_since < kUnfinishedMax) {
    part.raw = 0;
    context_.set_alarm(part, now + context_.options.blind_poll);
    return Step::wait;
  }
  if (piece.unfinished) piece.damage = "packed data ends before its end mark";
  if (!piece.damage.empty()) context_.warn("unreadable", part.path, piece.damage);
  context_.missing(part, part.known,
                   !piece.damage.empty() ? Missing::damaged
                   : part.truncated      ? Missing::truncated
                                         : Missing::gone);
  part.unfinished_since = Millis{0};
  part.complete = true;
  context_.close_file(part);
  return at_end(part);
}

}  // namespace l4::tail
