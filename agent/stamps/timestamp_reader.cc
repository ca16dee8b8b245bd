#include "agent/stamps/timestamp_reader.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "agent/stamps/spoken.h"
#include "common/base/hash.h"

namespace l4::stamps {

namespace {

TimeMs in_year(const Civil& c, int year) {
  return from_civil(year, static_cast<unsigned>(c.month), static_cast<unsigned>(c.day), c.hour,
                    c.minute, c.second, c.millis);
}

bool is_date(const Civil& c, int year) {
  return std::chrono::year_month_day{std::chrono::year{year},
                                     std::chrono::month{static_cast<unsigned>(c.month)},
                                     std::chrono::day{static_cast<unsigned>(c.day)}}
      .ok();
}

/// The first eight bytes, with digits and letters alike: lines of one format agree in it.
std::uint64_t shape_of(std::string_view text) {
  constexpr std::size_t kBytes = 8;
  constexpr std::uint64_t kEach = 0x0101010101010101, kTop = 0x80 * kEach;
  if (text.size() < kBytes) return 0;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text.data(), kBytes);
  // The top bit of each byte that is 0x40 or more, and of each that is no digit.
  const std::uint64_t letters = bytes << 1 & kTop;
  const std::uint64_t others = ((bytes ^ '0' * kEach) & ~kTop) + (0x80 - 10) * kEach;
  const std::uint64_t signs = (others & ~letters & kTop) >> 7;
  return letters | (bytes & signs * 0x7f);
}

}  // namespace

TimestampReader::TimestampReader(Clock clock)
    : zone_(clock.zone), near_(clock.year_hint), doubts_(clock.doubts), far_(clock.usual) {}

std::optional<Stamp> TimestampReader::read(std::string_view line, bool may_speak) {
  std::string_view text = text::trim_left(line);
  // A terminal shows the key that interrupted the program before the next line: `^CW0817 02:40:09`.
  const bool key = text.size() > 2 && text[0] == '^' && text::is_upper(text[1]);
  if (key) text.remove_prefix(2);
  std::uint64_t rows = stamp_rows(text);
  const std::size_t indent = line.size() - text.size();
  if (indent > 0) rows &= ~inner_rows();
  may_speak = may_speak && indent == 0;
  if (rows == 0) return may_speak ? read_spoken(line) : std::nullopt;
  const auto formats = stamp_formats();
  const auto attempt = [&](std::size_t row) -> std::optional<Stamp> {
    RawStamp raw;
    if (!formats[row].scan(text, raw)) return std::nullopt;
    if (raw.either_first && doubts_) put_in_order(raw.civil);
    auto stamp = resolve(raw, row);
    if (!stamp) return std::nullopt;
    stamp->cut_from += stamp->cut_from == stamp->cut_to ? 0 : indent;
    stamp->cut_to += stamp->cut_to == 0 ? 0 : indent;
    return stamp;
  };
  std::uint8_t& learned =
      learned_[hashing::fold(rows ^ shape_of(text), hashing::kA) % learned_.size()];
  if ((rows >> learned & 1) != 0) {
    if (const auto stamp = attempt(learned)) return stamp;
    rows &= ~(std::uint64_t{1} << learned);
  }
  for (; rows != 0; rows &= rows - 1) {
    const auto row = static_cast<std::uint8_t>(__builtin_ctzll(rows));
    if (const auto stamp = attempt(row)) {
      learned = row;
      return stamp;
    }
  }
  return may_speak ? read_spoken(line) : std::nullopt;
}

/// A doubtful time counts if it follows the one before: other times in a text are of something that
/// was before, or will be.
std::optional<Stamp> TimestampReader::read_spoken(std::string_view line) {
  constexpr Millis kBack = std::chrono::minutes{1}, kAhead = std::chrono::hours{12};
  RawStamp raw;
  if (!spoken(line, raw)) return std::nullopt;
  if (raw.doubtful && doubts_) {
    if (!near_ || near_is_hint_) return std::nullopt;
    const Millis zone = zone_of(raw.civil);
    const auto time = raw.civil.year == 0 ? time_of_year(raw.civil, zone)
                                          : in_year(raw.civil, raw.civil.year) - zone;
    if (!time || *time < *near_ - kBack || *time > *near_ + kAhead) return std::nullopt;
  }
  return resolve(raw, spoken_row());
}

bool TimestampReader::is_valid(const Civil& c) {
  if (day_.is_of(c)) return c.hour <= 24 && c.minute < 60 && c.second <= 60;
  if (!c.valid()) return false;
  if (c.year == 0) return true;
  Civil midnight;
  midnight.month = c.month;
  midnight.day = c.day;
  day_ = {c.year, c.month, c.day, in_year(midnight, c.year)};
  return true;
}

std::optional<Stamp> TimestampReader::resolve(const RawStamp& raw, std::size_t row) {
  Stamp stamp;
  if (raw.clock_only) {
    if (!raw.civil.valid_clock()) return std::nullopt;
    stamp.time = time_of_day(raw.civil);
  } else if (raw.epoch_ms || (!raw.timeless && is_valid(raw.civil))) {
    stamp.time = time_of(raw);
  } else if (!raw.timeless && !raw.civil.of_no_log()) {
    return std::nullopt;
  }
  stamp.origin = raw.origin;
  stamp.cut_from = raw.cut_from;
  stamp.cut_to = raw.cut_to;
  stamp.level = raw.level;
  stamp.host = raw.host;
  ++hits_[row];
  return stamp;
}

/// Keeps a time that was printed in full; nothing if it is not believed.
std::optional<TimeMs> TimestampReader::note(TimeMs time) {
  if (doubts_ && !far_.believes(time)) return std::nullopt;
  near_ = time;
  near_is_hint_ = false;
  return time;
}

/// The day is the one nearest to the previous time; for the first stamp, the latest day that agrees
/// with the hint.
std::optional<TimeMs> TimestampReader::time_of_day(const Civil& c) {
  if (!near_) return std::nullopt;
  constexpr Millis kDay = std::chrono::days{1};
  const Millis since_midnight = std::chrono::hours{c.hour} + std::chrono::minutes{c.minute} +
                                std::chrono::seconds{c.second} + Millis{c.millis};
  TimeMs time = std::chrono::floor<std::chrono::days>(*near_ + zone_) + since_midnight - zone_;
  const Millis ahead = near_is_hint_ ? std::chrono::minutes{1} : kDay / 2;
  while (time > *near_ + ahead) time -= kDay;
  while (time + kDay <= *near_ + ahead) time += kDay;
  near_is_hint_ = false;
  near_ = time;
  return time;
}

/// A machine's own clock may be called by the name of its zone, in a log whose other stamps print
/// the same clock without a zone: then that reading is the nearer one.
Millis TimestampReader::zone_of(const Civil& c) const {
  if (!c.zone_minutes) return zone_;
  const Millis printed = std::chrono::minutes{*c.zone_minutes};
  if (!c.zone_named || !near_ || near_is_hint_ || !doubts_) return printed;
  const TimeMs time = in_year(c, c.year);
  const bool local =
      std::chrono::abs(time - zone_ - *near_) < std::chrono::abs(time - printed - *near_);
  return local ? zone_ : printed;
}

/// Americans print the month first, others the day. There are 12 months; where both numbers are
/// below 13, the stamps before tell.
void TimestampReader::put_in_order(Civil& c) {
  constexpr Millis kNear = std::chrono::days{2};
  if (c.month > 12 || c.day > 12) day_first_ = c.month > 12;
  bool swaps = day_first_;
  if (!swaps && c.valid() && c.day <= 12 && near_ && !near_is_hint_) {
    Civil other = c;
    std::swap(other.day, other.month);
    swaps = std::chrono::abs(in_year(other, c.year) - zone_ - *near_) < kNear &&
            std::chrono::abs(in_year(c, c.year) - zone_ - *near_) > kNear;
  }
  if (swaps && c.day <= 12) std::swap(c.day, c.month);
}

/// The year in which the day is nearest to the last printed time. A hint is the time of a file: its
/// lines are older, and hardly two days younger: clocks and zones differ.
std::optional<TimeMs> TimestampReader::time_of_year(const Civil& c, Millis zone) {
  if (!near_) return std::nullopt;
  constexpr int kYearsMax = 8;  // the 29th of February comes every four or eight years
  const Millis ahead = std::chrono::days{near_is_hint_ ? 2 : 183};
  const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(*near_)};
  const int year = static_cast<int>(date.year());
  for (int candidate = year + 1; candidate >= year - kYearsMax; --candidate) {
    if (!is_date(c, candidate)) continue;
    const TimeMs time = in_year(c, candidate) - zone;
    if (time <= *near_ + ahead) return time;
  }
  return std::nullopt;
}

std::optional<TimeMs> TimestampReader::time_of(const RawStamp& raw) {
  if (raw.epoch_ms) {
    const TimeMs time{Millis{*raw.epoch_ms}};
    if (!raw.coarse) return note(time);
    // It tells little more than the day, which other stamps tell better.
    const bool counts = near_is_hint_ && (!doubts_ || far_.believes(time));
    return counts ? std::optional{time} : std::nullopt;
  }
  const Civil& c = raw.civil;
  const Millis zone = zone_of(c);
  if (c.year == 0) return time_of_year(c, zone);
  if (!day_.is_of(c)) return note(in_year(c, c.year) - zone);
  return note(day_.begin + std::chrono::hours{c.hour} + std::chrono::minutes{c.minute} +
              std::chrono::seconds{c.second} + Millis{c.millis} - zone);
}

std::optional<TimeMs> TimestampReader::resolve_field(const RawStamp& raw, Fields kind) {
  ++hits_[kStampFormatsMax + static_cast<std::size_t>(kind)];
  return time_of(raw);
}

std::string_view TimestampReader::format() const {
  const auto most = std::max_element(hits_.begin(), hits_.end());
  if (*most == 0) return "none";
  const auto row = static_cast<std::size_t>(most - hits_.begin());
  if (row == kStampFormatsMax) return "json";
  return row > kStampFormatsMax ? "logfmt" : stamp_formats()[row].name;
}

}  // namespace l4::stamps
