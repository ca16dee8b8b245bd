#include "agent/decode/progress_bar.h"

#include <algorithm>

#include "agent/text/scan.h"

namespace l4::decode {
namespace {

constexpr std::size_t kDescriptionBytes = 120;
constexpr std::size_t kTailBytes = 96;
constexpr std::size_t kNowhere = std::string_view::npos;

/// `00:05`, `1:02:03`, `?`; on failure the cursor stands behind the digits that are there.
bool parse_clock(text::Cursor& c) {
  if (c.accept('?')) return true;
  std::int64_t number = 0;
  for (int part = 0; part < 3; ++part) {
    if (part > 0 && !c.accept(':')) return part == 2;
    const std::size_t from = c.at;
    while (text::is_digit(c.peek())) ++c.at;
    text::Cursor digits{c.text, from};
    if (!digits.parse_number(part == 0 ? 1 : 2, part == 0 ? 6 : 2, number) || digits.at != c.at)
      return false;
  }
  return true;
}

/// ` 977/1013 [`, ` 1/384(max) [`: counts, with the cursor behind the bracket. False where they end
/// early; the cursor then stands at the first character that is none of theirs.
bool parse_counts(text::Cursor& c, Bar& bar) {
  c.skip_blanks();
  std::int64_t done = 0, total = 0;
  if (!c.parse_number(1, 15, done) || !c.accept('/') || !c.parse_number(1, 15, total)) return false;
  if (c.accept('(')) {
    while (text::is_alpha(c.peek())) ++c.at;
    if (!c.accept(')')) return false;
  }
  c.skip_blanks();
  if (!c.accept('[')) return false;
  bar.done = done;
  bar.total = total;
  return true;
}

/// `00:32<00:59,  1.00s/it]` with the cursor behind the bracket that opens it; like parse_counts().
/// What stands in the bracket besides the times is free.
bool parse_times(text::Cursor& c) {
  const std::size_t from = c.at;
  const bool timed = parse_clock(c) && (!c.accept('<') || parse_clock(c));
  const bool cut = !timed && c.at > from && text::is_alpha(c.peek());
  const std::size_t end = c.text.find(']', c.at);
  if (cut || (timed && text::is_alpha(c.peek()))) return false;
  if (end == kNowhere) {
    while (!c.done() && std::string_view(", 0123456789.?").find(c.peek()) != kNowhere) ++c.at;
    return false;
  }
  c.at = end + 1;
  return true;
}

/// True if a word stands in what should be the filling of a bar.
bool holds_word(std::string_view filling) {
  std::size_t letters = 0;
  for (const char c : filling) {
    letters = text::is_alpha(c) ? letters + 1 : 0;
    if (letters == 3) return true;
  }
  return false;
}

/// Length of the signs at the front that fill bars: blocks, blanks, `#` and the digit of its end.
std::size_t filling_length(std::string_view text) {
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool edge = text::is_digit(text[i]) && i > 0 && text[i - 1] == '#' &&
                      (i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '|');
    if (byte < 0x80 && text[i] != ' ' && text[i] != '#' && !edge) break;
  }
  return i;
}

/// Removes the rest of a bar that was printed around the text, ` | 31/90 [00:32<00:59, 1.00s/it]`.
std::string_view without_rest(std::string_view text) {
  text = text::trim(text);
  if (text.empty() || text.back() != ']') return text;
  const std::size_t near = text.size() - std::min(text.size(), kTailBytes);
  const std::size_t less = text.rfind('<');
  if (less == kNowhere || less < near) return text;
  text::Cursor c{text, less + 1};
  if (!parse_clock(c) || c.peek() != ',') return text;
  constexpr std::string_view kCounts = "0123456789:/[| ";
  const std::size_t last = text.substr(0, less).find_last_not_of(kCounts);
  if (last == kNowhere) return {};
  // Blanks and numbers of the text itself stay, unless signs of the bar stand between.
  const std::string_view rest = text.substr(last + 1, less - last - 1);
  const std::size_t sign = rest.find_first_of("|[:");
  if (sign == kNowhere) return text::trim_right(text.substr(0, less));
  std::size_t begin = rest.substr(0, sign).find_last_not_of("0123456789/") + 1;
  if (rest[sign] == '[' && begin > 0) begin = rest.substr(0, begin).find_last_not_of(' ') + 1;
  return text::trim_right(text.substr(0, last + 1 + begin));
}

/// A bar whose percentage ends at `sign`.
std::optional<Bar> bar_at(std::string_view line, std::size_t sign) {
  constexpr std::size_t kFillingMin = 4;  // fewer signs are no bar that something was printed into
  Bar bar;
  bar.begin = sign;
  while (bar.begin > 0 && sign - bar.begin < 3 && text::is_digit(line[bar.begin - 1])) --bar.begin;
  text::Cursor c{line, bar.begin};
  int percent = 0;
  if (!c.parse_number(1, 3, percent) || percent > 100) return std::nullopt;
  bar.percent = percent;
  c.at = sign + 1;
  if (c.peek() == ' ') {
    if (!parse_counts(c, bar)) return std::nullopt;
  } else {
    const std::size_t from = ++c.at;
    const std::size_t filled = from + filling_length(line.substr(from));
    const auto broken = [&](std::size_t at) -> std::optional<Bar> {
      if (filled - from < kFillingMin || !is_description(line.substr(0, bar.begin)))
        return std::nullopt;
      bar.broken = true;
      bar.behind = without_rest(line.substr(at));
      return bar;
    };
    const std::size_t close = line.find('|', from);
    if (close == kNowhere) return broken(filled);
    c.at = close + 1;
    if (close != filled && holds_word(line.substr(from, close - from))) return broken(filled);
    if (!parse_counts(c, bar)) return broken(close == filled ? c.at : filled);
  }
  if (parse_times(c)) {
    bar.behind = text::trim(line.substr(c.at));
  } else {
    bar.broken = true;
    bar.behind = without_rest(line.substr(c.at));
  }
  return bar;
}

/// `Sanity Checking: 12it [00:00, ?it/s]`.
std::optional<Bar> bar_without_total(std::string_view line) {
  std::size_t open = line.substr(0, kDescriptionBytes).find(" [");
  if (open == kNowhere) return std::nullopt;
  std::size_t unit = open;
  while (unit > 0 && text::is_alpha(line[unit - 1])) --unit;
  std::size_t begin = unit;
  while (begin > 0 && text::is_digit(line[begin - 1])) --begin;
  if (begin == unit || unit == open) return std::nullopt;
  text::Cursor c{line, begin};
  Bar bar;
  bar.begin = begin;
  std::int64_t done = 0;
  if (!c.parse_number(1, 15, done)) return std::nullopt;
  bar.done = done;
  c.at = open + 2;
  if (!parse_times(c)) return std::nullopt;
  bar.behind = text::trim(line.substr(c.at));
  return bar;
}

/// Where the drawing begins whose bracket opens at `open`: "|####----| 25.98% [".
std::size_t begin_of_drawing(std::string_view line, std::size_t open) {
  const std::size_t last = line.substr(0, open).find_last_not_of(" 0123456789.%");
  if (last == kNowhere || line[last] != '|') return open;
  const std::size_t first = line.substr(0, last).rfind('|');
  return first == kNowhere ? open : first;
}

/// fastprogress and notebooks: `|###---| 25.98% [318/1224 02:00<05:44 0.8313]`, `[ 96/1230 14:22 <
/// 2:52:41, 0.11 it/s, Epoch 0.08/1]`.
std::optional<Bar> bar_in_brackets(std::string_view line) {
  constexpr std::size_t kDrawingBytes = 512;
  const std::size_t less = line.substr(0, kDrawingBytes).find('<');
  if (less == kNowhere || less == 0) return std::nullopt;
  const std::size_t open = line.substr(0, less).rfind('[');
  if (open == kNowhere) return std::nullopt;
  text::Cursor c{line, open + 1};
  std::int64_t done = 0, total = 0;
  c.skip_blanks();
  if (!c.parse_number(1, 15, done) || !c.accept('/') || !c.parse_number(1, 15, total) ||
      !text::is_blank(c.peek()))
    return std::nullopt;
  c.skip_blanks();
  if (!parse_clock(c)) return std::nullopt;
  c.skip_blanks();
  if (c.at != less) return std::nullopt;
  ++c.at;
  c.skip_blanks();
  if (!parse_clock(c)) return std::nullopt;
  const std::size_t close = line.find(']', c.at);
  if (close == kNowhere) return std::nullopt;
  Bar bar;
  bar.done = done;
  bar.total = total;
  bar.begin = begin_of_drawing(line, open);
  bar.behind = text::trim(line.substr(close + 1));
  return bar;
}

/// The letters of a text from `at` on, one after another.
struct Letters {
  std::string_view text;
  std::size_t at = 0;

  char next() {
    while (at < text.size() && !text::is_alpha(text[at])) ++at;
    return at < text.size() ? text[at++] : '\0';
  }
};

bool begin_alike(std::string_view one, std::string_view other) {
  constexpr int kLetters = 8;
  Letters a{one}, b{other};
  for (int i = 0; i < kLetters; ++i) {
    const char c = a.next();
    if (c != b.next()) return false;
    if (c == '\0') return true;
  }
  return true;
}

bool holds_letters(std::string_view text, int count) {
  Letters letters{text};
  while (count > 0 && letters.next() != '\0') --count;
  return count == 0;
}

}  // namespace

std::optional<Bar> find_bar(std::string_view line) {
  for (std::size_t at = 0;;) {
    const std::size_t sign = line.substr(0, kDescriptionBytes + 1).find('%', at);
    if (sign == kNowhere) break;
    if (sign > 0 && text::is_digit(line[sign - 1]) && sign + 1 < line.size() &&
        (line[sign + 1] == '|' || line[sign + 1] == ' '))
      if (const auto bar = bar_at(line, sign)) return bar;
    at = sign + 1;
  }
  const auto open = bar_without_total(line);
  return open ? open : bar_in_brackets(line);
}

bool is_description(std::string_view front) {
  front = text::trim(front);
  return front.empty() || front.back() == ':' || front.back() == ']' || front.back() == ')';
}

bool are_of_two_loops(const Bar& one, std::string_view front, const Bar& other,
                      std::string_view other_front) {
  return one.done && other.done && one.total != other.total && is_description(front) &&
         is_description(other_front) && !begin_alike(front, other_front);
}

bool redraws(std::string_view newer, std::string_view older) {
  // Nearly always: a bar that has moved on.
  constexpr std::size_t kMovedBytes = 16;
  const std::size_t sign = older.find('%');
  const auto name_begins = [](std::string_view bar) {
    constexpr std::size_t kName = 4;
    return !bar.empty() && text::is_alpha(bar[0]) ? bar.substr(0, kName) : std::string_view();
  };
  const bool begins = name_begins(newer) == name_begins(older);
  if (begins && sign != kNowhere && sign + 1 < newer.size() && newer[sign] == '%' &&
      newer[sign + 1] == '|' && older.back() == ']' && newer.size() + kMovedBytes > older.size())
    return true;
  older = text::trim_right(older);
  const auto bar = find_bar(older);
  const auto next = bar ? find_bar(newer) : std::nullopt;
  // An evaluation draws its bar over that of the training, which it tells nothing about.
  if (next &&
      are_of_two_loops(*next, newer.substr(0, next->begin), *bar, older.substr(0, bar->begin)))
    return false;
  constexpr int kWord = 4;
  if (older.ends_with("/s]") || older.ends_with("/it]") || !holds_letters(older, kWord))
    return true;
  if (bar)
    return !holds_letters(bar->behind, kWord) || (next && begin_alike(next->behind, bar->behind));
  return begin_alike(newer, older);
}

BarLine read_bar_line(std::string_view line, std::string_view before) {
  constexpr std::size_t kTextBytes = 2;  // less is the rest of a drawing
  BarLine found;
  found.text = line;
  const auto note = [&found](const Bar& bar) {
    found.done = bar.done;
    found.total = bar.total;
  };
  const auto older = before.empty() ? std::nullopt : find_bar(before);
  auto bar = find_bar(line);
  if (!bar) {  // it was overwritten
    if (older) note(*older);
    if (older && older->done) found.bar = before;
    return found;
  }
  while (bar->behind.size() >= kTextBytes) {
    const auto next = find_bar(bar->behind);
    if (!next) break;
    const std::string_view description = bar->behind.substr(0, next->begin);
    // A bar of another loop is a line of its own: that of the training may stand before it.
    if (!is_description(description) ||
        are_of_two_loops(*next, description, *bar, found.text.substr(0, bar->begin))) {
      found.text_between = true;
      break;
    }
    found.text = bar->behind;
    bar = next;
    ++found.redrawn;
  }
  note(*bar);
  const bool cut = !bar->done && bar->percent && older && older->total;
  if (cut) {
    // Where the percentage stands for several counts, the bar had come at least as far before.
    found.done = count_of_percent(*bar->percent, *older->total);
    if (!found.done && older->percent && *bar->percent >= *older->percent) found.done = older->done;
    found.total = older->total;
  }
  if (bar->behind.size() < kTextBytes) {
    if (cut && older->done) found.text = before;  // the same bar, as it was drawn last
    return found;
  }
  const auto drawn = static_cast<std::size_t>(bar->behind.data() - found.text.data());
  found.bar = cut ? before : found.text.substr(0, drawn);
  found.text = bar->behind;
  found.behind = true;
  return found;
}

std::optional<Millis> clock_of_bar(std::string_view bar) {
  const std::size_t less = bar.rfind('<');
  if (less == kNowhere) return std::nullopt;
  const std::size_t end = bar.substr(0, less).find_last_not_of(' ') + 1;
  const std::size_t before = bar.substr(0, end).find_last_not_of("0123456789:");
  if (before == kNowhere || (bar[before] != '[' && bar[before] != ' ')) return std::nullopt;
  std::int64_t seconds = 0;
  text::Cursor c{bar, before + 1};
  for (int part = 0; part < 3; ++part) {
    std::int64_t number = 0;
    if (!c.parse_number(part == 0 ? 1 : 2, part == 0 ? 6 : 2, number)) return std::nullopt;
    seconds = seconds * 60 + number;
    if (c.at == end) return Millis{seconds * 1000};
    if (!c.accept(':')) return std::nullopt;
  }
  return std::nullopt;
}

Millis time_drawn(std::string_view first, std::string_view last) {
  const auto begin = clock_of_bar(first), end = clock_of_bar(last);
  return begin && end ? std::max(Millis{0}, *end - *begin) : Millis{0};
}

std::optional<std::int64_t> count_of_percent(int percent, std::int64_t total) {
  constexpr std::int64_t kTotalMax = 1'000'000;
  if (total <= 0 || total > kTotalMax) return std::nullopt;
  const auto printed = [&](std::int64_t count) { return (count * 200 + total) / (2 * total); };
  const std::int64_t near = percent * total / 100;
  std::optional<std::int64_t> found;
  for (std::int64_t count = std::max<std::int64_t>(near - 1, 0); count <= near + 2; ++count) {
    if (printed(count) != percent) continue;
    if (found) return std::nullopt;
    found = count;
  }
  return found;
}

}  // namespace l4::decode
