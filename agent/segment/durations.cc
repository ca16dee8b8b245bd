#include "agent/segment/durations.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "agent/segment/decimal.h"
#include "common/base/ascii.h"
#include "common/base/find_bytes.h"

namespace l4::segment {
namespace {

using wire::TimerKind;

struct UnitForm {
  std::string_view low;
  double ms;
  bool in_name;  ///< tells the unit as the last part of a name, too
};
constexpr std::array<UnitForm, 15> kUnits{{{"ms", 1, true},
                                           {"msec", 1, true},
                                           {"msecs", 1, true},
                                           {"millis", 1, true},
                                           {"millisecond", 1, false},
                                           {"milliseconds", 1, true},
                                           {"s", 1000, true},
                                           {"sec", 1000, true},
                                           {"secs", 1000, true},
                                           {"second", 1000, false},
                                           {"seconds", 1000, true},
                                           {"us", 1e-3, true},
                                           {"usec", 1e-3, true},
                                           {"microseconds", 1e-3, true},
                                           {"ns", 1e-6, false}}};

/// Parts of a name that make it one of a time, though not of which unit.
constexpr std::array<std::string_view, 10> kTimeWords{
    "time", "times", "duration", "dur", "elapsed", "latency", "took", "spent", "cost", "wait"};
/// Beside these, the number is another thing: a moment or a bound.
constexpr std::array<std::string_view, 9> kNoTime{"stamp", "limit", "out", "zone",     "eta",
                                                  "until", "left",  "ago", "remaining"};
/// Words that name nothing by themselves.
constexpr std::array<std::string_view, 13> kPlain{"in",       "after", "for",   "of", "is",
                                                  "was",      "total", "at",    "by", "and",
                                                  "finished", "wait",  "waited"};
/// Beginnings of words for waiting in a collective, and for a rank's own work.
constexpr std::array<std::string_view, 14> kWaits{
    "wait", "sync",    "reduc",   "allreduc",  "gather", "allgather", "scatter",
    "comm", "barrier", "exchang", "broadcast", "recv",   "send",      "collectiv"};
constexpr std::array<std::string_view, 15> kOwns{
    "data", "load", "read", "batch", "fetch", "input",    "iterat", "forward",
    "fwd",  "opt",  "comp", "token", "prep",  "transfer", "decode"};
/// The last parts of names and words before a unit; a batch that was waited for was loaded.
constexpr std::array<std::string_view, 6> kLoads{"data",  "load",  "batch",
                                                 "fetch", "input", "iterator"};

bool begins_with_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view one) { return begins_lower(word, one); });
}
const UnitForm* unit_of(std::string_view word) {
  const auto* const found = std::ranges::find_if(
      kUnits, [&](const UnitForm& form) { return equals_lower(word, form.low); });
  return found == kUnits.end() ? nullptr : found;
}

bool is_word_sign(char c) {
  return is_letter(c) || c == '_' || c == '-' || c == '/' || c == '.' || c == '(' || c == ')';
}

/// Calls `take` with each run of letters.
template <class Take>
void each_part(std::string_view text, Take&& take) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end > at) take(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

/// Where the words begin that end at `end`: at most five, of letters, with single blanks between.
std::size_t begin_of_words(std::string_view text, std::size_t end) {
  constexpr int kWords = 5;
  std::size_t begin = end;
  for (int words = 0; words < kWords; ++words) {
    std::size_t at = words == 0 ? begin : begin - 1;
    while (at > 0 && is_word_sign(text[at - 1])) --at;
    const std::string_view word = text.substr(at, (words == 0 ? begin : begin - 1) - at);
    const bool letters = std::ranges::any_of(word, is_letter);
    if (word.size() > 3 && std::ranges::all_of(word, is_upper)) break;  // INFO
    const bool free = at == 0 || !(is_digit(text[at - 1]) || text[at - 1] == '=');
    if (!letters || !free || (word.size() == 1 && words > 0 && !is_letter(word[0]))) break;
    begin = at;
    if (begin == 0 || text[begin - 1] != ' ') break;
  }
  return begin;
}

/// What a name says of the time behind it.
struct Told {
  bool time = false;
  double ms_per_unit = 0;  ///< 0: not told
};

Told told_by(std::string_view name) {
  Told told;
  std::string_view before, last;
  bool barred = false;
  each_part(name, [&](std::string_view part) {
    barred = barred || equals_one_of(part, kNoTime);
    told.time = told.time || equals_one_of(part, kTimeWords);
    before = std::exchange(last, part);
  });
  if (barred) return {};
  // A rate ends in a unit, too: tokens/s, TFLOP/s.
  const std::size_t from = name.size() - (name.ends_with(')') ? 1 : 0);
  const UnitForm* unit = unit_of(last);
  if (unit == nullptr || !unit->in_name || from < last.size()) return told;
  const std::size_t at = from - last.size();
  if (equals_lower(before, "per") || (at > 0 && name[at - 1] == '/')) return {};
  return {true, unit->ms};
}

TimerKind kind_of(std::string_view name) {
  bool waits = false, own = false, loads = false;
  each_part(name, [&](std::string_view part) {
    waits = waits || begins_with_one_of(part, kWaits);
    own = own || begins_with_one_of(part, kOwns);
    loads = loads || begins_with_one_of(part, kLoads);
  });
  if (loads) return TimerKind::own;
  if (waits) return TimerKind::wait;
  return own ? TimerKind::own : TimerKind::mixed;
}

bool names_nothing(std::string_view name) {
  bool nothing = true;
  each_part(name, [&](std::string_view part) {
    nothing = nothing && (equals_one_of(part, kTimeWords) || equals_one_of(part, kPlain) ||
                          unit_of(part) != nullptr);
  });
  return nothing;
}

/// The first words of a message, as far as they are letters.
std::string_view first_words(std::string_view message, std::size_t before) {
  constexpr int kWords = 3;
  std::size_t end = 0, words = 0;
  for (std::size_t at = 0; at < before && words < kWords; ++words) {
    std::size_t to = at;
    while (to < before && is_word_sign(message[to])) ++to;
    if (to == at || (to < before && message[to] != ' ' && message[to] != ':')) break;
    end = to;
    if (to < before && message[to] == ':') break;
    at = to + 1;
  }
  return message.substr(0, end);
}

/// What a name that says nothing is of: the words before its colon, or else those of the line.
std::string named_by(std::string_view text, std::size_t begin) {
  if (begin > 2 && text[begin - 1] == ' ' && text[begin - 2] == ':') {
    const std::size_t from = begin_of_words(text, begin - 2);
    if (from < begin - 2) return std::string(text.substr(from, begin - from));
  }
  const std::string_view first = first_words(text, begin);
  return first.empty() ? std::string() : std::string(first) + " ";
}

/// The unit behind a number, with the blank before it; empty if none stands there.
std::string_view unit_behind(std::string_view rest) {
  const std::size_t from = !rest.empty() && rest[0] == ' ' ? 1 : 0;
  std::size_t end = from;
  while (end < rest.size() && is_letter(rest[end])) ++end;
  if (end == from || unit_of(rest.substr(from, end - from)) == nullptr) return {};
  if (end < rest.size() && (is_digit(rest[end]) || rest[end] == '/' || rest[end] == '_')) return {};
  return rest.substr(0, end);
}

/// The number goes on: a version, a date, an address, a thousand's group.
bool goes_on(std::string_view rest) {
  return rest.size() >= 2 &&
         (rest[0] == '.' || rest[0] == '-' || rest[0] == ':' || rest[0] == ',' || rest[0] == '/') &&
         is_digit(rest[1]);
}

bool may_precede(char c) {
  return c == ' ' || c == '=' || c == ':' || c == '(' || c == '[' || c == '"' || c == '\'';
}

/// The time whose number begins at `at`; `rest` is the text behind the number.
std::optional<Duration> duration_at(std::string_view text, std::size_t at, std::string_view rest,
                                    bool fraction) {
  const std::string_view unit = unit_behind(rest);
  std::size_t end = at;
  while (end > 0 && text[end - 1] == ' ') --end;
  const std::size_t told_to = end;
  while (end > 0 && may_precede(text[end - 1])) --end;
  const bool signed_name = end < told_to;
  const std::size_t begin = begin_of_words(text, end);
  if (begin == end || at - begin > 2 * kDurationNameMax) return std::nullopt;
  const std::string_view name = text.substr(begin, end - begin);
  const Told told = told_by(name);
  Duration found;
  if (!unit.empty()) {
    const std::size_t from = unit[0] == ' ' ? 1 : 0;
    found.ms_per_unit = unit_of(unit.substr(from))->ms;
    found.unit = unit;
  } else {
    if (!told.time || !signed_name || (!rest.empty() && is_letter(rest[0]))) return std::nullopt;
    // Whole numbers are milliseconds where nothing is said.
    found.ms_per_unit = told.ms_per_unit > 0 ? told.ms_per_unit : (fraction ? 1000 : 1);
  }
  found.name = name;
  if (names_nothing(name)) found.name = named_by(text, begin) + found.name;
  found.name.erase(0, found.name.find_first_not_of("(.-/"));
  found.name.resize(std::min(found.name.size(), kDurationNameMax));
  found.kind = kind_of(found.name);
  found.before = text.substr(begin, at - begin);
  found.before.erase(found.before.find_last_not_of(' ') + 1);
  return found;
}

}  // namespace

std::vector<Duration> find_durations(std::string_view message) {
  constexpr std::size_t kSearched = 1024;
  const std::string_view text = message.substr(0, kSearched);
  std::vector<Duration> found;
  for (std::size_t at = 1; at < text.size() && found.size() < kDurationsMax; ++at) {
    if (!is_digit(text[at]) || !may_precede(text[at - 1])) continue;
    double value = 0;
    const std::size_t size = read_decimal(text.substr(at), value);
    if (size == 0) continue;
    const std::string_view number = text.substr(at, size), rest = text.substr(at + size);
    if (!goes_on(rest))
      if (auto one = duration_at(text, at, rest, number.find('.') != number.npos)) {
        const auto same = [&](const Duration& other) {
          return other.name == one->name || other.before == one->before;
        };
        if (std::ranges::none_of(found, same)) found.push_back(std::move(*one));
      }
    at += size - 1;
  }
  return found;
}

std::optional<double> read_duration(std::string_view message, const Duration& duration,
                                    const Outline& outline) {
  const auto read_at = [&](std::size_t at) -> std::optional<double> {
    std::string_view rest = message.substr(at + duration.before.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    double value = 0;
    const std::size_t size = read_decimal(rest, value);
    if (size == 0 || !(value > 0 && value < 1e9)) return std::nullopt;
    rest.remove_prefix(size);
    if (duration.unit.empty() ? goes_on(rest) : unit_behind(rest) != duration.unit)
      return std::nullopt;
    duration.hint.note(outline, at);
    return value * duration.ms_per_unit;
  };
  if (duration.hint.outline != 0)
    if (const auto at = find_near(message, duration.before, duration.hint.at))
      if (const auto ms = read_at(*at)) return ms;
  for (std::size_t at = find_phrase(message, duration.before); at != std::string_view::npos;
       at = find_phrase(message, duration.before, at + 1))
    if (const auto ms = read_at(at)) return ms;
  return std::nullopt;
}

}  // namespace l4::segment
