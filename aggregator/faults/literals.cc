#include "aggregator/faults/literals.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/ascii.h"

namespace l4::faults {
namespace {

constexpr std::size_t kTextsMax = 64;  ///< a larger group excludes too little
constexpr std::size_t kDepthMax = 64;  ///< nesting of brackets

std::size_t shortest(const std::vector<std::string>& group) {
  return std::ranges::min(group, {}, &std::string::size).size();
}

/// Parses a regexp from the left. Unknown syntax ends the parsing, and then no text is required.
class RegexpParser {
 public:
  explicit RegexpParser(std::string_view regexp) : rest_(regexp) {}

  Literals parse() {
    Literals all = alternatives();
    if (unsure_ || !rest_.empty()) all.groups.clear();
    return all;
  }

 private:
  /// One thing that a repetition sign may follow.
  struct Atom {
    std::string text;    ///< the text that it matches; empty if it may match several
    bool empty = false;  ///< matches a place between characters
  };

  bool consume(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  char consume_any() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  /// Skips everything up to and including the next `c`.
  void skip_to(char c) {
    const auto at = rest_.find(c);
    rest_.remove_prefix(at == rest_.npos ? rest_.size() : at + 1);
  }

  /// The group that a|b|c require together: the texts of the best group of each alternative; empty
  /// if an alternative has none.
  Literals alternatives() {
    Literals all = sequence();
    if (!rest_.starts_with('|')) return all;
    const auto best = [](Literals& one) {
      return one.groups.empty()
                 ? std::vector<std::string>()
                 : std::ranges::max(one.groups, {}, [](const auto& g) { return shortest(g); });
    };
    std::vector<std::string> texts = best(all);
    bool each = !texts.empty();
    while (consume('|')) {
      Literals other = sequence();
      std::vector<std::string> more = best(other);
      each = each && !more.empty();
      std::ranges::move(more, std::back_inserter(texts));
      all.characters = std::min(all.characters, other.characters);
    }
    all.groups.clear();
    if (each && texts.size() <= kTextsMax) all.groups.push_back(std::move(texts));
    return all;
  }

  Literals sequence() {
    Literals all;
    std::string run;
    const auto cut = [&] {
      if (!run.empty()) all.groups.push_back({std::exchange(run, {})});
    };
    while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')' && !unsure_) {
      if (consume('(')) {
        cut();
        Literals inner = group();
        if (times().least == 0) continue;
        all.characters += inner.characters;
        std::ranges::move(inner.groups, std::back_inserter(all.groups));
        continue;
      }
      const Atom one = atom();
      const Times repeated = times();
      if (one.empty) continue;
      if (repeated.least == 0 || one.text.empty()) {
        cut();
        continue;
      }
      all.characters += 1;
      if (one.text != " " || !run.ends_with(' ')) run += one.text;
      if (repeated.given && one.text != " ") cut();
    }
    cut();
    return all;
  }

  /// Parses a group, behind its opening bracket.
  Literals group() {
    if (consume('?')) flags();
    Literals inner;
    if (++depth_ > kDepthMax) unsure_ = true;
    if (!unsure_) inner = alternatives();
    --depth_;
    if (!consume(')')) unsure_ = true;
    return inner;
  }

  /// Skips `:`, `i:`, `P<name>`, or the `i` of `i)`.
  void flags() {
    if (rest_.starts_with("P<")) return skip_to('>');
    while (!rest_.empty() && rest_.front() != ')') {
      const char c = consume_any();
      if (c == ':') return;
      folded_ = folded_ || c == 'i';
    }
  }

  struct Times {
    bool given = false;
    int least = 1;
  };
  /// The repetition signs that follow.
  Times times() {
    Times all;
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '{' && !is_counted()) break;
      if (c != '*' && c != '+' && c != '?' && c != '{') break;
      if (c == '*' || c == '?' || rest_.starts_with("{0")) all.least = 0;
      all.given = true;
      if (c == '{')
        skip_to('}');
      else
        rest_.remove_prefix(1);
      consume('?');
    }
    return all;
  }
  /// True for {2}, {2,} and {2,5}; any other brace is a literal.
  bool is_counted() const {
    const auto close = rest_.find('}');
    if (close == rest_.npos || close < 2 || !is_digit(rest_[1])) return false;
    const auto inner = rest_.substr(1, close - 1);
    return std::ranges::all_of(inner, [](char c) { return is_digit(c) || c == ','; }) &&
           std::ranges::count(inner, ',') <= 1;
  }

  Atom atom() {
    const char c = consume_any();
    if (c == '.') return {};
    if (c == '^' || c == '$') return {.text = {}, .empty = true};
    if (c == '[') return {.text = bracket_class(), .empty = false};
    if (c == '\\') return escape();
    std::string text(1, lower(c));
    if ((static_cast<unsigned char>(c) & 0x80) != 0) {  // a whole code point
      while (!rest_.empty() && (static_cast<unsigned char>(rest_.front()) & 0xC0) == 0x80)
        text += consume_any();
      if (folded_) text.clear();  // upper and lower case have other bytes
    }
    return {.text = std::move(text), .empty = false};
  }

  Atom escape() {
    if (rest_.empty()) return {};
    const char c = consume_any();
    if (!is_letter(c) && !is_digit(c)) return {.text = std::string(1, c), .empty = false};
    switch (c) {
      case 'b':
      case 'B':
      case 'A':
      case 'z':
        return {.text = {}, .empty = true};
      case 'p':
      case 'P':
      case 'x':
        if (rest_.starts_with('{'))
          skip_to('}');
        else
          rest_.remove_prefix(std::min<std::size_t>(rest_.size(), c == 'x' ? 2 : 1));
        return {};
      case 'Q':
        unsure_ = true;
        return {};
      default:
        unsure_ = unsure_ || is_digit(c);
        return {};
    }
  }

  /// `t` for `[Tt]`; empty for a class of several characters.
  std::string bracket_class() {
    const bool negated = consume('^');
    std::string members;
    bool single = !negated;
    for (bool first = true; !rest_.empty(); first = false) {
      const char c = consume_any();
      if (c == ']' && !first) break;
      if (c == '[' && rest_.starts_with(':')) {
        skip_to(']');
        single = false;
      } else if (c == '\\' && !rest_.empty()) {
        const char escaped = consume_any();
        members += escaped;
        single = single && !is_letter(escaped) && !is_digit(escaped);
      } else {
        members += lower(c);
        single = single && (c != '-' || first || rest_.starts_with(']'));
      }
    }
    const auto same = [&](char c) { return c == members.front(); };
    const bool ascii = !members.empty() && (static_cast<unsigned char>(members[0]) & 0x80) == 0;
    return single && ascii && std::ranges::all_of(members, same) ? members.substr(0, 1) : "";
  }

  std::string_view rest_;
  std::size_t depth_ = 0;
  bool folded_ = false;  ///< (?i) was seen
  bool unsure_ = false;
};

}  // namespace

std::string plain_form(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (const char c : text)
    if (c != ' ' || !plain.ends_with(' ')) plain += lower(c);
  return plain;
}

std::size_t Literals::longest() const {
  std::size_t longest = 0;
  for (const auto& group : groups) longest = std::max(longest, shortest(group));
  return longest;
}

Literals literals_of(std::string_view regexp) {
  return RegexpParser(regexp).parse();
}

}  // namespace l4::faults
