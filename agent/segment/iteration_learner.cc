#include "agent/segment/iteration_learner.h"

#include <algorithm>
#include <cctype>

namespace l4::segment {
namespace {

struct Integer {
  std::int64_t value = 0;
  bool named = false;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Last word before position `at`, skipping `=`, `:`, blanks and brackets.
std::string_view word_before(std::string_view text, std::size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '=' || text[at - 1] == ':' ||
                    text[at - 1] == '[' || text[at - 1] == '(' || text[at - 1] == '#' ||
                    text[at - 1] == '\'' || text[at - 1] == '"'))
    --at;
  std::size_t begin = at;
  while (begin > 0 && is_alpha(text[begin - 1])) --begin;
  return text.substr(begin, at - begin);
}

bool names_iteration(std::string_view word) {
  auto ends_with = [&](std::string_view tail) {
    if (word.size() < tail.size()) return false;
    return std::equal(tail.rbegin(), tail.rend(), word.rbegin(), [](char a, char b) {
      return a == std::tolower(static_cast<unsigned char>(b));
    });
  };
  return ends_with("step") || ends_with("steps") || ends_with("iter") || ends_with("iteration") ||
         ends_with("it") || ends_with("batch") || ends_with("update");
}

/// The standalone integers of a line: no part of a decimal, a word, an address or a date.
std::size_t integers(std::string_view text, std::array<Integer, 4>& out) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < text.size() && found < out.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    const char before = i == 0 ? ' ' : text[i - 1];
    const char after = end == text.size() ? ' ' : text[end];
    const bool in_clock = before == ':' && i > 1 && is_digit(text[i - 2]);  // 15:04:05
    const bool glued =
        in_clock || is_alpha(before) || before == '.' || before == '-' || before == '/' ||
        is_alpha(after) || (after == '.' && end + 1 < text.size() && is_digit(text[end + 1])) ||
        (after == ':' && end + 1 < text.size() && is_digit(text[end + 1])) || after == '-';
    if (!glued && end - i <= 12) {
      std::int64_t value = 0;
      for (std::size_t k = i; k < end; ++k) value = value * 10 + (text[k] - '0');
      out[found++] = {value, names_iteration(word_before(text, i))};
    }
    i = end;
  }
  return found;
}

}  // namespace

IterationLearner::Watched* IterationLearner::watch(LocalTemplateId id) {
  for (Watched& watched : watched_)
    if (watched.id == id) return &watched;
  if (watched_.size() == kTemplatesMax) return nullptr;
  watched_.push_back({id, {}, false});
  return &watched_.back();
}

void IterationLearner::choose(const Watched& watched, std::size_t field) {
  const Field& candidate = watched.fields[field];
  const bool better = !marker_ || (candidate.named && !marker_named_) ||
                      (candidate.named == marker_named_ && candidate.step < marker_step_);
  if (!better) return;
  marker_ = watched.id;
  marker_field_ = field;
  marker_named_ = candidate.named;
  marker_step_ = candidate.step;
}

bool IterationLearner::convinces(const Field& field, std::optional<TimeMs> now) const {
  constexpr Millis kPaceMin{20};
  if (field.named) return field.streak >= kStreakNamed;
  return field.streak >= kStreakBare && now && field.since &&
         *now - *field.since >= kPaceMin * field.streak;
}

std::optional<std::int64_t> IterationLearner::observe(LocalTemplateId id, std::string_view message,
                                                      std::optional<TimeMs> time) {
  Watched* watched = watch(id);
  if (watched == nullptr) return std::nullopt;
  std::array<Integer, kFieldsMax> numbers{};
  const std::size_t count = integers(message, numbers);
  for (std::size_t i = 0; i < count; ++i) {
    Field& field = watched->fields[i];
    const std::int64_t step = numbers[i].value - field.last;
    if (watched->seen && step > 0 && (field.streak == 0 || step == field.step)) {
      field.step = step;
      ++field.streak;
    } else {
      field.streak = 0;
      field.since = time;
    }
    field.last = numbers[i].value;
    field.named = numbers[i].named;
    if (convinces(field, time)) choose(*watched, i);
  }
  watched->seen = true;
  if (marker_ == id && marker_field_ < count) return numbers[marker_field_].value;
  return std::nullopt;
}

std::optional<LocalTemplateId> IterationLearner::marker() const {
  return marker_;
}

}  // namespace l4::segment
