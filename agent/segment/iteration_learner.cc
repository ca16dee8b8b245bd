#include "agent/segment/iteration_learner.h"

#include <algorithm>

#include "agent/segment/template_traits.h"
#include "common/base/ascii.h"
#include "common/parameters/by_first_letters.h"

namespace l4::segment {
namespace {

using Context = IterationLearner::Context;

/// Compares letters without case; `b` must not be upper case.
bool is_same_letter(char a, char b) {
  return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
}
/// True for a character that may stand between a name and its number.
bool is_between(char c) {
  constexpr std::string_view kBetween = " =:[(#'\"";
  return std::ranges::find(kBetween, c) != kBetween.end();
}

/// The word before position `at`, without the signs between a name and its number.
std::string_view word_before(std::string_view text, std::size_t at) {
  while (at > 0 && is_between(text[at - 1])) --at;
  std::size_t begin = at;
  while (begin > 0 && is_name_letter(text[begin - 1])) --begin;
  return text.substr(begin, at - begin);
}

bool names_iteration(std::string_view word) {
  static constexpr std::array<std::string_view, 7> kTails{"step", "steps", "iter",  "iteration",
                                                          "it",   "batch", "update"};
  return std::ranges::any_of(kTails, [&](std::string_view tail) {
    return word.size() >= tail.size() && is_same_letter(word.back(), tail.back()) &&
           std::ranges::equal(word.substr(word.size() - tail.size()), tail, is_same_letter);
  });
}

struct Thing {
  std::string_view low;
};
constexpr std::array<Thing, 21> kThingList{
    {{"process"}, {"subprocess"}, {"pid"},    {"port"}, {"rank"},  {"local_rank"}, {"node"},
     {"worker"},  {"thread"},     {"layer"},  {"gpu"},  {"npu"},   {"device"},     {"epoch"},
     {"seed"},    {"line"},       {"lineno"}, {"time"}, {"shard"}, {"attempt"},    {"channel"}}};
constexpr parameters::ByFirstLetters kThings(kThingList);

/// True for words whose numbers count or name other things, even if the numbers grow.
bool names_another_thing(std::string_view word) {
  return !word.empty() && std::ranges::any_of(kThings.of(word), [&](const Thing& thing) {
    return std::ranges::equal(word, thing.low, is_same_letter);
  });
}

bool is_bar(std::string_view text) {
  return text.find("%|") != text.npos;
}

/// True for a bar that shows loading, preparation or evaluation instead of training.
bool is_preparation(std::string_view bar) {
  static constexpr std::array<std::string_view, 8> kWords{"oading", "Fetching", "Map", "okeniz",
                                                          "Filter", "shard",    "Val", "eval"};
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return bar.find(word) != bar.npos; });
}

std::int64_t number_in(std::string_view text, std::size_t from, std::size_t to) {
  std::int64_t value = 0;
  for (std::size_t k = from; k < to; ++k) value = value * 10 + (text[k] - '0');
  return value;
}

/// Position of the first character from `at` on that is not a digit.
std::size_t digits_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

char at_or_blank(std::string_view text, std::size_t at) {
  return at < text.size() ? text[at] : ' ';
}

/// True if the digits are part of a decimal, a word, an address, a date or a percentage.
bool is_glued(std::string_view text, std::size_t begin, std::size_t end, bool named) {
  const char before = begin == 0 ? ' ' : text[begin - 1];
  const char after = at_or_blank(text, end);
  const bool in_clock = before == ':' && begin > 1 && is_digit(text[begin - 2]);  // 15:04:05
  const bool clock_goes_on = after == ':' && is_digit(at_or_blank(text, end + 1));
  if (in_clock || clock_goes_on || is_name_letter(before) || is_name_letter(after)) return true;
  if (before == '.' || before == '-' || before == '/' || after == '-' || after == '%') return true;
  if (after != '.' || !is_digit(at_or_blank(text, end + 1))) return false;
  // "step": 31.0 is an iteration number that the program keeps in a float.
  std::size_t zeros = end + 1;
  while (at_or_blank(text, zeros) == '0') ++zeros;
  return !named || is_digit(at_or_blank(text, zeros)) || is_name_letter(at_or_blank(text, zeros));
}

/// The total behind "6/120" and "6 / 120"; 0 if there is none.
std::int64_t total_behind(std::string_view text, std::size_t at) {
  constexpr std::size_t kDigitsMax = 12;
  while (at_or_blank(text, at) == ' ' && at < text.size()) ++at;
  if (at_or_blank(text, at) != '/') return 0;
  ++at;
  while (at_or_blank(text, at) == ' ' && at < text.size()) ++at;
  const std::size_t end = digits_end(text, at);
  return end - at <= kDigitsMax ? number_in(text, at, end) : 0;
}

/// Finds the standalone integers of a line that may be iteration numbers.
std::size_t integers(std::string_view text, IterationLearner::Integers& out) {
  constexpr std::size_t kDigitsMax = 12;
  const bool bar = is_bar(text);
  if (bar && is_preparation(text)) return 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < text.size() && found < out.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    const std::size_t end = digits_end(text, i);
    const bool whole = !is_glued(text, i, end, false);
    const bool maybe = end - i <= kDigitsMax && (whole || at_or_blank(text, end) == '.');
    const std::string_view word = maybe ? word_before(text, i) : std::string_view();
    const bool named = maybe && names_iteration(word);
    if (maybe && (whole || !is_glued(text, i, end, named)) && !names_another_thing(word)) {
      const std::int64_t total = total_behind(text, end);
      const Context context = named              ? Context::named
                              : total > 0 && bar ? Context::of_total
                                                 : Context::bare;
      out[found++] = {number_in(text, i, end), total, context};
    }
    i = end;
  }
  return found;
}

}  // namespace

bool IterationLearner::Watched::hopeless() const {
  constexpr std::uint64_t kSeenEnough = 64;
  return seen >= kSeenEnough && best_streak < kStreakNamed;
}

/// Index of the template in watched_, which is added if there is room. Without room, every
/// kRefusals-th new template replaces another, so that each template is watched long enough to come
/// again.
std::optional<std::size_t> IterationLearner::watch(LocalTemplateId id) {
  constexpr int kCounting = 2;
  constexpr std::uint32_t kRefusals = 16;
  if (const std::uint8_t* place = places_.find(key_of(id)); place != nullptr) return *place;
  if (watched_.size() < kTemplatesMax) {
    places_[key_of(id)] = static_cast<std::uint8_t>(watched_.size());
    watched_.push_back({.id = id});
    return watched_.size() - 1;
  }
  if (++refused_ % kRefusals != 0) return std::nullopt;
  for (std::size_t tries = 0; tries < kTemplatesMax; ++tries) {
    oldest_ = (oldest_ + 1) % kTemplatesMax;
    if (watched_[oldest_].best_streak < kCounting && watched_[oldest_].id != marker_) break;
  }
  places_.erase(key_of(watched_[oldest_].id));
  places_[key_of(id)] = static_cast<std::uint8_t>(oldest_);
  watched_[oldest_] = {.id = id};
  return oldest_;
}

void IterationLearner::count(Field& field, const Integer& number, bool seen,
                             std::optional<TimeMs> time) {
  // Other lines may print some of the named numbers; a bar skips numbers when time is short.
  constexpr std::int64_t kLeapMax = 8;
  const std::int64_t step = number.value - field.last;
  if (seen && step == 0 && number.context != Context::bare) return;  // printed by several ranks
  const bool same_total = number.total == field.total;
  const auto leaps = [](std::int64_t far, std::int64_t near) {
    return near > 0 && far % near == 0 && far / near <= kLeapMax;
  };
  const bool steady =
      step == field.step || number.context == Context::of_total ||
      (number.context == Context::named && (leaps(step, field.step) || leaps(field.step, step)));
  const bool can_convince = number.context != Context::bare || time;
  if (seen && can_convince && same_total && step > 0 && (field.streak == 0 || steady)) {
    field.step = field.streak == 0 ? step : std::min(field.step, step);
    ++field.streak;
  } else {
    field.streak = 0;
    field.since = time;
  }
  field.last = number.value;
  field.total = number.total;
  field.context = number.context;
}

bool IterationLearner::convinces(const Field& field, std::optional<TimeMs> now) {
  constexpr int kStreakOfTotal = 6;
  constexpr int kStreakBare = 12;
  constexpr Millis kPaceMin{20};
  if (field.context == Context::named) return field.streak >= kStreakNamed;
  if (field.context == Context::of_total) return field.streak >= kStreakOfTotal;
  return field.streak >= kStreakBare && now && field.since &&
         *now - *field.since >= kPaceMin * field.streak;
}

void IterationLearner::choose(LocalTemplateId id, const Watched& watched, std::size_t field) {
  const Field& candidate = watched.fields[field];
  const bool better = !marker_ || candidate.context > marker_context_ ||
                      (candidate.context == marker_context_ && candidate.step < marker_step_);
  if (!better) return;
  marker_ = id;
  marker_field_ = field;
  marker_context_ = candidate.context;
  marker_step_ = candidate.step;
}

std::optional<Progress> IterationLearner::observe(LocalTemplateId id, std::string_view message,
                                                  std::optional<TimeMs> time) {
  std::optional<std::size_t> place = watch(id);
  if (!place || watched_[*place].hopeless()) return std::nullopt;
  Integers numbers{};
  const std::size_t found = integers(message, numbers);
  // A bar's drawing gives it many templates; an id made of its total unites them.
  constexpr std::uint32_t kBars = 1u << 31;
  for (std::size_t i = 0; i < found; ++i)
    if (numbers[i].context == Context::of_total)
      id = LocalTemplateId{kBars | static_cast<std::uint32_t>(numbers[i].total)};
  if (id != watched_[*place].id) {
    ++watched_[*place].seen;
    place = watch(id);
    if (!place) return std::nullopt;
  }
  Watched& watched = watched_[*place];
  for (std::size_t i = 0; i < found; ++i) {
    Field& field = watched.fields[i];
    count(field, numbers[i], watched.seen > 0, time);
    watched.best_streak = std::max(watched.best_streak, field.streak);
    if (convinces(field, time)) choose(id, watched, i);
  }
  ++watched.seen;
  if (marker_ != id || marker_field_ >= found) return std::nullopt;
  const Integer& number = numbers[marker_field_];
  return Progress{number.value, number.total > 0 ? std::optional(number.total) : std::nullopt};
}

}  // namespace l4::segment
