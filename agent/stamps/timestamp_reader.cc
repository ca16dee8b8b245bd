#include "agent/stamps/timestamp_reader.h"

#include <algorithm>
#include <chrono>

#include "common/base/hash.h"

namespace l4::stamps {

TimestampReader::TimestampReader(Millis zone, std::optional<TimeMs> year_hint)
    : zone_(zone), near_(year_hint) {}

std::optional<Stamp> TimestampReader::read(std::string_view line) {
  const std::string_view text = text::trim_left(line);
  std::uint64_t rows = stamp_rows(text);
  if (rows == 0) return std::nullopt;
  const std::size_t indent = line.size() - text.size();
  if (indent > 0) rows &= ~framed_row();
  const auto formats = stamp_formats();
  const auto attempt = [&](std::size_t row) -> std::optional<Stamp> {
    RawStamp raw;
    if (!formats[row].scan(text, raw)) return std::nullopt;
    auto stamp = resolve(raw, row);
    if (!stamp) return std::nullopt;
    stamp->cut_from += stamp->cut_from == stamp->cut_to ? 0 : indent;
    stamp->cut_to += stamp->cut_to == 0 ? 0 : indent;
    return stamp;
  };
  std::uint8_t& learned = learned_[hashing::fold(rows, hashing::kA) % learned_.size()];
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
  return std::nullopt;
}

std::optional<Stamp> TimestampReader::resolve(const RawStamp& raw, std::size_t row) {
  const bool valid = raw.clock_only ? raw.civil.valid_clock() : raw.civil.valid();
  if (!raw.epoch_ms && !raw.timeless && !valid) return std::nullopt;
  Stamp stamp;
  if (!raw.timeless) stamp.time = raw.clock_only ? time_of_day(raw.civil) : time_of(raw);
  stamp.origin = raw.origin;
  stamp.cut_from = raw.cut_from;
  stamp.cut_to = raw.cut_to;
  stamp.level = raw.level;
  stamp.host = raw.host;
  ++hits_[row];
  return stamp;
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

std::optional<TimeMs> TimestampReader::time_of(const RawStamp& raw) {
  if (raw.epoch_ms) {
    near_ = TimeMs{Millis{*raw.epoch_ms}};
    near_is_hint_ = false;
    return near_;
  }
  const Civil& c = raw.civil;
  const Millis zone = c.zone_minutes ? Millis{std::chrono::minutes{*c.zone_minutes}} : zone_;
  const auto in_year = [&](int year) {
    return from_civil(year, static_cast<unsigned>(c.month), static_cast<unsigned>(c.day), c.hour,
                      c.minute, c.second, c.millis) -
           zone;
  };
  if (c.year != 0) {
    near_ = in_year(c.year);
    near_is_hint_ = false;
    return near_;
  }
  if (!near_) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(*near_)};
  const int year = static_cast<int>(date.year());
  // A line is older than its file's mtime and hardly a month younger than the last full stamp.
  for (const int candidate : {year + 1, year}) {
    const TimeMs time = in_year(candidate);
    if (time <= *near_ + std::chrono::days{31}) return time;
  }
  return in_year(year - 1);
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
