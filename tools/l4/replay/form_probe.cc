#include "tools/l4/replay/form_probe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

#include "agent/decode/decoder.h"
#include "common/base/ascii.h"

namespace l4::replay {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::seconds;

constexpr std::size_t kProbedBytes = 400;  // of a line in which a stamp is looked for
constexpr std::size_t kDigitsMax = 600;
constexpr std::size_t kStampsMax = 4;

/// What a digit counts.
enum class Unit : std::uint8_t {
  none,
  second,
  ten_seconds,
  minute,
  ten_minutes,
  hour,
  ten_hours,
  day,
  ten_days,
  month,
  ten_months,
  year,
  ten_years,
  epoch  ///< hundred seconds and more
};

bool within(Millis span, int days_min, int days_max) {
  return span >= days{days_min} && span <= days{days_max};
}

/// The unit of a digit, if `steps` more of it make the time later by `span`.
Unit unit_of(Millis span, int steps) {
  struct Row {
    Millis span;
    Unit unit;
  };
  static constexpr std::array kExact{Row{1s, Unit::second},   Row{10s, Unit::ten_seconds},
                                     Row{1min, Unit::minute}, Row{10min, Unit::ten_minutes},
                                     Row{1h, Unit::hour},     Row{10h, Unit::ten_hours},
                                     Row{days{1}, Unit::day}, Row{days{10}, Unit::ten_days}};
  if (span % steps == Millis{0}) {
    const Millis one = span / steps;
    for (const Row& row : kExact)
      if (row.span == one) return row.unit;
    for (Millis ten = 100s; ten <= Millis{1'000'000'000s}; ten *= 10)
      if (one == ten) return Unit::epoch;
  }
  if (span % days{1} != Millis{0}) return Unit::none;
  const Millis one = span / steps;
  if (within(one, 28, 31)) return Unit::month;
  if (within(one, 302, 307)) return Unit::ten_months;
  if (within(one, 365, 366)) return Unit::year;
  return within(one, 3652, 3653) ? Unit::ten_years : Unit::none;
}

/// With this hint the decoder places all days of the year in it.
TimeMs hint_of(std::chrono::year year) {
  return std::chrono::sys_days{year / std::chrono::December / 30};
}

/// True for 24:00:00 and 23:59:60, which are written as the time that they are.
bool ends_day(const StampForm& form, std::string_view stamp) {
  return std::ranges::any_of(form.fields(), [&](const Field& field) {
    const std::string_view digits = stamp.substr(field.at, field.width);
    return (field.part == Part::hour && digits == "24") ||
           (field.part == Part::second && digits == "60");
  });
}

/// Times that the decoder reads in texts.
using Reading = std::vector<std::optional<TimeMs>>;

/// Probes one stamp of one text.
class Dissection {
 public:
  Dissection(const FormProbe& probe, std::string text, std::chrono::year year)
      : probe_(probe), text_(std::move(text)), year_(year) {}

  std::optional<FoundStamp> run();

 private:
  struct Digit {
    bool matters = false;  ///< the reading changes with it
    Unit unit = Unit::none;
  };

  Reading read(const std::vector<std::string>& texts) const {
    return probe_.read(texts, hint_of(year_));
  }
  /// From one reading to the other. Times of day follow each other over midnight.
  Millis apart(TimeMs from, TimeMs to) const {
    const Millis span = to - from;
    if (!clock_only_) return span;
    const Millis rest = (span % days{1} + days{1}) % days{1};
    return rest > Millis{12h} ? rest - days{1} : rest;
  }
  std::string with(std::size_t at, std::string_view text) const {
    std::string changed = text_;
    changed.replace(at, text.size(), text);
    return changed;
  }
  bool digit_at(std::size_t at) const { return at < text_.size() && is_digit(text_[at]); }
  void find_digits();
  void weigh_digits();
  Unit weigh(const std::array<std::optional<TimeMs>, 10>& times) const;
  std::optional<std::size_t> first_of(Unit unit) const;
  bool add_pair(Unit one, Unit ten, Part part);
  bool add_epoch();
  void add_year();
  void add_month_name();
  void add_half_day();
  void add_day_name();
  void pad_day();
  void take(Field field);
  bool is_taken(std::size_t at) const;
  std::optional<FoundStamp> finish();
  bool verify(const FoundStamp& found) const;
  bool reads_moved(const FoundStamp& found, seconds shift) const;

  const FormProbe& probe_;
  std::string text_;
  std::chrono::year year_;
  TimeMs time_;
  bool clock_only_ = false;
  std::map<std::size_t, Digit> digits_;  // by position
  std::vector<Field> fields_;            // `at` is a position in the text
};

std::optional<FoundStamp> Dissection::run() {
  const auto time = read({text_})[0];
  if (!time) return std::nullopt;
  time_ = *time;
  // The decoder completes a time of day by its hint.
  const auto later = probe_.read({text_}, hint_of(year_) + days{3})[0];
  clock_only_ = later && *later - time_ == days{3};
  find_digits();
  weigh_digits();
  if (!add_epoch()) {
    if (!add_pair(Unit::hour, Unit::ten_hours, Part::hour) ||
        !add_pair(Unit::minute, Unit::ten_minutes, Part::minute))
      return std::nullopt;
    add_pair(Unit::second, Unit::ten_seconds, Part::second);
    add_half_day();
    if (add_pair(Unit::day, Unit::ten_days, Part::day)) {
      if (!add_pair(Unit::month, Unit::ten_months, Part::month)) add_month_name();
      add_year();
      pad_day();
      add_day_name();
    }
  }
  return finish();
}

/// Finds the digits with which the reading changes, and those in one number with them.
void Dissection::find_digits() {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (is_digit(text_[i])) places.push_back(i);
  // JSON has its time at either end.
  if (places.size() > kDigitsMax)
    places.erase(places.begin() + kDigitsMax / 2, places.end() - kDigitsMax / 2);
  std::vector<std::string> texts;
  for (const std::size_t at : places)
    for (const int step : {1, 3, 8})
      texts.push_back(
          with(at, std::string(1, static_cast<char>('0' + (text_[at] - '0' + step) % 10))));
  const Reading times = read(texts);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (!times[i] || apart(time_, *times[i]) != Millis{0}) digits_[places[i / 3]].matters = true;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t at = places[i];
    const bool left = at > 0 && digits_.contains(at - 1) && digit_at(at - 1);
    if (!digits_.contains(at) && left) digits_[at];
  }
  for (std::size_t i = places.size(); i-- > 0;)
    if (!digits_.contains(places[i]) && digits_.contains(places[i] + 1)) digits_[places[i]];
}

void Dissection::weigh_digits() {
  std::vector<std::string> texts;
  for (const auto& [at, digit] : digits_)
    for (char c = '0'; c <= '9'; ++c) texts.push_back(with(at, std::string(1, c)));
  const Reading times = read(texts);
  std::size_t next = 0;
  for (auto& [at, digit] : digits_) {
    std::array<std::optional<TimeMs>, 10> of_digit;
    for (auto& time : of_digit) time = times[next++];
    digit.unit = weigh(of_digit);
  }
}

/// The unit that most pairs of values agree with: ends of months, years and half days disturb some.
Unit Dissection::weigh(const std::array<std::optional<TimeMs>, 10>& times) const {
  std::map<Unit, int> votes;
  for (int a = 0; a < 10; ++a)
    for (int b = a + 1; b < 10; ++b) {
      const auto& from = times[static_cast<std::size_t>(a)];
      const auto& to = times[static_cast<std::size_t>(b)];
      if (from && to) ++votes[unit_of(apart(*from, *to), b - a)];
    }
  votes.erase(Unit::none);
  Unit best = Unit::none;
  int most = 0;
  for (const auto& [unit, count] : votes)
    if (count > most) std::tie(best, most) = std::pair{unit, count};
  return best;
}

std::optional<std::size_t> Dissection::first_of(Unit unit) const {
  for (const auto& [at, digit] : digits_)
    if (digit.unit == unit) return at;
  return std::nullopt;
}

bool Dissection::is_taken(std::size_t at) const {
  return std::ranges::any_of(
      fields_, [&](const Field& field) { return field.at <= at && at < field.at + field.width; });
}

void Dissection::take(Field field) {
  fields_.push_back(field);
}

/// A number of one or two digits. A digit that allows no other value, as the tens of month 08, is
/// known by its neighbour.
bool Dissection::add_pair(Unit one, Unit ten, Part part) {
  std::optional<std::size_t> ones = first_of(one);
  const std::optional<std::size_t> tens = first_of(ten);
  if (!ones && tens && digit_at(*tens + 1)) ones = *tens + 1;
  if (!ones || is_taken(*ones)) return false;
  const bool two = *ones > 0 && digit_at(*ones - 1) && !is_taken(*ones - 1) &&
                   digits_.contains(*ones - 1) &&
                   (digits_[*ones - 1].unit == ten ||
                    (digits_[*ones - 1].unit == Unit::none && digits_[*ones - 1].matters));
  take({part, two ? *ones - 1 : *ones, two ? 2U : 1U, two ? '0' : '\0'});
  return true;
}

/// Seconds since 1970, also within a number of milliseconds or less, or in scientific notation.
bool Dissection::add_epoch() {
  const auto marked = first_of(Unit::epoch);
  if (!marked) return false;
  std::size_t from = *marked;
  while (from > 0 && digit_at(from - 1)) --from;
  const auto front = from < 2 ? digits_.end() : digits_.find(from - 2);
  if (front != digits_.end() && front->second.matters && text_[from - 1] == '.') from -= 2;
  std::size_t to = *marked;
  while (digit_at(to) && digits_[to].unit != Unit::second) ++to;
  if (!digit_at(to)) return false;
  take({Part::epoch, from, to + 1 - from, '0'});
  return true;
}

void Dissection::add_year() {
  const auto ones = first_of(Unit::year);
  if (!ones || *ones == 0 || !digit_at(*ones - 1)) return;
  const std::size_t tens = *ones - 1;
  const bool century =
      tens >= 2 && digit_at(tens - 1) && digit_at(tens - 2) && !is_taken(tens - 1) &&
      !is_taken(tens - 2) &&
      (text_.compare(tens - 2, 2, "20") == 0 || text_.compare(tens - 2, 2, "19") == 0);
  if (century)
    take({Part::year, tens - 2, 4, '0'});
  else
    take({Part::year_of_century, tens, 2, '0'});
}

void Dissection::add_month_name() {
  static constexpr std::array<std::string_view, 4> kOthers{"Jan", "Mar", "Jul", "Oct"};
  for (std::size_t at = 0; at + 3 <= text_.size(); ++at) {
    const auto month = month_named(std::string_view(text_).substr(at));
    if (!month) continue;
    std::vector<std::string> texts;
    texts.reserve(kOthers.size());
    for (const std::string_view other : kOthers) texts.push_back(with(at, other));
    const Reading times = read(texts);
    for (std::size_t i = 0; i < kOthers.size(); ++i) {
      const int steps = *month_named(kOthers[i]) - *month;
      if (steps == 0 || !times[i] || unit_of(*times[i] - time_, steps) != Unit::month) continue;
      take({Part::month_name, at, 3, '\0'});
      return;
    }
  }
}

void Dissection::add_half_day() {
  for (std::size_t at = 1; at + 2 <= text_.size(); ++at) {
    const char letter = static_cast<char>(text_[at] | 0x20);
    if ((letter != 'a' && letter != 'p') || (text_[at + 1] | 0x20) != 'm') continue;
    const char other = static_cast<char>(text_[at] + (letter == 'a' ? 'p' - 'a' : 'a' - 'p'));
    const auto time = read({with(at, std::string(1, other))})[0];
    if (!time || std::chrono::abs(apart(time_, *time)) != Millis{12h}) continue;
    take({Part::half_day, at, 1, '\0'});
    return;
  }
}

/// The name of a day, right before the date. The decoder does not read it.
void Dissection::add_day_name() {
  const auto first = std::ranges::min_element(fields_, {}, &Field::at)->at;
  for (std::size_t at = first < 6 ? 0 : first - 6; at + 3 < first; ++at) {
    if (at > 0 && is_letter(text_[at - 1])) continue;
    if (!day_named(std::string_view(text_).substr(at))) continue;
    if (text_.find_first_not_of(" ,", at + 3) == first) return take({Part::day_name, at, 3, '\0'});
  }
}

/// `Mar  2 15:59:56`: the day is as wide as two digits, with a blank.
void Dissection::pad_day() {
  const auto named = std::ranges::find(fields_, Part::month_name, &Field::part);
  const auto day = std::ranges::find(fields_, Part::day, &Field::part);
  if (named == fields_.end() || day->at < 2 || text_[day->at - 1] != ' ') return;
  const std::size_t end = day->at + day->width;
  const bool clock_behind = end + 1 < text_.size() && text_[end] == ' ' && digit_at(end + 1);
  if (day->width == 1 && text_[day->at - 2] == ' ') {
    --day->at;
    day->width = 2;
    day->pad = ' ';
  } else if (day->width == 2 && named->at < day->at && clock_behind && text_[day->at] != '0') {
    day->pad = ' ';
  }
}

std::optional<FoundStamp> Dissection::finish() {
  std::ranges::sort(fields_, {}, &Field::at);
  for (std::size_t i = 1; i < fields_.size(); ++i)
    if (fields_[i].at < fields_[i - 1].at + fields_[i - 1].width) return std::nullopt;
  const std::size_t from = fields_.front().at;
  const std::size_t to = fields_.back().at + fields_.back().width;
  for (Field& field : fields_) field.at -= from;
  FoundStamp found{from, StampForm{std::string_view(text_).substr(from, to - from), fields_},
                   time_};
  if (!verify(found)) return std::nullopt;
  return found;
}

bool Dissection::verify(const FoundStamp& found) const {
  return reads_moved(found, 0s) && reads_moved(found, 1s) && reads_moved(found, 12h) &&
         reads_moved(found, -days{1} - 61s) && reads_moved(found, days{40} + 3h + 7min + 5s) &&
         reads_moved(found, days{400});
}

bool Dissection::reads_moved(const FoundStamp& found, seconds shift) const {
  const std::string_view stamp = std::string_view(text_).substr(found.at, found.form.size());
  const std::chrono::year_month_day day{nearest_year(found.form, stamp, time_),
                                        std::chrono::January, std::chrono::day{1}};
  std::string moved = text_.substr(0, found.at);
  found.form.write(stamp, day, shift, moved);
  moved += std::string_view(text_).substr(found.at + stamp.size());
  if (shift == 0s && moved != text_) return ends_day(found.form, stamp);
  const Printed printed = found.form.read(stamp, day) + shift;
  const std::chrono::year_month_day date{floor<days>(printed)};
  const auto time = probe_.read({moved}, hint_of(date.year()))[0];
  if (!time) return false;
  const Millis off = apart(time_ + shift, *time);
  if (found.form.has(Part::second) || found.form.has(Part::epoch)) return off == Millis{0};
  return off <= Millis{0} && off > -1min;  // only minutes are printed
}

}  // namespace

std::chrono::year nearest_year(const StampForm& form, std::string_view text, TimeMs time) {
  const std::chrono::year_month_day date{floor<days>(time)};
  std::chrono::year best = date.year();
  std::optional<seconds> least;
  for (const int step : {0, -1, 1}) {
    const std::chrono::year year = date.year() + std::chrono::years{step};
    const auto away =
        std::chrono::abs(form.read(text, {year, date.month(), date.day()}) - floor<seconds>(time));
    if (least && *least <= away) continue;
    least = away;
    best = year;
  }
  return best;
}

std::vector<std::optional<TimeMs>> FormProbe::read(const std::vector<std::string>& lines,
                                                   TimeMs hint) const {
  Reading times;
  decode::Options options;
  options.fold_lines_max = 1;
  options.year_hint = hint;
  options.every_time = true;  // the lines are of many times
  decode::Decoder decoder(options,
                          [&](const decode::Record& record) { times.back() = record.time; });
  decoder.learn_prefixes(before_);
  for (const std::string& line : lines) {
    times.emplace_back();
    decoder.feed(line);
    decoder.feed("\n");
    decoder.flush_block();
    decoder.release_held();
  }
  return times;
}

std::vector<FoundStamp> FormProbe::find(std::string_view line, std::chrono::year year) const {
  std::string text{line};
  const auto whole = read({text}, hint_of(year))[0];
  if (!whole) return {};
  if (text.size() > kProbedBytes &&
      read({text.substr(0, kProbedBytes)}, hint_of(year))[0] == whole && !text.ends_with('}'))
    text.resize(kProbedBytes);
  std::vector<FoundStamp> stamps;
  while (stamps.size() < kStampsMax) {
    auto found = Dissection{*this, text, year}.run();
    if (!found) break;
    const bool near =
        stamps.empty() || std::chrono::abs(found->time - stamps[0].time) <= kStampsApartMax;
    for (std::size_t i = found->at; i < found->at + found->form.size(); ++i)
      if (is_digit(text[i])) text[i] = 'x';
    if (near) stamps.push_back(std::move(*found));
    if (!near) break;
  }
  return stamps;
}

}  // namespace l4::replay
