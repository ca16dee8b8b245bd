#include "agent/segment/progress_grammar.h"

#include <algorithm>
#include <charconv>

#include "agent/segment/progress_words.h"
#include "agent/segment/whole_number.h"
#include "common/base/ascii.h"
#include "common/base/find_bytes.h"

namespace l4::segment {
namespace {

using enum Says;

/// One look-up for each character of a line that is asked about.
struct Signs {
  consteval Signs(const char* signs) {
    for (; *signs != '\0'; ++signs) holds[static_cast<unsigned char>(*signs)] = true;
  }
  std::array<bool, 256> holds{};
};

bool is_one_of(char c, const Signs& set) {
  return set.holds[static_cast<unsigned char>(c)];
}

std::size_t skip_back(std::string_view line, std::size_t at, const Signs& set) {
  while (at > 0 && is_one_of(line[at - 1], set)) --at;
  return at;
}
std::size_t letters_end(std::string_view line, std::size_t at) {
  while (at < line.size() && is_letter(line[at])) ++at;
  return at;
}
/// The end of the name before a number: signs and one word in parentheses, as in "Epoch(train)
/// [2]", may stand between them; in a row of a table, "| iterations | 245 |", the edge of a cell.
std::size_t name_end(std::string_view line, std::size_t at) {
  static constexpr Signs kBetween = " \t=:[(#'\"", kInRow = " \t=:[(#'\"|";
  at = skip_back(line, at, line.front() == '|' ? kInRow : kBetween);
  constexpr std::string_view kDots = "...";  // "Step... (500 | Loss"; longer ones fill a table
  const std::string_view front = line.substr(0, at);
  if (front.ends_with(kDots) && !front.ends_with("...."))
    at = skip_back(line, at - kDots.size(), " ");
  if (at == 0 || line[at - 1] != ')') return at;
  std::size_t open = at - 1;
  while (open > 0 && is_letter(line[open - 1])) --open;
  const bool word = open < at - 1 && open > 0 && line[open - 1] == '(';
  return word ? skip_back(line, open - 1, " ") : at;
}

struct Name {
  std::optional<Says> says;
  bool plural = false;
  std::uint32_t hash = 0;
};

/// Only names of what is counted are compared.
Name name_of(std::string_view word) {
  const auto says = meaning_of(word);
  const bool counted = says == iteration || says == epoch || says == sample;
  return {says, !word.empty() && lower(word.back()) == 's', counted ? hash_of(word) : 0};
}

Name name_before(std::string_view line, std::size_t at) {
  const std::size_t end = name_end(line, at);
  std::string_view word = last_part(line, end);
  if (word.empty()) return {};
  Name name = name_of(word);
  if (name.says != number) return name;
  word = last_part(line, skip_back(line, end - word.size(), "_ ."));
  return word.empty() ? Name{} : name_of(word);
}

/// The unit behind a number or its total ("200/2983 batches"). A word that is the name of what
/// follows ("10 step: 5") says nothing about what stands before it.
Name name_behind(std::string_view line, std::size_t at) {
  const std::size_t begin = skip_blanks(line, at);
  if (begin == at && begin < line.size()) return {};
  const std::size_t end = letters_end(line, begin);
  if (end == begin || at_or_blank(line, end) == '_' || at_or_blank(line, end) == '/') return {};
  const char next = at_or_blank(line, skip_blanks(line, end));
  if (is_digit(next) || is_one_of(next, "=:[(#")) return {};
  const Name name = name_of(line.substr(begin, end - begin));
  const bool unit = name.says == iteration || name.says == epoch || name.says == sample;
  return unit ? name : Name{};
}

/// True if the digits are part of a decimal, a word, an address, a date or a percentage.
bool is_glued(std::string_view line, std::size_t begin, std::size_t end, bool named) {
  const char before = begin == 0 ? ' ' : line[begin - 1];
  const char after = at_or_blank(line, end);
  const bool in_clock = before == ':' && begin > 1 && is_digit(line[begin - 2]);  // 15:04:05
  const bool clock_goes_on = after == ':' && is_digit(at_or_blank(line, end + 1));
  if (in_clock || clock_goes_on || is_name_letter(before) || is_name_letter(after)) return true;
  if (before == '.' || before == '-' || before == '/' || after == '-' || after == '%') return true;
  if (after != '.' || !is_digit(at_or_blank(line, end + 1))) return false;
  // "step": 31.0 is an iteration number that the program keeps in a float.
  std::size_t zeros = end + 1;
  while (at_or_blank(line, zeros) == '0') ++zeros;
  return !named || is_digit(at_or_blank(line, zeros)) || is_name_letter(at_or_blank(line, zeros));
}

/// "2.2e+04": a whole number as a program that rounds its figures prints it.
std::optional<Whole> rounded_number(std::string_view line, std::size_t begin, std::size_t end) {
  constexpr std::size_t kExponentMax = 12;
  std::size_t mark = end;
  if (at_or_blank(line, mark) == '.') mark = digits_end(line, mark + 1);
  const std::size_t places = mark > end ? mark - end - 1 : 0;
  const bool marked =
      is_one_of(at_or_blank(line, mark), "eE") && at_or_blank(line, mark + 1) == '+';
  if (!marked || end - begin != 1 || (mark > end && places == 0)) return std::nullopt;
  const std::size_t last = digits_end(line, mark + 2);
  const auto exponent = number_at(line, mark + 2, last);
  if (!exponent || *exponent > std::int64_t{kExponentMax} ||
      places > static_cast<std::size_t>(*exponent) || is_name_letter(at_or_blank(line, last)))
    return std::nullopt;
  std::int64_t value = line[begin] - '0';
  for (std::size_t i = 0; i < static_cast<std::size_t>(*exponent); ++i)
    value = value * 10 + (i < places ? line[end + 1 + i] - '0' : 0);
  return Whole{value, 0, begin, last};
}

/// "02:00<05:44", "14:22 < 2:52:41": the times of a bar, without a bracket of their own.
bool are_times(std::string_view line, std::size_t at) {
  static constexpr Signs kClock = "0123456789:";
  const std::size_t begin = at;
  while (at < line.size() && is_one_of(line[at], kClock)) ++at;
  const bool clock = at > begin + 3 && line.substr(begin, at - begin).contains(':');
  at = skip_blanks(line, at);
  return clock && at_or_blank(line, at) == '<' &&
         is_digit(at_or_blank(line, skip_blanks(line, at + 1)));
}

/// True if a bar is drawn from `at` on: tqdm's "[00:31<01:00", Keras's "[==>..]", rich's "━━",
/// fastprogress's "02:00<05:44".
bool is_drawn(std::string_view line, std::size_t at) {
  at = skip_blanks(line, at);
  if (is_digit(at_or_blank(line, at))) return are_times(line, at);
  const char first = at_or_blank(line, at);
  const auto code = static_cast<unsigned char>(at_or_blank(line, at + 1));
  if (static_cast<unsigned char>(first) == 0xE2) return code >= 0x94 && code <= 0x96;
  if (first != '[') return false;
  const char next = at_or_blank(line, at + 1);
  return is_one_of(next, "=>?.") || (is_digit(next) && line.find(':', at) < at + 6);
}

/// Visits the words of a text, parts of names each for itself, until `visit` returns false.
template <class Visit>
void each_word(std::string_view text, Visit visit) {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_letter(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_letter(text[end]) &&
           (!is_upper(text[end]) || is_upper(text[end - 1])))
      ++end;
    if (!visit(text.substr(i, end - i))) return;
    i = end;
  }
}

/// The unit of a rate such as "5.00it/s", "7.00s/it" or "12.3MB/s"; empty if there is none.
std::string_view unit_of_rate(std::string_view clock) {
  for (auto at = clock.find('/'); at != clock.npos; at = clock.find('/', at + 1)) {
    const std::size_t end = letters_end(clock, at + 1);
    std::size_t begin = at;
    while (begin > 0 && is_letter(clock[begin - 1])) --begin;
    const std::string_view left = clock.substr(begin, at - begin);
    const std::string_view right = clock.substr(at + 1, end - at - 1);
    if (!left.empty() && right == "s") return left;
    if (left == "s" && !right.empty()) return right;
  }
  return {};
}

/// "Adding EOS to train dataset: 10%|##", "Generating train split": the data are worked on.
bool ends_with_data(std::string_view front) {
  constexpr auto kData = std::to_array<std::string_view>({"dataset", "data", "split"});
  const std::size_t bar = front.find_last_of(':');
  if (bar == front.npos) return false;
  return equals_one_of(last_part(front, bar), kData);
}

/// `begin`: position of the bar's number; `end`: of what follows its total.
BarKind kind_of_bar(std::string_view line, std::size_t begin, std::size_t end) {
  BarKind kind = BarKind::training;
  bool training_said = false;
  each_word(line.substr(0, begin), [&](std::string_view word) {
    const auto says = meaning_of(word);
    training_said |= says == training;
    if (!says) kind = std::max(kind, BarKind::other);
    if (says == evaluation) kind = std::max(kind, BarKind::evaluation);
    if (says == preparation) kind = std::max(kind, BarKind::preparation);
    return !training_said;
  });
  if (training_said)
    kind = ends_with_data(line.substr(0, begin)) ? BarKind::preparation : BarKind::training;
  const std::string_view rest = line.substr(std::min(end, line.size()));
  const std::string_view unit = unit_of_rate(rest.substr(0, rest.find(']')));
  if (unit.empty()) return kind;
  const auto counts = meaning_of(unit);
  const bool known = counts == iteration || counts == epoch || counts == sample;
  // "Applying chat template: 4000/10000 [.., 576 examples/s]": samples that pass without a measure
  // are the data that are worked on.
  const bool measured = rest.substr(0, rest.find(']')).find('=') != rest.npos;
  const bool data = kind == BarKind::other && counts == sample && !measured;
  return known && !data ? kind : BarKind::preparation;
}

Unit unit_said(std::optional<Says> says) {
  if (says == iteration) return Unit::iteration;
  if (says == epoch) return Unit::epoch;
  return says == sample ? Unit::sample : Unit::unknown;
}

/// Collects the counters of one line.
class Finder {
 public:
  Finder(std::string_view line, Counters& out)
      : line_(line), out_(out), percent_(line.find("%|")) {}

  void run() {
    constexpr auto kDigit = [](auto byte) { return (byte >= '0') & (byte <= '9'); };
    for (std::size_t i = 0; out_.size < Counters::kMax;) {
      i = find_kind(line_, i, kDigit);
      if (i >= line_.size()) break;
      const std::size_t end = digits_end(line_, i);
      i = std::max(end, visit(i, end));
    }
    outer_of_pair();
    drop_outer();
  }

 private:
  /// Looks at the digits [begin, end); returns where to go on.
  std::size_t visit(std::size_t begin, std::size_t end) {
    const auto value = number_at(line_, begin, end);
    const bool glued = is_glued(line_, begin, end, false);
    if (glued)
      if (const auto rounded = rounded_number(line_, begin, end)) return visit_rounded(*rounded);
    if (!value || (glued && !may_be_whole(end))) return end;
    Whole whole{*value, 0, begin, end};
    if (glued && is_letter(at_or_blank(line_, end))) return visit_open_bar(whole);
    const Name before = name_before(line_, begin);
    const Unit named = unit_said(before.says);
    const bool counts_named = named == Unit::iteration;  // an epoch of 1.0 is a fraction
    const bool other_name = before.says && named == Unit::unknown && before.says != training &&
                            before.says != evaluation;
    if (other_name || (glued && is_glued(line_, begin, end, counts_named))) return end;
    if (named == Unit::epoch && before.plural) return end;  // how many there will be
    if (named == Unit::iteration)
      if (const auto grouped = grouped_number(line_, begin, end)) whole = *grouped;
    read_total(line_, whole);
    const Name name = named != Unit::unknown ? before : name_behind(line_, whole.end);
    add(whole, unit_said(name.says), name.hash, is_bar(whole));
    return whole.end;
  }

  /// Losses and rates are rounded, too, so only a word makes such a number a counter.
  std::size_t visit_rounded(const Whole& whole) {
    const char before = at_or_blank(line_, whole.begin == 0 ? line_.size() : whole.begin - 1);
    const Name name = name_before(line_, whole.begin);
    if (unit_said(name.says) == Unit::iteration && !is_one_of(before, ".-/:") &&
        !is_name_letter(before))
      add(whole, Unit::iteration, name.hash, false);
    return whole.end;
  }

  /// Digits that are glued to what follows may still be a number: 31.0, 12000it.
  bool may_be_whole(std::size_t end) const {
    const char after = at_or_blank(line_, end);
    return after == '.' || is_letter(after);
  }

  /// "12000it [35:34, 7.00s/it]": tqdm's bar without a total.
  std::size_t visit_open_bar(Whole& whole) {
    const std::size_t end = letters_end(line_, whole.end);
    const Unit unit = unit_said(meaning_of(line_.substr(whole.end, end - whole.end)));
    const char before = whole.begin == 0 ? ' ' : line_[whole.begin - 1];
    if (unit == Unit::unknown || !is_blank(before) || !is_drawn(line_, end)) return end;
    whole.end = end;
    add(whole, unit, 0, true);
    return end;
  }

  bool is_bar(const Whole& whole) const {
    return whole.total > 0 && (whole.begin > percent_ || is_drawn(line_, whole.end));
  }

  /// "186: -nan avg loss", "[142] train-logloss": nothing stands before the number, and it is set
  /// apart from what follows.
  bool leads(const Whole& whole) const {
    const std::size_t begin = skip_blanks(line_, 0);
    const char behind = at_or_blank(line_, whole.end);
    const bool boxed = begin + 1 == whole.begin && line_[begin] == '[' && behind == ']';
    return (boxed || (begin == whole.begin && behind == ':')) &&
           is_blank(at_or_blank(line_, whole.end + 1));
  }

  void add(const Whole& whole, Unit unit, std::uint32_t name, bool bar) {
    Counter counter{whole.value, whole.total, unit};
    counter.in_epoch = is_in_epoch(whole);
    if (name != 0 && unit != Unit::unknown) {
      counter.sign = Sign::word;
      counter.name = name;
    } else if (bar) {
      counter.sign = Sign::bar;
      if (unit == Unit::unknown) counter.unit = Unit::iteration;
    } else if (whole.total > 0) {
      counter.sign = Sign::total;
      outer_of_two(whole, counter);
    } else {
      counter.leads = leads(whole);
    }
    if (bar && !out_.bar) {
      out_.bar = out_.size;
      out_.bar_kind = kind_of_bar(line_, whole.begin, whole.end);
    }
    if (counter.unit == Unit::epoch) note_epoch(whole);
    note_pair(whole);
    last_begin_ = whole.begin;
    last_end_ = whole.end;
    out_.items[out_.size++] = counter;
  }

  void note_epoch(const Whole& whole) {
    if (!out_.epoch) {
      out_.epoch = whole.value;
      out_.epoch_total = whole.total;
    }
    epoch_end_ = whole.end;
  }

  /// True if only brackets and signs stand between `from` and the number.
  bool is_adjacent(std::size_t from, std::size_t begin) const {
    constexpr std::size_t kGapMax = 8;
    const std::string_view gap = line_.substr(from, begin - from);
    return gap.size() <= kGapMax &&
           std::ranges::all_of(gap, [](char c) { return is_one_of(c, " \t[](){}|/,:;-"); });
  }

  bool is_in_epoch(const Whole& whole) const {
    if (!epoch_end_ || !is_adjacent(*epoch_end_, whole.begin)) return false;
    const std::size_t at = skip_back(line_, whole.begin, " ");
    return whole.total > 0 || (at > 0 && is_one_of(line_[at - 1], "[("));
  }

  /// "[0/25][100/1583]": of two totals in a row the first belongs to the outer counter.
  void outer_of_two(const Whole& whole, Counter& counter) {
    if (out_.size == 0 || out_.epoch || !last_end_) return;
    Counter& before = out_.items[out_.size - 1];
    if (before.sign != Sign::total || !is_adjacent(*last_end_, whole.begin)) return;
    before.unit = Unit::epoch;
    out_.epoch = before.value;
    out_.epoch_total = before.total;
    counter.in_epoch = true;
  }

  /// "[169,  1300] loss: 0.2": of two numbers in one bracket the first belongs to the outer
  /// counter, where a measure follows directly.
  void outer_of_pair() {
    if (out_.epoch || out_.size < 2 || !pair_end_) return;
    Counter& outer = out_.items[pair_at_];
    Counter& inner = out_.items[pair_at_ + 1];
    if (outer.sign != Sign::none || inner.sign != Sign::none) return;
    outer.unit = Unit::epoch;
    out_.epoch = outer.value;
    inner.unit = Unit::iteration;
    inner.in_epoch = true;
  }

  /// Notes the pair whose second number is `whole`.
  void note_pair(const Whole& whole) {
    if (pair_end_ || out_.size == 0 || !last_end_ || at_or_blank(line_, whole.end) != ']') return;
    const std::string_view gap = line_.substr(*last_end_, whole.begin - *last_end_);
    const std::size_t open = skip_back(line_, last_begin_, " ");
    if (!gap.starts_with(',') || gap.find_first_not_of(" ,") != gap.npos || open == 0 ||
        line_[open - 1] != '[')
      return;
    std::size_t word = whole.end + 1;
    while (is_one_of(at_or_blank(line_, word), " :|-") && word < line_.size()) ++word;
    if (meaning_of(line_.substr(word, letters_end(line_, word) - word)) != measure) return;
    pair_at_ = out_.size - 1;
    pair_end_ = whole.end;
  }

  /// An epoch beside another counter is no counter of its own; one alone is not the outer of two.
  void drop_outer() {
    if (!out_.epoch) return;
    const auto counts = [](const Counter& counter) {
      return counter.unit != Unit::epoch && (counter.sign != Sign::none || counter.in_epoch);
    };
    const auto end = out_.items.begin() + static_cast<std::ptrdiff_t>(out_.size);
    if (std::none_of(out_.items.begin(), end, counts)) {
      out_.epoch.reset();
      return;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < out_.size; ++i) {
      if (out_.items[i].unit == Unit::epoch) {
        if (out_.bar == i) out_.bar.reset();
        continue;
      }
      if (out_.bar == i) out_.bar = kept;
      out_.items[kept++] = out_.items[i];
    }
    out_.size = kept;
  }

  std::string_view line_;
  Counters& out_;
  std::size_t percent_;  ///< where tqdm's bar begins; npos if there is none
  std::optional<std::size_t> epoch_end_, last_end_, pair_end_;
  std::size_t last_begin_ = 0, pair_at_ = 0;
};

}  // namespace

void find_counters(std::string_view line, Counters& out) {
  out.size = 0;
  out.epoch.reset();
  out.epoch_total = 0;
  out.bar.reset();
  out.bar_kind = BarKind::training;
  Finder(line, out).run();
}

std::optional<Epoch> find_epoch(std::string_view line) {
  constexpr std::string_view kTail = "poch";
  for (auto at = line.find(kTail); at != line.npos; at = line.find(kTail, at + 1)) {
    const bool begins = at >= 1 && (line[at - 1] == 'e' || line[at - 1] == 'E') &&
                        (at == 1 || !is_name_letter(line[at - 2]));
    std::string_view rest = line.substr(at + kTail.size());
    constexpr std::string_view kNumber = "_num";
    if (rest.starts_with(kNumber)) rest.remove_prefix(kNumber.size());
    if (!begins || rest.empty() || is_name_letter(rest.front())) continue;
    if (rest.front() == '(') {  // "Epoch(train) [2]"
      const std::size_t end = letters_end(rest, 1);
      if (end > 1 && at_or_blank(rest, end) == ')') rest.remove_prefix(end + 1);
    }
    const auto digits = rest.find_first_not_of(" \t:=[(#'\"");
    if (digits == rest.npos) continue;
    rest.remove_prefix(digits);
    std::int64_t epoch = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), epoch);
    const bool whole = end == rest.data() + rest.size() || *end != '.';
    if (code != std::errc{} || !whole || epoch < 0) continue;
    Whole counted{epoch, 0, 0, static_cast<std::size_t>(end - rest.data())};
    read_total(rest, counted);
    return Epoch{epoch, counted.total};
  }
  return std::nullopt;
}

std::optional<std::int64_t> epoch_in(std::string_view line) {
  const auto epoch = find_epoch(line);
  return epoch ? std::optional(epoch->number) : std::nullopt;
}

Company company_of(std::string_view line) {
  Company company;
  each_word(line, [&](std::string_view word) {
    const auto says = meaning_of(word);
    if (says == evaluation && !company.measured) company.evaluation = true;
    company.measured |= says == measure;
    company.preparation |= says == preparation;
    company.training |= says == training;
    return true;
  });
  company.evaluation &= !company.training;
  return company;
}

}  // namespace l4::segment
