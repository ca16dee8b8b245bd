#include "aggregator/store/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::store {
namespace {

constexpr std::string_view kSegmentSuffix = ".l4j";

std::string name_of(std::uint64_t generation, Seq first, std::uint32_t salt) {
  return fmt::format("{:016x}-{:016x}-{:08x}{}", generation, first.value(), salt, kSegmentSuffix);
}

/// Empty if `name` does not name a segment.
std::optional<SegmentFile> segment_of(const std::string& name) {
  constexpr std::size_t kLength = 16 + 1 + 16 + 1 + 8 + kSegmentSuffix.size();
  if (name.size() != kLength || !name.ends_with(kSegmentSuffix)) return std::nullopt;
  const auto number = [&](std::size_t from, std::size_t size) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const char* end = name.data() + from + size;
    const auto [stop, error] = std::from_chars(name.data() + from, end, value, 16);
    return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
  };
  const auto generation = number(0, 16), first = number(17, 16), salt = number(34, 8);
  if (!generation || !first || !salt) return std::nullopt;
  SegmentFile segment;
  segment.generation = *generation;
  segment.first = Seq{*first};
  segment.salt = static_cast<std::uint32_t>(*salt);
  return segment;
}

/// Sets where each segment ends: at the first number of a later segment that has records. A segment
/// without records ends no other: it may be a leftover that a crash brought back.
void bound(std::vector<SegmentFile>& segments) {
  std::optional<Seq> end;
  for (auto at = segments.rbegin(); at != segments.rend(); ++at) {
    at->end = end;
    if (at->bytes <= segment_magic().size()) continue;
    keep_earliest(end, at->first);
  }
}

bool belongs(const SegmentFile& segment, Seq seq) {
  return seq >= segment.first && (!segment.end || seq < *segment.end);
}

void note_trouble(Replayed& replayed, std::string text) {
  constexpr std::size_t kToldMax = 16;
  if (replayed.trouble.size() < kToldMax) replayed.trouble.push_back(std::move(text));
}

Result<void> copy_segment(Files& files, const Path& from, const Path& to, std::uint64_t bytes) {
  auto source = files.open(from, false);
  if (!source) return std::unexpected(source.error());
  auto target = files.create(to);
  if (!target) return std::unexpected(target.error());
  Bytes part(1 << 20);
  for (std::uint64_t at = 0; at < bytes;) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), bytes - at));
    const auto read = (*source)->read(at, std::span(part).first(size));
    if (!read) return std::unexpected(read.error());
    if (*read < size) return std::unexpected(Error{from.string(), "is shorter than it was"});
    if (auto done = (*target)->append(std::span(part).first(size)); !done) return done;
    at += size;
  }
  return (*target)->sync();
}

/// Visits the records of one segment; false if the visitor ended the visit.
bool read_segment(Files& files, const SegmentFile& segment, Replayed& replayed,
                  const std::function<bool(const Record&)>& visit) {
  auto file = files.open(segment.path, false);
  if (!file) {
    replayed.unread = true;
    note_trouble(replayed, file.error().text());
    return true;
  }
  bool more = true;
  const auto scanned =
      scan(**file, segment.bytes, segment.salt, [&](const Record& record, std::uint64_t) {
        if (!belongs(segment, record.seq)) return true;
        return more = visit(record);
      });
  if (!scanned) {
    replayed.unread = true;
    note_trouble(replayed, scanned.error().text());
    return true;
  }
  replayed.unread |= more && !segment.end && scanned->tail > 0;
  replayed.damaged += scanned->damaged;
  replayed.torn_bytes += scanned->tail;
  for (const Damage& damage : scanned->damage)
    note_trouble(replayed, fmt::format("{}: offset {}: {} bytes are damaged", segment.path.string(),
                                       damage.offset, damage.bytes));
  return more;
}

/// Visits all records above `after`, in order, each once, and counts missing numbers.
Replayed walk(Files& files, const std::vector<SegmentFile>& segments, Seq after,
              const std::function<bool(const Record&)>& visit) {
  Replayed replayed;
  std::optional<Seq> before;
  std::optional<TimeMs> time;
  const auto miss = [&](Seq next) {  // counts the numbers between the last record and `next`
    if (!before || next.value() <= before->value() + 1) return;
    if (replayed.lost_records == 0) replayed.whole_to = time;
    replayed.whole_from = next;
    replayed.lost_records += next.value() - before->value() - 1;
  };
  for (const SegmentFile& segment : segments) {
    if (segment.end && segment.end->value() <= after.value() + 1) continue;
    if (!before) before = Seq{std::max(segment.first.value(), after.value() + 1) - 1};
    const bool more = read_segment(files, segment, replayed, [&](const Record& record) {
      if (record.seq <= after || record.seq <= *before) return true;
      miss(record.seq);
      before = record.seq;
      time = record.time;
      return visit(record);
    });
    if (!more) break;
    if (!segment.end) continue;
    miss(*segment.end);
    before = std::max(*before, Seq{segment.end->value() - 1});
  }
  return replayed;
}

}  // namespace

Result<Journal> Journal::open(Files& files, const Path& folder, JournalOptions options,
                              Seq at_least) {
  Journal journal(files, folder, options);
  if (auto done = journal.scan_folder(at_least); !done) return std::unexpected(done.error());
  return journal;
}

Result<void> Journal::scan_folder(Seq at_least) {
  const auto names = files_->list(folder_);
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) {
    if (name.ends_with(kUnfinished)) static_cast<void>(files_->remove(folder_ / name));
    auto segment = segment_of(name);
    if (!segment) continue;
    segment->path = folder_ / name;
    auto file = files_->open(segment->path, false);
    const auto size = file ? (*file)->size() : std::unexpected(file.error());
    if (!size) return std::unexpected(size.error());
    segment->bytes = *size;
    if (const auto heads = read_heads(**file, *size); heads && heads->whole) {
      segment->oldest = heads->oldest;
      segment->newest = heads->newest;
    }
    generation_ = std::max(generation_, segment->generation);
    segments_.push_back(*std::move(segment));
  }
  std::ranges::sort(segments_, {}, [](const SegmentFile& segment) {
    return std::pair(segment.first, segment.generation);
  });
  bound(segments_);
  for (auto at = segments_.rbegin(); at != segments_.rend(); ++at) {
    const auto holds = inspect_newest(*at);
    if (!holds) return std::unexpected(holds.error());
    if (*holds) break;
  }
  last_ = std::max(last_, at_least);
  return {};
}

/// Finds the last record of the segment and truncates a torn tail; false if it has no record.
Result<bool> Journal::inspect_newest(SegmentFile& segment) {
  // The numbers below a segment were given out, even if all its records are gone.
  if (segment.first.value() > 0) last_ = std::max(last_, Seq{segment.first.value() - 1});
  auto file = files_->open(segment.path, true);
  const bool writable = file.has_value();
  if (!writable) file = files_->open(segment.path, false);
  if (!file) return std::unexpected(file.error());
  bool holds = false;
  const auto scanned =
      scan(**file, segment.bytes, segment.salt, [&](const Record& record, std::uint64_t) {
        if (!belongs(segment, record.seq)) return true;
        holds = true;
        last_ = std::max(last_, record.seq);
        return true;
      });
  if (!scanned) return std::unexpected(scanned.error());
  if (scanned->tail > 0) {
    torn_bytes_ += scanned->tail;
    if (writable && (*file)->truncate(scanned->end)) segment.bytes = scanned->end;
  }
  if (holds) unsure_ = segment.path;
  return holds;
}

/// Copies the last segment of an earlier process. A killed process may have left its last records
/// to the kernel, and the kernel reports a failed write only once: such records can be read and are
/// gone after a loss of power. A synced copy is durable for sure.
Result<void> Journal::rewrite_unsure() {
  if (unsure_.empty()) return {};
  const auto old = std::ranges::find(segments_, unsure_, &SegmentFile::path);
  L4_CHECK(old != segments_.end(), "{} is not listed", unsure_.string());
  SegmentFile copy = *old;
  copy.generation = ++generation_;
  copy.path = folder_ / name_of(copy.generation, copy.first, copy.salt);
  // The copy makes the old segment void, so its name must not exist before the copy is complete.
  const Path unfinished = Path(copy.path) += kUnfinished;
  auto done = copy_segment(*files_, old->path, unfinished, copy.bytes);
  if (done) done = files_->rename(unfinished, copy.path);
  if (!done) static_cast<void>(files_->remove(unfinished));
  if (done) done = files_->sync_folder(folder_);
  if (!done) return done;
  static_cast<void>(files_->remove(old->path));  // void from now on, even if it stays
  *old = std::move(copy);
  bound(segments_);
  unsure_.clear();
  return {};
}

Replayed Journal::replay(Seq after, const std::function<void(const Record&)>& visit) const {
  std::uint64_t records = 0, bytes = 0;
  Replayed replayed = walk(*files_, segments_, after, [&](const Record& record) {
    ++records;
    bytes += record.batch.size();
    visit(record);
    return true;
  });
  replayed.records = records;
  replayed.bytes = bytes;
  return replayed;
}

Result<void> Journal::begin_segment(Seq first) {
  if (bytes() >= options_.bytes_max)
    return std::unexpected(Error{folder_.string(), fmt::format("the journal has its {} bytes, and "
                                                               "no checkpoint frees any",
                                                               options_.bytes_max)});
  SegmentFile segment;
  segment.generation = ++generation_;
  segment.first = first;
  segment.salt = static_cast<std::uint32_t>(random_());
  segment.path = folder_ / name_of(segment.generation, first, segment.salt);
  auto file = files_->create(segment.path);
  if (!file) return std::unexpected(file.error());
  auto done = (*file)->append(segment_magic());
  if (done) done = (*file)->sync();
  if (done) done = files_->sync_folder(folder_);
  if (!done) {
    file->reset();
    static_cast<void>(files_->remove(segment.path));
    return done;
  }
  segment.bytes = segment_magic().size();
  file_ = std::move(*file);
  segments_.push_back(std::move(segment));
  bound(segments_);
  return {};
}

Result<void> Journal::probe() {
  if (auto rewritten = rewrite_unsure(); !rewritten) return rewritten;
  return file_ ? Result<void>{} : begin_segment(Seq{last_.value() + 1});
}

Result<void> Journal::commit(RecordGroup& group) {
  if (auto rewritten = rewrite_unsure(); !rewritten) return rewritten;
  if (group.empty()) return {};
  L4_CHECK(group.first() > last_, "record {} is appended behind {}", group.first(), last_);
  if (!file_)
    if (auto begun = begin_segment(group.first()); !begun) return begun;
  SegmentFile& segment = segments_.back();
  auto done = file_->append(group.sealed(segment.salt));
  if (done) done = file_->sync();
  if (!done) {
    abandon();
    return done;
  }
  segment.bytes += group.bytes();
  keep_earliest(segment.oldest, group.oldest());
  keep_latest(segment.newest, group.newest());
  last_ = group.last();
  bound(segments_);
  if (segment.bytes >= options_.segment_bytes) file_.reset();
  return {};
}

/// Leaves a segment whose last write failed. Even if it cannot be truncated, the next segment makes
/// the failed records void.
void Journal::abandon() {
  ++abandoned_;
  static_cast<void>(file_->truncate(segments_.back().bytes));
  file_.reset();
}

void Journal::retain(Seq floor, TimeMs now) {
  std::uint64_t all = bytes();
  const std::size_t closed = segments_.size() - (file_ ? 1 : 0);
  std::size_t gone = 0;
  for (; gone < closed; ++gone) {
    const SegmentFile& segment = segments_[gone];
    const Seq end = segment.end.value_or(Seq{last_.value() + 1});
    if (end.value() > floor.value() + 1) break;
    const bool old = segment.newest ? now - *segment.newest > options_.ring_age
                                    : segment.bytes <= segment_magic().size();
    if (!old && all <= options_.ring_bytes) break;
    if (!files_->remove(segment.path)) break;
    all -= std::min(all, segment.bytes);
  }
  segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(gone));
}

SegmentList Journal::segments() const {
  return std::make_shared<const std::vector<SegmentFile>>(segments_);
}

std::uint64_t Journal::bytes() const {
  std::uint64_t all = 0;
  for (const SegmentFile& segment : segments_) all += segment.bytes;
  return all;
}

Replayed read_past(Files& files, const SegmentList& segments, const PastQuery& query,
                   const std::function<bool(const Record&)>& visit) {
  std::uint64_t records = 0, bytes = 0;
  Replayed replayed = walk(files, *segments, query.after, [&](const Record& record) {
    if (record.time > query.to || (query.goes_on && !query.goes_on())) return false;
    if (!record.is_note() && record.job != query.job) return true;
    ++records;
    bytes += record.batch.size();
    return visit(record);
  });
  replayed.records = records;
  replayed.bytes = bytes;
  return replayed;
}

}  // namespace l4::store
