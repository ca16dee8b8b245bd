#include "tools/l4/replay/stamp_finder.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include "common/base/check.h"
#include "tools/l4/replay/form_probe.h"
#include "tools/l4/replay/form_table.h"
#include "tools/l4/replay/mentions.h"

namespace l4::replay {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::seconds;

constexpr std::size_t kFixedMax = 100;    // a stamp that begins later is found by its anchor
constexpr std::size_t kFixedInJson = 12;  // there, keys have an order but values have no length
constexpr std::size_t kAnchorBytes = 12;
constexpr std::size_t kKeyBytes = 8;
constexpr std::size_t kRecipesMax = 64;          // of one key
constexpr std::size_t kFailuresMax = 8;          // of one key, without a success
constexpr std::size_t kLinesLearntMax = 10'000;  // a long line counts as several
constexpr std::size_t kCostBytes = 256;
constexpr std::size_t kAroundBytes = 4 * 1024;
constexpr seconds kZoneMax = 15h;
constexpr auto kZoneStep = 15min;

/// How to find the stamps of the lines of one kind.
struct Recipe {
  struct Fixed {
    std::size_t at = 0;
    std::uint16_t form = 0;
  };
  struct Anchored {
    std::string anchor;  ///< the text before the stamp
    std::uint16_t form = 0;
  };
  std::string front;  ///< shape of the line up to the end of the last fixed stamp
  std::vector<Fixed> fixed;
  std::vector<Anchored> anchored;
  bool first_is_fixed = true;  ///< the stamp that times the line is the first of `fixed`
  seconds zone{0};             ///< by which that stamp differs from the time that is read
};

Place place_of(const StampForm& form, std::uint16_t number, std::string_view line, std::size_t at,
               TimeMs time) {
  Place place{static_cast<std::uint32_t>(at), number, 0};
  if (!form.has_year())
    place.year = static_cast<std::int16_t>(
        static_cast<int>(form.has_date() ? nearest_year(form, line.substr(at), time)
                                         : std::chrono::year_month_day{floor<days>(time)}.year()));
  return place;
}

/// By how much the stamp differs from `time`, which is read in it: the zone. None of more than 15 h
/// exists.
std::optional<seconds> zone_of(const StampForm& form, std::string_view stamp, const Place& place,
                               TimeMs time) {
  seconds away = form.read(stamp, day_of(place)) - floor<seconds>(time);
  if (!form.has_date()) {
    away = (away % days{1} + days{1}) % days{1};
    if (away > 12h) away -= days{1};
  }
  const bool possible = std::chrono::abs(away) <= kZoneMax && away % kZoneStep == 0s;
  return possible ? std::optional{away} : std::nullopt;
}

/// Finds the stamps of the lines of one log.
class LogSearch {
 public:
  LogSearch(FormTable& forms, std::string_view text, std::size_t& learnt)
      : forms_(forms), text_(text), learnt_(learnt) {}

  /// Appends the places of the line at `begin`, relative to it; false if there are none.
  bool stamps(std::string_view line, std::uint64_t begin, TimeMs time, std::vector<Place>& out);

 private:
  struct Bucket {
    std::vector<Recipe> recipes;  // the last used first
    std::size_t failures = 0;
  };
  bool apply(const Recipe& recipe, std::string_view line, TimeMs time, std::vector<Place>& out);
  std::optional<Recipe> learn(std::string_view line, std::uint64_t begin, TimeMs time);
  std::string anchor_before(std::string_view line, std::size_t at) const;

  FormTable& forms_;
  std::string_view text_;
  std::size_t& learnt_;
  std::unordered_map<std::string, Bucket> buckets_;
  std::string key_;
};

bool LogSearch::stamps(std::string_view line, std::uint64_t begin, TimeMs time,
                       std::vector<Place>& out) {
  key_.clear();
  fold_digits(line.substr(0, kKeyBytes), key_);
  Bucket& bucket = buckets_[key_];
  for (auto recipe = bucket.recipes.begin(); recipe != bucket.recipes.end(); ++recipe) {
    if (!apply(*recipe, line, time, out)) continue;
    std::rotate(bucket.recipes.begin(), recipe, recipe + 1);
    return true;
  }
  if (bucket.failures >= kFailuresMax || learnt_ >= kLinesLearntMax) return false;
  learnt_ += 1 + line.size() / kCostBytes;
  auto recipe = learn(line, begin, time);
  if (!recipe || !apply(*recipe, line, time, out)) {
    ++bucket.failures;
    return false;
  }
  bucket.failures = 0;
  if (bucket.recipes.size() >= kRecipesMax) bucket.recipes.pop_back();
  bucket.recipes.insert(bucket.recipes.begin(), std::move(*recipe));
  return true;
}

bool LogSearch::apply(const Recipe& recipe, std::string_view line, TimeMs time,
                      std::vector<Place>& out) {
  if (!fits(recipe.front, line)) return false;
  const std::size_t before = out.size();
  bool first = recipe.first_is_fixed;
  for (const Recipe::Fixed& fixed : recipe.fixed) {
    const StampForm& form = forms_.form(fixed.form);
    out.push_back(place_of(form, fixed.form, line, fixed.at, time));
    const bool right =
        !first || zone_of(form, line.substr(fixed.at), out.back(), time) == recipe.zone;
    first = false;
    if (right) continue;
    out.resize(before);
    return false;
  }
  first = !recipe.first_is_fixed;
  for (const Recipe::Anchored& anchored : recipe.anchored) {
    const StampForm& form = forms_.form(anchored.form);
    bool found = false;
    for (std::size_t at = line.find(anchored.anchor); at != line.npos && !found;
         at = line.find(anchored.anchor, at + 1)) {
      const std::size_t from = at + anchored.anchor.size();
      const std::string_view stamp = line.substr(from);
      if (!form.matches(stamp)) continue;
      const Place place = place_of(form, anchored.form, line, from, time);
      const bool near = !form.has_date() ||
                        std::chrono::abs(form.read(stamp, day_of(place)) - floor<seconds>(time)) <=
                            kStampsApartMax;
      if (first ? zone_of(form, stamp, place, time) != recipe.zone : !near) continue;
      out.push_back(place);
      found = true;
    }
    first = false;
    if (found) continue;
    out.resize(before);
    return false;
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
            [](const Place& a, const Place& b) { return a.at < b.at; });
  for (std::size_t i = before + 1; i < out.size(); ++i)
    if (out[i].at < out[i - 1].at + forms_.form(out[i - 1].form).size()) {
      out.resize(before);
      return false;
    }
  return true;
}

/// The text before `at`, without the digits of other fields; empty if it is too short to be found.
std::string LogSearch::anchor_before(std::string_view line, std::size_t at) const {
  const std::size_t from = at - std::min(at, kAnchorBytes);
  std::string_view anchor = line.substr(from, at - from);
  if (const std::size_t digit = anchor.find_last_of("0123456789"); digit != anchor.npos)
    anchor.remove_prefix(digit + 1);
  return anchor.size() < 4 ? std::string{} : std::string(anchor);
}

std::optional<Recipe> LogSearch::learn(std::string_view line, std::uint64_t begin, TimeMs time) {
  const std::uint64_t from = begin - std::min<std::uint64_t>(begin, kAroundBytes);
  const FormProbe probe{text_.substr(from, 2 * kAroundBytes)};
  const auto stamps = probe.find(line, std::chrono::year_month_day{floor<days>(time)}.year());
  if (stamps.empty()) return std::nullopt;
  Recipe recipe;
  const std::size_t fixed_max = line.starts_with('{') ? kFixedInJson : kFixedMax;
  std::size_t front = 0;
  for (const FoundStamp& stamp : stamps) {
    const std::uint16_t form = forms_.number_of(stamp.form);
    const bool is_first = &stamp == &stamps.front();
    if (is_first) {
      const auto zone = zone_of(stamp.form, line.substr(stamp.at),
                                place_of(stamp.form, form, line, stamp.at, time), time);
      if (!zone) return std::nullopt;
      recipe.zone = *zone;
    }
    std::string anchor;
    if (stamp.at > fixed_max) anchor = anchor_before(line, stamp.at);
    if (anchor.empty()) {
      recipe.fixed.push_back({stamp.at, form});
      front = std::max(front, stamp.at + stamp.form.size());
      continue;
    }
    if (is_first) recipe.first_is_fixed = false;
    recipe.anchored.push_back({std::move(anchor), form});
  }
  fold_digits(line.substr(0, std::max(front, std::size_t{1})), recipe.front);
  for (const Recipe::Fixed& fixed : recipe.fixed) {
    const std::string& shape = forms_.form(fixed.form).shape();
    recipe.front.replace(fixed.at, shape.size(), shape);
  }
  return recipe;
}

/// `hh:mm:ss` of a stamp, if it stands there as one text.
std::string_view clock_in(const StampForm& form, std::string_view stamp) {
  const auto of = [&](Part part) { return std::ranges::find(form.fields(), part, &Field::part); };
  const auto hour = of(Part::hour), minute = of(Part::minute), second = of(Part::second);
  const auto none = form.fields().end();
  if (hour == none || minute == none || second == none) return {};
  const std::size_t minute_at = hour->at + hour->width + 1;
  const std::size_t second_at = minute_at + 3;
  if (minute->at != minute_at || second->at != second_at || stamp[minute_at - 1] != ':' ||
      stamp[second_at - 1] != ':')
    return {};
  return stamp.substr(hour->at, second_at + 2 - hour->at);
}

/// Whether a line with a stamp of this form reads as it should after it was moved.
bool reads_right(const std::optional<TimeMs>& was, const std::optional<TimeMs>& is, Millis shift,
                 const StampForm& form) {
  if (!was || !is) return was.has_value() == is.has_value();
  const Millis off = *is - (*was + shift);
  if (!form.has_date()) return off % days{1} == Millis{0};
  if (!form.has(Part::second) && !form.has(Part::epoch)) return off <= Millis{0} && off > -1min;
  // The year that completes a date depends on the times before.
  return off == Millis{0} || (!form.has_year() && off % days{1} == Millis{0});
}

/// Reads the whole text after it was moved; the lines (from 0) that do not read as they should.
std::vector<std::size_t> wrong_lines(const MovedText& text, const LineTimes& times,
                                     std::optional<TimeMs> hint, seconds shift,
                                     const std::vector<StampForm>& forms) {
  constexpr std::uint64_t kPartBytes = 1 << 20;
  TimesReader reader{hint ? std::optional{*hint + shift} : std::nullopt};
  std::string moved;
  for (std::uint64_t from = 0; from < text.text().size(); from += kPartBytes) {
    moved.clear();
    text.append(from, std::min<std::uint64_t>(from + kPartBytes, text.text().size()), shift, moved);
    reader.feed(moved);
  }
  const LineTimes again = reader.finish();
  L4_CHECK(again.lines.size() == times.lines.size(), "{} lines became {}", times.lines.size(),
           again.lines.size());
  std::vector<std::size_t> wrong;
  auto place = text.places().begin();
  for (std::size_t i = 0; i < times.lines.size(); ++i) {
    const StampForm* form = nullptr;  // the one that says least
    for (; place != text.places().end() && place->at < times.lines[i].end; ++place) {
      const StampForm& own = forms[place->form];
      if (form == nullptr || own.has_year() < form->has_year()) form = &own;
    }
    if (form != nullptr && !reads_right(times.lines[i].time, again.lines[i].time, shift, *form))
      wrong.push_back(i);
  }
  return wrong;
}

/// Removes the places in these lines, which are in ascending order.
void remove_places(const std::vector<std::size_t>& lines, const LineTimes& times,
                   std::vector<Place>& places) {
  std::size_t next = 0;
  std::erase_if(places, [&](const Place& place) {
    while (next < lines.size() && times.lines[lines[next]].end <= place.at) ++next;
    return next < lines.size() &&
           place.at >= (lines[next] == 0 ? 0 : times.lines[lines[next] - 1].end);
  });
}

}  // namespace

struct StampFinder::State {
  State(TimeMs first, TimeMs last) : mentions(forms, first, last) {}
  FormTable forms;
  Mentions mentions;
  std::size_t learnt = 0;
};

StampFinder::StampFinder(TimeMs first, TimeMs last)
    : state_(std::make_unique<State>(first, last)) {}
StampFinder::~StampFinder() = default;

const std::vector<StampForm>& StampFinder::forms() const {
  return state_->forms.forms();
}

std::vector<Place> StampFinder::find(std::string_view text, const LineTimes& times,
                                     std::optional<TimeMs> hint, Millis shift,
                                     UnmovedLines& unmoved) {
  FormTable& forms = state_->forms;
  LogSearch search{forms, text, state_->learnt};
  std::vector<Place> places;
  std::vector<Place> of_line;
  std::vector<std::size_t> strange;  // lines that keep a time, from 0
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < times.lines.size(); ++i) {
    const Line& line = times.lines[i];
    std::string_view content = text.substr(begin, line.end - begin);
    if (content.ends_with('\n')) content.remove_suffix(1);
    of_line.clear();
    bool right = !line.time || search.stamps(content, begin, *line.time, of_line);
    std::string_view clock;
    if (!of_line.empty())
      clock = clock_in(forms.form(of_line[0].form), content.substr(of_line[0].at));
    right = state_->mentions.find({content, line.time, clock}, of_line) && right;
    if (!right) strange.push_back(i);
    for (Place& place : of_line) {
      place.at += static_cast<std::uint32_t>(begin);
      places.push_back(place);
    }
    begin = line.end;
  }
  const auto wrong = wrong_lines(MovedText{text, places, forms.forms()}, times, hint,
                                 floor<seconds>(shift), forms.forms());
  remove_places(wrong, times, places);
  strange.insert(strange.end(), wrong.begin(), wrong.end());
  std::ranges::sort(strange);
  strange.erase(std::unique(strange.begin(), strange.end()), strange.end());
  unmoved.count = strange.size();
  unmoved.first = strange.empty() ? 0 : strange.front() + 1;
  return places;
}

}  // namespace l4::replay
