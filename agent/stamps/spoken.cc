#include "agent/stamps/spoken.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "agent/stamps/announced.h"
#include "agent/stamps/scanners.h"
#include "agent/stamps/systems.h"
#include "agent/text/scan.h"
#include "common/base/find_bytes.h"

namespace l4::stamps {
namespace {

constexpr std::size_t kSpokenMax = 200;  // of the line
constexpr std::size_t kDateMax = 28;     // from the begin of a date to its clock
constexpr int kTriesMax = 5;             // begins of a date that are tried for a clock

/// The first `:` at or behind `at` with another one three characters on; npos if there is none.
std::size_t find_colons(std::string_view text, std::size_t at) {
  constexpr std::size_t kStep = sizeof(ByteVector), kApart = 3;
  for (; at + kApart + kStep <= text.size(); at += kStep) {
    ByteVector first, second;
    std::memcpy(&first, text.data() + at, kStep);
    std::memcpy(&second, text.data() + at + kApart, kStep);
    if (const std::uint64_t found = bits_of((first == ':') & (second == ':')); found != 0)
      return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  if (at + kApart >= text.size()) return text.npos;
  if (text.size() < kApart + kStep) {
    for (; at + kApart < text.size(); ++at)
      if (text[at] == ':' && text[at + kApart] == ':') return at;
    return text.npos;
  }
  // The last sixteen overlap some that were searched already.
  const std::size_t last = text.size() - kApart - kStep;
  ByteVector first, second;
  std::memcpy(&first, text.data() + last, kStep);
  std::memcpy(&second, text.data() + last + kApart, kStep);
  const std::uint64_t found =
      bits_of((first == ':') & (second == ':')) & (~std::uint64_t{0} << (at - last));
  return found == 0 ? text.npos : last + static_cast<std::size_t>(std::countr_zero(found));
}

/// The begin of the time of day whose first colon stands at `colon`, if a date may stand before it;
/// else 0.
std::size_t clock_begin(std::string_view text, std::size_t colon) {
  if (colon < 8 || !text::is_digit(text[colon - 1]) || !text::is_digit(text[colon + 1]) ||
      !text::is_digit(text[colon + 2]))
    return 0;
  const std::size_t from = text::is_digit(text[colon - 2]) ? colon - 2 : colon - 1;
  const char between = text[from - 1];
  const bool parted = between == ' ' || between == 'T' || between == '_' || between == '-';
  const char before = text[from - 2];
  return parted && (text::is_digit(before) || before == ' ' || before == ',') ? from : 0;
}

/// The end of the word before `end`, without the signs behind it.
std::size_t word_end(std::string_view text, std::size_t end) {
  constexpr std::size_t kSignsMax = 4;
  std::size_t to = end;
  while (to > 0 && end - to < kSignsMax && !text::is_alnum(text[to - 1])) --to;
  return to;
}

/// The last word before `end`, without the signs behind it.
std::string_view word_before(std::string_view text, std::size_t end) {
  const std::size_t to = word_end(text, end);
  std::size_t from = to;
  while (from > 0 && text::is_alpha(text[from - 1])) --from;
  return text.substr(from, to - from);
}

/// How the words that end before `date` announce it.
Announcing announced_before(std::string_view text, std::size_t date) {
  const std::string_view word = word_before(text, date);
  if (word == "AT") return Announcing::thing;  // batch systems shout
  const Announcing how = announcing(word);
  if (how != Announcing::link) return how;
  const auto place = static_cast<std::size_t>(word.data() - text.data());
  return announcing(word_before(text, place)) == Announcing::thing ? Announcing::thing : how;
}

/// MLPerf's last line: `RESULT,LLM_FINETUNING,,867,AMD,2025-10-10 04:25:06 AM`.
bool is_result(std::string_view text, std::size_t date) {
  return text[date - 1] == ',' && text.starts_with("RESULT,");
}

/// How the text before a date announces it, or the text before the name of its day.
Announcing how_announced(std::string_view text, std::size_t date) {
  if (is_result(text, date)) return Announcing::thing;
  // A word announces it, or the name of its day, so a letter ends what stands before it.
  if (const std::size_t end = word_end(text, date); end == 0 || !text::is_alpha(text[end - 1]))
    return Announcing::none;
  if (date >= 5) {  // `on Fri, 20 Nov 2026 ..`
    text::Cursor day{text, date - (text[date - 2] == ',' ? 5 : 4)};
    const std::size_t front = day.at;
    if (parse_day_name(day)) return announced_before(text, front);
  }
  return announced_before(text, date);
}

constexpr auto kBeginsDate = [](auto byte) {
  return ((byte >= '0') & (byte <= '9')) | ((byte >= 'A') & (byte <= 'Z'));
};
/// No date begins behind such a byte.
constexpr auto kIsInside = [](auto byte) { return text::kIsHostByte(byte) | (byte == '/'); };

/// The bytes of the kDateMax before `clock` at which a date may begin: bit i stands for `clock` -
/// 32
/// + i.
std::uint32_t date_begins(std::string_view text, std::size_t clock) {
  constexpr std::size_t kWindow = 32, kStep = sizeof(ByteVector);
  std::array<char, kWindow + 1> few;
  const char* window = text.data() + clock - kWindow;
  if (clock <= kWindow) {
    few.fill('/');  // none begins before or behind it
    std::copy_n(text.data(), clock, few.end() - static_cast<std::ptrdiff_t>(clock));
    window = few.data() + 1;
  }
  std::uint64_t begins = 0;
  for (std::size_t at = 0; at < kWindow; at += kStep) {
    ByteVector bytes, before;
    std::memcpy(&bytes, window + at, kStep);
    std::memcpy(&before, window + at - 1, kStep);
    begins |= bits_of(ByteVector(kBeginsDate(bytes)) & ~ByteVector(kIsInside(before))) << at;
  }
  return static_cast<std::uint32_t>(begins) & ~std::uint32_t{0} << (kWindow - kDateMax);
}

/// Scans for the announced date of a time of day that begins at `clock`. Most dates are not
/// announced, which costs less to see than that they are dates.
Announcing scan_date(std::string_view text, std::size_t clock, RawStamp& stamp) {
  std::uint32_t begins = date_begins(text, clock);
  for (int tries = 0; begins != 0 && tries < kTriesMax; ++tries) {
    const auto behind = static_cast<std::size_t>(std::countl_zero(begins));
    begins &= ~(std::uint32_t{1} << (31 - behind));
    const std::size_t at = clock - 1 - behind;
    const Announcing how = how_announced(text, at);
    if (how != Announcing::none && scan_dated(text.substr(at), false, stamp)) return how;
  }
  return Announcing::none;
}

/// A line of a system's log that somebody quotes: `Error: Nov 29 06:00:52 node-4 kernel: text`. Its
/// clock begins at `clock`.
bool quotes_syslog(std::string_view text, std::size_t clock, RawStamp& stamp) {
  for (const std::size_t day : {std::size_t{7}, std::size_t{6}}) {  // `Nov 29 `, `Nov 9 `
    if (clock <= day || kIsInside(static_cast<unsigned char>(text[clock - day - 1]))) continue;
    RawStamp inner;
    const std::string_view quoted = text.substr(clock - day);
    if (!syslog(quoted, inner)) continue;
    const std::string_view behind = quoted.substr(inner.cut_to);
    if (!behind.starts_with("kernel:") && !(behind.find("]:") < behind.find(": "))) continue;
    stamp = inner;
    return true;
  }
  return false;
}

}  // namespace

bool spoken(std::string_view line, RawStamp& stamp) {
  const std::string_view head = line.substr(0, kSpokenMax);
  for (std::size_t colon = find_colons(head, 0); colon != head.npos;
       colon = find_colons(head, colon + 1)) {
    const std::size_t clock = clock_begin(head, colon);
    if (clock == 0) continue;
    const Announcing how = scan_date(line.substr(0, kSpokenMax + kDateMax), clock, stamp);
    const bool quoted = how == Announcing::none && quotes_syslog(line, clock, stamp);
    if (how == Announcing::none && !quoted) continue;
    stamp.doubtful = how == Announcing::link || quoted;
    stamp.cut_from = stamp.cut_to = 0;
    stamp.level = Level::unknown;
    stamp.host = {};
    stamp.origin = false;
    return true;
  }
  return false;
}

}  // namespace l4::stamps
