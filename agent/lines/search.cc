#include "agent/lines/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "agent/lines/collect.h"
#include "agent/lines/part_text.h"
#include "common/base/check.h"

namespace l4::lines {
namespace {

using Gap = wire::LinesGapKind;
using Keep = Collect::Keep;

constexpr std::uint64_t kStretch = PartText::kStretchBytes;
constexpr std::uint64_t kCountedBytesMax = 16u << 20;  ///< read to count line numbers
constexpr std::size_t kPeeksMax = 4;                   ///< reads to find a line with a time

/// A byte of a log: which of its files, and the offset in it.
struct Spot {
  std::size_t part = 0;
  std::uint64_t offset = 0;
};

/// The search for one question in one log.
class Search {
 public:
  Search(const Task& task, const AskedLog& log, const Budget& budget, tail::FileSystem& files)
      : log_(log),
        question_(task.question),
        file_(task.question.files[log.asked]),
        budget_(budget),
        files_(files),
        asked_(task, file_),
        blot_(task.redaction, task.secrets),
        parts_(parts_of(task, log, files)) {}

  Found run() {
    if (parts_.empty()) {
      gap(Gap::none_left, log_.folder + "/" + log_.base, "no file of this log is left");
      return std::move(found_);
    }
    if (question_.asks_template()) {
      context_ = question_.context;
      of_template();
    } else if (question_.around) {
      context_ = question_.context;
      around(*question_.around);
    } else {
      tail(budget_.lines);
    }
    close();
    found_.read_bytes = read_before_;
    for (auto at = found_.lines.begin(); at != found_.lines.end();) {
      const auto to = std::find_if(at, found_.lines.end(),
                                   [&](const auto& line) { return line.file != at->file; });
      name_numbers({at, to});
      at = to;
    }
    return std::move(found_);
  }

 private:
  void gap(Gap kind, const std::string& file, std::string text) {
    found_.gaps.push_back({kind, log_.asked, file, std::move(text)});
  }

  /// Null, and a gap, if the file cannot be opened.
  PartText* open(std::size_t part) {
    if (open_ && at_ == part) return &*open_;
    close();
    auto text = open_part(parts_[part], files_);
    if (!text) {
      const bool gone = text.error() == ENOENT || text.error() == ESTALE;
      gap(gone ? Gap::none_left : Gap::unreadable, parts_[part].path,
          gone ? "was moved or removed meanwhile" : std::strerror(text.error()));
      return nullptr;
    }
    open_.emplace(std::move(*text), parts_[part].status.bytes);
    at_ = part;
    return &*open_;
  }
  void close() {
    if (!open_) return;
    read_before_ += open_->read_bytes();
    if (!open_->damage().empty()) gap(Gap::unreadable, parts_[at_].path, open_->damage());
    open_.reset();
  }
  std::uint64_t read_bytes() const { return read_before_ + (open_ ? open_->read_bytes() : 0); }

  /// True if the time or the bytes to read are used up; then adds a gap, once.
  bool stop() {
    if (stopped_) return true;
    if (budget_.over()) {
      gap(Gap::limit_time, "", "time was over before all of the log was looked at");
      stopped_ = true;
    } else if (read_bytes() >= budget_.read_bytes) {
      gap(Gap::limit_read, "",
          fmt::format("{} bytes were read of this log, and there are more; --around names a time",
                      read_bytes()));
      stopped_ = true;
    }
    return stopped_;
  }

  /// Adds the hits of a file to the result; `front`: before those that are there.
  void keep(const Collect& collect, std::size_t part, bool front) {
    if (collect.more_lines() && !moment_) more(Gap::limit_lines);
    if (collect.more_bytes()) more(Gap::limit_bytes);
    Block lines = collect.lines(blot_, found_.redacted);
    found_.hits += collect.hits();
    found_.text_bytes += collect.bytes();
    records_ += collect.records();
    if (lines.empty()) return;
    const std::string& path = parts_[part].path;
    auto name = std::ranges::find(found_.files, path);
    if (name == found_.files.end()) name = found_.files.insert(name, path);
    const auto number = static_cast<std::uint32_t>(name - found_.files.begin());
    for (wire::RawLine& line : lines) {
      line.asked = log_.asked;
      line.file = number;
    }
    found_.lines.insert(front ? found_.lines.begin() : found_.lines.end(), lines.begin(),
                        lines.end());
  }

  void more(Gap kind) {
    if (std::exchange(kind == Gap::limit_lines ? more_lines_ : more_bytes_, true)) return;
    gap(kind, "",
        kind == Gap::limit_lines
            ? fmt::format("there may be more than the {} lines that it may give", budget_.lines)
            : fmt::format("there may be more than the {} bytes that it may give",
                          budget_.text_bytes));
  }

  /// Counts the line numbers of one file from its beginning, if that is near.
  void name_numbers(std::span<wire::RawLine> lines) {
    if (lines.front().number > 0 || lines.back().offset > kCountedBytesMax || budget_.over())
      return;
    const auto part = std::ranges::find(parts_, found_.files[lines.front().file], &DiskFile::path);
    L4_CHECK(part != parts_.end(), "{} is no file of the log", found_.files[lines.front().file]);
    auto file = open_part(*part, files_);
    if (!file || file->packed()) return;
    PartText text(std::move(*file), part->status.bytes);
    std::uint64_t number = 1, at = 0;
    for (wire::RawLine& line : lines) {
      number += text.lines_between(at, line.offset);
      line.number = number;
      at = line.offset;
    }
  }

  std::optional<TimeMs> year(std::size_t part) const { return parts_[part].status.modified; }

  std::vector<SeenLine> read_stretch(PartText& text, std::size_t part, std::uint64_t from,
                                     std::uint64_t to) {
    std::vector<SeenLine> lines = decode_lines(text.stretch(from, to), asked_, blot_, year(part));
    for (SeenLine& line : lines) {
      if (not_before_ && (!line.time || *line.time < *not_before_)) line.hit = false;
      if (before_ && line.time && *line.time >= *before_) line.hit = false;
    }
    return lines;
  }

  std::size_t lines_left() const { return budget_.lines - std::min(budget_.lines, found_.hits); }
  std::uint64_t bytes_left() const {
    return budget_.text_bytes - std::min(budget_.text_bytes, found_.text_bytes);
  }

  void tail(std::size_t lines) {
    lines_asked_ = lines;
    backward({parts_.size() - 1, PartText::kUnknown});
  }

  /// Collects the newest hits before a spot.
  void backward(Spot spot) {
    for (std::size_t part = spot.part + 1; part-- > 0;) {
      const std::uint64_t to = part == spot.part ? spot.offset : PartText::kUnknown;
      if (!back_through(part, to) || stopped_) return;
    }
    reached_begin_ = true;
  }

  /// False if nothing more is needed.
  bool back_through(std::size_t part, std::uint64_t to) {
    PartText* text = open(part);
    if (text == nullptr) return true;
    if (text->packed()) {
      Collect collect(Keep::last, room(), bytes_left(), context_);
      forward_through(*text, part, 0, to, collect);
      keep(collect, part, true);
      return room() > 0;
    }
    for (std::uint64_t end = std::min(to, text->size()); end > 0;) {
      if (stop()) return false;
      const std::uint64_t from = end > kStretch ? end - kStretch : 0;
      Collect collect(Keep::last, room(), bytes_left(), context_);
      collect.add(read_stretch(*text, part, from, end));
      keep(collect, part, true);
      if (bytes_left() == 0) more(Gap::limit_bytes);
      if (lines_left() == 0 && (from > 0 || part > 0)) more(Gap::limit_lines);
      if (room() == 0 || bytes_left() == 0) return false;
      end = from;
    }
    return true;
  }

  std::size_t room() const {
    return std::min(lines_left(), lines_asked_ - std::min(lines_asked_, found_.hits));
  }

  /// Collects from `from` up to the end or `to`, until `collect` is full.
  void forward_through(PartText& text, std::size_t part, std::uint64_t from, std::uint64_t to,
                       Collect& collect) {
    for (std::uint64_t at = from; at < std::min(to, text.size()); at += kStretch) {
      if (stop() || collect.full()) return;
      collect.add(read_stretch(text, part, at, std::min(to, at + kStretch)));
      if (!text.damage().empty()) return;
    }
  }

  /// Collects the hits nearest to the asked time on both sides, or, without a time, the newest
  /// hits.
  void of_template() {
    lines_asked_ = budget_.lines;
    const auto target = question_.around ? question_.around : file_.last;
    const auto spot = target ? spot_of(*target, question_.around.has_value()) : std::nullopt;
    Spot behind{parts_.size() - 1, PartText::kUnknown};
    if (spot) behind = *spot;
    PartText* text = spot ? open(spot->part) : nullptr;
    if (text != nullptr && question_.around) {
      lines_asked_ = std::max<std::size_t>(1, budget_.lines / 2);
      not_before_ = target;
      Collect collect(Keep::first, room(), bytes_left(), context_);
      forward_through(*text, spot->part, spot->offset, PartText::kUnknown, collect);
      keep(collect, spot->part, false);
      not_before_.reset();
      before_ = target;
      lines_asked_ = budget_.lines;
    }
    // The line of that time lies at most two stretches behind the spot.
    if (text != nullptr)
      behind.offset = text->packed() ? PartText::kUnknown : spot->offset + 2 * kStretch;
    if (!stopped_ && room() > 0) backward(behind);
    if (reached_begin_ && !stopped_ && !more_lines_ && !more_bytes_ && !question_.around &&
        records_ < file_.counted)
      gap(Gap::fewer, "",
          fmt::format("{} lines of it were counted in this log, {} are left in its files",
                      file_.counted, records_));
  }

  /// The first line at or behind the time; the last one if there is none.
  void around(TimeMs time) {
    moment_ = true;
    lines_asked_ = 1;
    const auto spot = spot_of(time, true);
    if (spot) not_before_ = time;
    if (!spot) return tail(std::min<std::size_t>(budget_.lines, 2 * question_.context + 1));
    for (std::size_t part = spot->part; part < parts_.size() && found_.hits == 0; ++part) {
      PartText* text = open(part);
      if (text == nullptr) continue;
      Collect collect(Keep::first, 1, bytes_left(), context_);
      std::uint64_t at = part == spot->part ? spot->offset : 0;
      for (; at < text->size() && collect.hits() == 0; at += kStretch) {
        if (stop()) return keep(collect, part, false);
        std::vector<SeenLine> lines = read_stretch(*text, part, at, at + kStretch);
        const auto first = std::ranges::find_if(lines, &SeenLine::hit);
        for (auto line = first; line != lines.end(); ++line) line->hit = line == first;
        collect.add(lines);
        if (!text->damage().empty()) break;
      }
      keep(collect, part, false);
    }
    not_before_.reset();
    if (found_.hits == 0 && !stopped_) tail(1);
  }

  /// The file whose first time is the newest up to `time`, and the approximate offset of `time` in
  /// it. Empty if no line has a time. `report`: also reports what is wrong with the time.
  std::optional<Spot> spot_of(TimeMs time, bool report) {
    std::optional<TimeMs> oldest;
    for (std::size_t part = parts_.size(); part-- > 0;) {
      PartText* text = open(part);
      if (text == nullptr) continue;
      const auto first = time_behind(*text, part, 0);
      if (!first) continue;
      oldest = first->time;
      if (first->time > time) continue;
      return Spot{part, text->packed() ? 0 : bisect(*text, part, time)};
    }
    if (oldest) {
      if (report)
        gap(Gap::older, "",
            fmt::format("the oldest line that is left is of {}", to_rfc3339(*oldest)));
      return Spot{0, 0};
    }
    if (report) gap(Gap::no_time, "", "no line of it has a time: this is its end");
    return std::nullopt;
  }

  std::optional<FirstTime> time_behind(PartText& text, std::size_t part, std::uint64_t offset) {
    for (std::size_t i = 0; i < kPeeksMax; ++i) {
      const Stretch stretch = text.peek(offset);
      const auto first = first_time(stretch.text, stretch.offset, asked_.decode(), year(part));
      if (first) return first;
      offset += stretch.to - stretch.from;
      if (offset >= text.size()) break;
    }
    return std::nullopt;
  }

  /// An offset shortly before the first line at or after the time.
  std::uint64_t bisect(PartText& text, std::size_t part, TimeMs time) {
    std::uint64_t from = 0, to = text.size();
    while (to - from > kStretch) {
      const std::uint64_t middle = from + (to - from) / 2;
      const auto there = time_behind(text, part, middle);
      if (there && there->time < time)
        from = std::max(middle, std::min(there->offset, to));
      else
        to = middle;
    }
    return from;
  }

  const AskedLog& log_;
  const wire::LinesQuestion& question_;
  const wire::LinesFile& file_;
  const Budget& budget_;
  tail::FileSystem& files_;
  Asked asked_;
  Blot blot_;
  std::vector<DiskFile> parts_;
  std::optional<PartText> open_;
  std::size_t context_ = 0;
  std::optional<TimeMs> not_before_, before_;  // hits outside these times do not count
  std::size_t at_ = 0;                         // the file that is open
  std::uint64_t read_before_ = 0;
  std::size_t lines_asked_ = 0;  // hits until the search is done
  bool moment_ = false;  ///< one line with context is asked for, so further lines are not a gap
  std::uint64_t records_ = 0;
  bool stopped_ = false, more_lines_ = false, more_bytes_ = false, reached_begin_ = false;
  Found found_;
};

}  // namespace

Found search(const Task& task, const AskedLog& log, const Budget& budget, tail::FileSystem& files) {
  return Search(task, log, budget, files).run();
}

}  // namespace l4::lines
