#include "tools/l4/replay/mentions.h"

#include <algorithm>
#include <chrono>

#include "common/base/ascii.h"
#include "tools/l4/replay/form_probe.h"

namespace l4::replay {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::floor;

constexpr std::size_t kKindsMax = 20'000;
constexpr std::size_t kKindsLearntMax = 1'000;
constexpr std::size_t kBehindBytes = 40;  // of a stamp, behind the year
constexpr std::size_t kBeforeBytes = 32;
constexpr std::size_t kYearsMax = 3;

/// Digits that all numbers of seconds between the two begin with.
std::string common_digits(TimeMs from, TimeMs to) {
  const std::string a =
      std::to_string(floor<std::chrono::seconds>(from).time_since_epoch().count());
  const std::string b = std::to_string(floor<std::chrono::seconds>(to).time_since_epoch().count());
  const auto end = std::ranges::mismatch(a, b).in1;
  return a.size() == b.size() ? std::string(a.begin(), end) : std::string{};
}

bool begins_word(std::string_view line, std::size_t at) {
  return at == 0 || std::string_view{" \t\r[](){}<>\"'=,:;|"}.find(line[at - 1]) != line.npos;
}

/// True within a word like `/ckpt/2026-11-20_15:54:42`, before `at`.
bool in_path(std::string_view line, std::size_t at) {
  const std::size_t blank = line.substr(0, at).find_last_of(" \t\r\"'=([<");
  const std::string_view word = line.substr(blank + 1, at - (blank + 1));  // npos + 1 is 0
  return word.find_first_of("/\\") != word.npos && std::ranges::any_of(word, is_letter);
}

/// True if the stamp goes on as the name of a file: `.log`, `_rank0`, `/`.
bool goes_on(std::string_view line, std::size_t at) {
  while (at < line.size() && is_digit(line[at])) ++at;
  if (at + 1 >= line.size()) return false;
  const char sign = line[at];
  if (sign == '/' || sign == '\\' || sign == '_') return true;
  return (sign == '.' || sign == '-') && is_letter(line[at + 1]);
}

}  // namespace

Mentions::Mentions(FormTable& forms, TimeMs first, TimeMs last)
    : forms_(forms), first_(first), last_(last) {
  const auto year_of = [](TimeMs time) {
    return static_cast<int>(std::chrono::year_month_day{floor<days>(time)}.year());
  };
  for (int year = year_of(first - kStampsApartMax); year <= year_of(last + kStampsApartMax); ++year)
    if (marks_.size() < kYearsMax) marks_.push_back(std::to_string(year));
  const std::string digits = common_digits(first - kStampsApartMax, last + kStampsApartMax);
  if (digits.size() >= 4) marks_.push_back(digits);
}

bool Mentions::of_job(Printed printed) const {
  return printed >= first_ - kStampsApartMax && printed <= last_ + kStampsApartMax;
}

bool Mentions::find(const InLine& in, std::vector<Place>& places) {
  bool all_read = true;
  const auto search = [&](std::string_view mark, bool own_clock) {
    for (std::size_t at = in.line.find(mark); at != in.line.npos; at = in.line.find(mark, at + 1))
      all_read = hit(in, at, own_clock, places) && all_read;
  };
  for (const std::string& mark : marks_) search(mark, false);
  if (!in.clock.empty()) search(in.clock, true);
  return all_read;
}

/// Judges one hit. False only if it looks like the time of the line and could not be read.
bool Mentions::hit(const InLine& in, std::size_t at, bool own_clock, std::vector<Place>& places) {
  for (const Place& place : places)
    if (at >= place.at && at < place.at + forms_.form(place.form).size()) return true;
  const char before = at == 0 ? ' ' : in.line[at - 1];
  if (is_digit(before) || is_letter(before) || before == '_' || before == '.' ||
      in_path(in.line, at))
    return true;
  const std::size_t from = at - std::min(at, kBeforeBytes);
  key_.assign(own_clock ? "c" : "y").append(std::to_string(at - from));
  fold_digits(in.line.substr(from, at - from + kBehindBytes), key_);
  auto known = kinds_.find(key_);
  if (known == kinds_.end()) {
    if (kinds_.size() >= kKindsMax) return false;
    known = kinds_.emplace(key_, learn(in, at)).first;
  }
  const Kind& kind = known->second;
  if (!kind.form) {
    const std::size_t behind = in.line.find_first_not_of("0123456789:", at);
    return !own_clock || !begins_word(in.line, at) || goes_on(in.line, behind);
  }
  const StampForm& form = forms_.form(*kind.form);
  Place place;
  place.at = static_cast<std::uint32_t>(static_cast<std::ptrdiff_t>(at) + kind.from);
  place.form = *kind.form;
  const std::string_view stamp = in.line.substr(place.at);
  if (!form.matches(stamp) || (!form.has_date() && !own_clock)) return true;
  if (!form.has_year()) {
    if (!in.time) return true;
    place.year = static_cast<std::int16_t>(static_cast<int>(nearest_year(form, stamp, *in.time)));
  }
  if (form.has_date() && !of_job(form.read(stamp, day_of(place)))) return true;
  const auto behind = std::ranges::find_if(places, [&](const Place& p) { return p.at > place.at; });
  const std::size_t end = place.at + form.size();
  if (behind != places.end() && behind->at < end) return true;
  if (behind != places.begin() &&
      (behind - 1)->at + forms_.form((behind - 1)->form).size() > place.at)
    return true;
  places.insert(behind, place);
  return true;
}

/// Asks the decoder for a time at each begin of a word before the hit.
Mentions::Kind Mentions::learn(const InLine& in, std::size_t at) {
  if (kinds_.size() >= kKindsLearntMax) return {};
  const FormProbe probe{std::string_view{}};
  const TimeMs near = in.time.value_or(last_);
  const std::chrono::year year = std::chrono::year_month_day{floor<days>(near)}.year();
  const std::size_t end = std::min(in.line.size(), at + 2 * kBehindBytes);
  for (std::size_t from = at - std::min(at, kBeforeBytes); from <= at; ++from) {
    if (!begins_word(in.line, from) || in.line[from] == ' ') continue;
    const auto found = probe.find(in.line.substr(from, end - from), year);
    if (found.empty()) continue;
    const std::size_t begin = from + found[0].at;
    const std::size_t behind = begin + found[0].form.size();
    if (begin > at || behind <= at) continue;
    if (goes_on(in.line, behind)) return {};
    return {static_cast<std::ptrdiff_t>(begin) - static_cast<std::ptrdiff_t>(at),
            forms_.number_of(found[0].form)};
  }
  return {};
}

}  // namespace l4::replay
