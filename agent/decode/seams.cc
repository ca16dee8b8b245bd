#include "agent/decode/seams.h"

#include <algorithm>
#include <array>

#include "agent/decode/progress_bar.h"
#include "agent/text/scan.h"

namespace l4::decode {
namespace {

constexpr std::size_t kNoSeam = std::string_view::npos;
constexpr std::size_t kFrontMin = 2;  // bytes of the first writer's text
constexpr std::string_view kTraceback = "Traceback (most recent call last):";

/// True if `pattern` stands at `at`: `d` is a digit, `b` a digit or a blank, other signs
/// themselves.
bool reads(std::string_view text, std::size_t at, std::string_view pattern) {
  if (at + pattern.size() > text.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = text[at + i];
    const char wanted = pattern[i];
    const bool fits = wanted == 'd'   ? text::is_digit(c)
                      : wanted == 'b' ? text::is_digit(c) || c == ' '
                      : wanted == 'a' ? text::is_alpha(c)
                                      : c == wanted;
    if (!fits) return false;
  }
  return true;
}

/// What stands before the clock of a stamp, which begins with it.
struct DateForm {
  std::string_view pattern;
  std::string_view example;
};
constexpr std::array kDateForms{
    DateForm{"dddd-dd-dd ", "2024-11-26 22:07:06"}, DateForm{"dddd-dd-ddT", "2024-11-26T22:07:06"},
    DateForm{"dddd-dd-dd-", "2024-11-26-22:07:06"}, DateForm{"dddd/dd/dd ", "2024/11/26 22:07:06"},
    DateForm{"dd/dd/dddd ", "11/26/2024 22:07:06"}, DateForm{"aaa bd ", "Nov  6 22:07:06"},
    DateForm{"adddd ", "I1126 22:07:06"},           DateForm{"addd ", "[E602 22:07:06"},
};

/// Where the stamp begins whose clock begins at `clock`.
std::size_t stamp_begin(std::string_view text, std::size_t clock) {
  const char parting = text[clock - 1];
  for (const DateForm& form : kDateForms) {
    const std::size_t size = form.pattern.size();
    if (clock < size || form.pattern.back() != parting || !reads(text, clock - size, form.pattern))
      continue;
    const std::size_t begin = clock - size;
    const char first = text[begin];
    const bool letter = form.pattern.starts_with("ad");
    if (letter && std::string_view("IWEF").find(first) == kNoSeam) continue;
    if (form.pattern[1] == 'a' && !text::is_upper(first)) continue;
    return begin;
  }
  return kNoSeam;
}

/// The begin of the bracket group before `at`, `[INFO|a.py:3] ` or `[`, else `at`.
std::size_t behind_groups(std::string_view text, std::size_t at) {
  constexpr std::size_t kGroupBytes = 48;
  if (at > 0 && text[at - 1] == '[') return at - 1;
  const std::size_t end = at > 1 && text[at - 1] == ' ' ? at - 1 : at;
  if (end == 0 || text[end - 1] != ']') return at;
  const std::size_t open = text.rfind('[', end - 1);
  if (open == kNoSeam || end - open > kGroupBytes) return at;
  const std::string_view group = text.substr(open + 1, end - open - 2);
  return group.find_first_of(" []\"'") == kNoSeam && text::is_alpha(group.empty() ? ' ' : group[0])
             ? open
             : at;
}

/// `[rank3]:`, `[default7]:`, `[1,3]<stderr>:` end with the colon at `colon`: where the tag begins.
std::size_t tag_begin(std::string_view text, std::size_t colon) {
  constexpr std::size_t kRankTagBytes = 24;
  std::size_t end = colon;
  bool stream = false;
  for (const std::string_view name : {"<stderr>", "<stdout>"})
    if (text.substr(0, end).ends_with(name)) {
      end -= name.size();
      stream = true;
      break;
    }
  if (end == 0 || text[end - 1] != ']') return kNoSeam;
  const std::size_t open = text.rfind('[', end - 1);
  if (open == kNoSeam || end - open > kRankTagBytes) return kNoSeam;
  text::Cursor c{text.substr(0, end), open + 1};
  std::int64_t number = 0;
  if (stream) {
    const bool tag = c.parse_number(1, 7, number) && c.accept(',') && c.parse_number(1, 7, number);
    return tag && c.accept(']') ? open : kNoSeam;
  }
  if (!c.accept("rank") && !c.accept("default")) return kNoSeam;
  return c.parse_number(1, 6, number) && c.accept(']') ? open : kNoSeam;
}

/// `slurmstepd: error: `: where the name begins of the program that reports an error at `colon`.
std::size_t program_begin(std::string_view text, std::size_t colon) {
  constexpr std::array<std::string_view, 3> kWords{": error", ": fatal", ": Error"};
  if (text[colon - 1] != 'r' && text[colon - 1] != 'l') return kNoSeam;  // ends none of them
  const std::string_view front = text.substr(0, colon);
  const bool reports =
      std::ranges::any_of(kWords, [&](std::string_view word) { return front.ends_with(word); });
  if (!reports) return kNoSeam;
  const std::size_t end = colon - kWords[0].size();
  std::size_t begin = end;
  while (begin > 0 && (text::is_lower(text[begin - 1]) || text[begin - 1] == '_')) --begin;
  return end - begin >= 3 ? begin : kNoSeam;
}

/// True if the text holds more than a stamp and prefixes: a word of four letters.
bool holds_text(std::string_view front) {
  int letters = 0;
  for (const char c : front) {
    letters = text::is_alpha(c) ? letters + 1 : 0;
    if (letters == 4) return true;
  }
  return false;
}

/// True if text of another writer may begin at `at`: it stands directly behind a word, a number or
/// the end of a sentence, not behind a sign that joins.
bool is_attached(std::string_view text, std::size_t at) {
  static constexpr text::CharacterSet kEnds = text::letters_digits_and(".!?)}%");
  if (at < kFrontMin || at >= text.size()) return false;
  const auto before = static_cast<unsigned char>(text[at - 1]);
  return (kEnds[before] || before >= 0x80) && holds_text(text.substr(0, at));
}

/// The head of a traceback at the end of the text, behind other text.
std::size_t traceback_seam(std::string_view text) {
  if (!text.ends_with(kTraceback)) return kNoSeam;
  const std::size_t at = text.size() - kTraceback.size();
  return is_attached(text, at) ? at : kNoSeam;
}

/// Length of the terminal sequences (ESC [ .. letter) at the begin of the text.
std::size_t length_of_escapes(std::string_view text) {
  std::size_t length = 0;
  while (text.substr(length).starts_with("\x1b[")) {
    const std::size_t end = text.find_first_of("ABCDEFGHJKSTfhlmnsu", length + 2);
    if (end == kNoSeam) break;
    length = end + 1;
  }
  return length;
}

/// The bars of a line that stand behind text which is no description of theirs, those of another
/// loop than the one before, and the tags behind bars: the process that drew a bar prints none in
/// the middle of its line.
void bar_seams(std::string_view text, std::vector<std::size_t>& seams) {
  constexpr std::size_t kBarsMax = 256;
  std::size_t from = 0;
  std::string_view former_front;
  Bar former;
  for (std::size_t n = 0; n < kBarsMax; ++n) {
    const auto bar = find_bar(text.substr(from));
    if (!bar) return;
    if (bar->broken) {
      if (begins_with_tag(bar->behind))
        seams.push_back(static_cast<std::size_t>(bar->behind.data() - text.data()));
      return;
    }
    const std::string_view front = text::trim_right(text.substr(from, bar->begin));
    if (n > 0 && front.size() >= kFrontMin && !is_description(front))
      seams.push_back(from + bar->begin);
    else if (n > 0 && are_of_two_loops(*bar, front, former, former_front))
      seams.push_back(from);
    former = *bar;
    former_front = front;
    if (bar->behind.empty()) return;
    from = static_cast<std::size_t>(bar->behind.data() - text.data());
    if (begins_with_tag(bar->behind)) seams.push_back(from);
  }
}

}  // namespace

std::size_t seam_at(std::string_view text, std::size_t colon) {
  std::size_t at = kNoSeam;
  if (colon > 5 && text[colon - 3] == ':' && reads(text, colon - 5, "dd:dd:dd")) {
    at = stamp_begin(text, colon - 5);
    if (at != kNoSeam) at = behind_groups(text, at);
  } else if (colon > 0 && (text[colon - 1] == ']' || text[colon - 1] == '>')) {
    at = tag_begin(text, colon);
  } else if (colon + 1 < text.size() && text[colon + 1] == ' ') {
    at = program_begin(text, colon);
  }
  return at != kNoSeam && is_attached(text, at) ? at : kNoSeam;
}

bool begins_with_tag(std::string_view text) {
  text.remove_prefix(length_of_escapes(text));  // nested bars move the cursor up
  if (text.empty() || text.front() != '[') return false;
  const std::size_t colon = text.substr(0, kSeamColumn).find(':');
  return colon != kNoSeam && tag_begin(text, colon) == 0;
}

std::size_t report_seam(std::string_view text) {
  for (std::size_t colon = text.find(": ", kSeamColumn); colon != kNoSeam;
       colon = text.find(": ", colon + 1))
    if (const std::size_t at = program_begin(text, colon); at != kNoSeam && is_attached(text, at))
      return at;
  return kNoSeam;
}

void find_seams(std::string_view text, std::vector<std::size_t>& seams) {
  if (text.empty() || (text.front() == '{' && text.back() == '}')) return;
  for (std::size_t colon = text.find(':', kSeamColumn); colon != kNoSeam;
       colon = text.find(':', colon + 1))
    if (const std::size_t at = seam_at(text, colon); at != kNoSeam) seams.push_back(at);
  if (const std::size_t at = traceback_seam(text); at != kNoSeam) seams.push_back(at);
  if (text.find('%') != kNoSeam) bar_seams(text, seams);
  std::ranges::sort(seams);
  std::size_t kept = 0;
  for (const std::size_t seam : seams)
    if (kept == 0 || seam >= seams[kept - 1] + kFrontMin) seams[kept++] = seam;
  seams.resize(kept);
}

}  // namespace l4::decode
