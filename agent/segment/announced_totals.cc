#include "agent/segment/announced_totals.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/ascii.h"

namespace l4::segment {
namespace {

/// What is counted, and whether its plural alone is the name of a total ("epochs: 30").
struct CountedWord {
  std::string_view low;
  bool epochs = false;
  bool plain = false;
};
constexpr auto kCounted = std::to_array<CountedWord>({
    {"epochs", true, true},
    {"nepochs", true, true},
    {"epoch", true},
    {"steps"},
    {"step"},
    {"iters"},
    {"iter"},
    {"iterations"},
    {"iteration"},
    {"updates"},
    {"update"},
});

/// Words that make it a total beside any form ("max_step"), beside a form of epochs ("num_epoch"),
/// and beside a plural ("train_steps", for "Train step: 5" is none); words that change nothing
/// ("trainer.max_epochs", "total optimization steps").
constexpr auto kMost = std::to_array<std::string_view>({"max", "maximum", "total"});
constexpr auto kNumberOf = std::to_array<std::string_view>({"num", "number", "n", "nb", "end"});
constexpr auto kTraining = std::to_array<std::string_view>({"train", "training"});
constexpr auto kNeutral = std::to_array<std::string_view>(
    {"trainer", "args", "cfg", "config", "hparams", "solver", "optimization", "optim", "num",
     "number", "n", "nb", "of", "the", "train", "training"});

bool joins_words(char c) {
  return c == '_' || c == '.' || c == '-';
}

/// The word that ends at `end`: letters, begun by a capital behind a small letter.
std::string_view word_before(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_letter(line[begin - 1])) {
    if (begin < end && is_upper(line[begin]) && is_lower(line[begin - 1])) break;
    --begin;
  }
  return line.substr(begin, end - begin);
}

/// What the words before the counted one say: up to the begin of the name, or of the phrase.
struct Front {
  bool total = false;
  bool foreign = false;  ///< some word makes it another thing ("warmup_epochs")
  bool option = false;   ///< "--epochs"
};
Front front_of(std::string_view line, std::size_t begin, const CountedWord& counted) {
  Front front;
  const bool plural = counted.low.ends_with('s');
  std::size_t at = begin;
  for (;;) {
    std::size_t end = at;
    if (end > 0 && (joins_words(line[end - 1]) || line[end - 1] == ' ')) --end;
    const bool glued = end == at;  // "maxEpochs"
    if (glued && (at == 0 || !is_letter(line[at - 1]))) break;
    const std::string_view word = word_before(line, end);
    if (word.empty()) break;
    if (equals_one_of(word, kMost) || (counted.epochs && equals_one_of(word, kNumberOf)) ||
        (plural && equals_one_of(word, kTraining)))
      front.total = true;
    else if (!equals_one_of(word, kNeutral))
      front.foreign = true;
    at = end - word.size();
  }
  front.option = at >= 2 && line.substr(at - 2, 2) == "--";
  // A digit or a letter of another script belongs to the name, too.
  if (at > 0 && (is_digit(line[at - 1]) || static_cast<unsigned char>(line[at - 1]) >= 0x80))
    front.foreign = true;
  return front;
}

/// The whole number at `at`; "3.0" is whole. Nothing else of a name or number follows.
std::optional<std::int64_t> whole_at(std::string_view line, std::size_t at) {
  constexpr std::int64_t kLeast = 2, kGreatest = 1'000'000'000'000;
  std::int64_t value = 0;
  const char* const end = line.data() + line.size();
  auto [stop, error] = std::from_chars(line.data() + at, end, value);
  if (error != std::errc{} || value < kLeast || value > kGreatest) return std::nullopt;
  std::string_view rest(stop, static_cast<std::size_t>(end - stop));
  if (rest.starts_with(".0")) rest.remove_prefix(2);
  if (rest.empty()) return value;
  const bool goes_on = is_digit(rest[0]) || is_name_letter(rest[0]) || rest[0] == '/' ||
                       (rest[0] == '.' && rest.size() > 1 && is_digit(rest[1]));
  return goes_on ? std::nullopt : std::optional(value);
}

/// The value of a setting whose name ends at `at`: "=35", ": 30", `": 3`, " = 5", "  40" behind an
/// option.
std::optional<std::int64_t> value_of(std::string_view line, std::size_t at, bool option) {
  std::size_t i = at;
  bool sign = option;
  while (i < line.size() &&
         (is_blank(line[i]) || line[i] == '"' || line[i] == '\'' || line[i] == ':' ||
          line[i] == '=' || line[i] == '|' || (option && line[i] == ','))) {
    sign |= line[i] == ':' || line[i] == '=' || line[i] == '|';
    ++i;
  }
  return sign && i > at ? whole_at(line, i) : std::nullopt;
}

/// "max: 40 epochs", "training for 30 epochs": the number before a plural.
std::optional<std::int64_t> value_before(std::string_view line, std::size_t begin) {
  if (begin < 2 || line[begin - 1] != ' ' || !is_digit(line[begin - 2])) return std::nullopt;
  std::size_t at = begin - 1;
  while (at > 0 && is_digit(line[at - 1])) --at;
  if (at == 0 || (line[at - 1] != ' ' && line[at - 1] != ':' && line[at - 1] != '='))
    return std::nullopt;
  const std::size_t end = line.find_last_not_of(" :=", at - 1);
  if (end == line.npos) return std::nullopt;
  const std::string_view word = word_before(line, end + 1);
  if (equals_one_of(word, kMost)) return whole_at(line, at);
  if (!equals_lower(word, "for")) return std::nullopt;
  const std::size_t verb = end + 1 - word.size();
  if (verb == 0) return std::nullopt;
  const std::string_view before = word_before(line, verb - 1);
  return equals_one_of(before, kTraining) ? whole_at(line, at) : std::nullopt;
}

const CountedWord* counted_at(std::string_view line, std::size_t at) {
  for (const CountedWord& word : kCounted)
    if (begins_lower(line.substr(at), word.low)) {
      const std::size_t end = at + word.low.size();
      if (end == line.size() || (!is_name_letter(line[end]) && !is_digit(line[end]))) return &word;
    }
  return nullptr;
}

}  // namespace

AnnouncedTotals find_announced(std::string_view line) {
  constexpr std::string_view kInitials = "eEnNsSiIuU";
  AnnouncedTotals found;
  for (std::size_t at = line.find_first_of(kInitials); at != line.npos;
       at = line.find_first_of(kInitials, at + 1)) {
    const bool inside =
        at > 0 && is_letter(line[at - 1]) && !(is_upper(line[at]) && is_lower(line[at - 1]));
    const CountedWord* word = inside ? nullptr : counted_at(line, at);
    if (word == nullptr) continue;
    auto& total = word->epochs ? found.epochs : found.iterations;
    if (total) continue;
    const Front front = front_of(line, at, *word);
    const std::size_t end = at + word->low.size();
    if (!front.foreign && (front.total || word->plain)) total = value_of(line, end, front.option);
    if (!total && word->low.ends_with('s')) total = value_before(line, at);
  }
  return found;
}

}  // namespace l4::segment
