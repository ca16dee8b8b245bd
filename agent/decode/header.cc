#include "agent/decode/header.h"

#include <algorithm>
#include <array>

#include "agent/text/level.h"
#include "agent/text/scan.h"
#include "common/base/find_bytes.h"

namespace l4::decode {
namespace {

constexpr std::size_t kHeaderBytes = 160;
constexpr int kBareWordsMax = 4;
constexpr std::string_view kAscendGroup = "(PID:";  // `(PID:4711, Device:1, RankID:3)`

/// True if `rank`, `Rank` or `RANK` stands at `at`, as a whole word (not `local_rank`, `nranks`).
bool rank_word(std::string_view text, std::size_t at) {
  if (at + 4 > text.size() || (at > 0 && (text::is_word(text[at - 1]) || text[at - 1] == '-')))
    return false;
  const std::string_view word = text.substr(at, 4);
  return word == "rank" || word == "Rank" || word == "RANK";
}

std::optional<Rank> rank_number(std::string_view text, std::size_t at) {
  text::Cursor c{text, at};
  std::int64_t value = 0;
  if (!c.parse_number(1, 6, value) || text::is_word(c.peek()) || c.peek() == '.' || c.peek() == '/')
    return std::nullopt;
  return Rank{static_cast<std::int32_t>(value)};
}

/// The number behind the word: `=4`, ` 4`, `4`, `: 4`.
std::optional<Rank> rank_value(std::string_view text, std::size_t at) {
  text::Cursor c{text, at};
  if (c.accept('=') || c.accept(':'))
    c.skip_blanks();
  else if (!text::is_digit(c.peek()) && !c.accept(' '))
    return std::nullopt;
  return rank_number(text, c.at);
}

/// The rank inside a bracket group. The rank of `[PG ID 3 .. Rank 2]` counts within that process
/// group, unless the group is the default one.
std::optional<Rank> rank_in_group(std::string_view group) {
  if (group.starts_with("PG ") && !text::contains(group, "default_pg")) return std::nullopt;
  if (group.starts_with("global_rank=")) return rank_number(group, 12);
  for (std::size_t at = 0; at + 4 < group.size(); ++at) {
    if ((group[at] | 0x20) != 'r' || !rank_word(group, at)) continue;
    const bool id = group.substr(at + 4).starts_with("ID:");  // Ascend's `RankID:3`
    if (const auto rank = rank_value(group, at + (id ? 6 : 4))) return rank;
  }
  return std::nullopt;
}

Level level_in_group(std::string_view group) {
  const Level whole = text::level_of_spelled_word(group);
  if (whole != Level::unknown) return whole;
  std::size_t at = 0;
  while (at < group.size()) {
    while (at < group.size() && !text::is_alpha(group[at])) ++at;
    const std::size_t from = at;
    while (at < group.size() && text::is_word(group[at])) ++at;
    const Level level = text::level_of_word(group.substr(from, at - from));
    if (level != Level::unknown) return level;
    if (at == from) ++at;
  }
  return Level::unknown;
}

/// `[W socket.cpp:436]` (c10 without a stamp), `[E 88 91]` (Ray), `[E]` (TensorRT).
Level letter_in_group(std::string_view group) {
  if (group.empty() || (group.size() > 1 && group[1] != ' ')) return Level::unknown;
  const bool threads = group.find_first_not_of("0123456789 ", 1) == std::string_view::npos;
  if (!threads && !text::contains(group, ".c")) return Level::unknown;
  return text::level_of_letter(group[0]);
}

/// End of the separator behind a level that ends at `at`: `: `, ` - `, ` | `, or the rest of a
/// bracket group and `] `.
std::size_t behind_level(std::string_view text, std::size_t at) {
  text::Cursor c{text, at};
  if (c.accept(':') || c.accept(']')) {
    c.accept(' ');
    return c.at;
  }
  c.skip_blanks();
  if (c.accept("- ") || c.accept("| ")) return c.at;
  c.at = at;
  c.accept(' ');
  return c.at;
}

struct Walk {
  std::string_view text;
  bool stamped;
  Header header = {};
  int bare = 0;
  bool after_mark = false;  // a `-`, `|` or bracket stood before the word
  std::string_view previous = {};

  void group(std::string_view content) {
    if (header.level == Level::unknown) header.level = letter_in_group(content);
    if (header.level == Level::unknown) header.level = level_in_group(content);
    if (!header.rank) header.rank = rank_in_group(content);
    after_mark = true;
  }

  /// `rank9: text`, `Rank 10: text`.
  void rank_before_colon() {
    text::Cursor c{text, 4};
    c.accept(' ');
    std::int64_t value = 0;
    if (c.parse_number(1, 6, value) && c.accept(": "))
      header.rank = Rank{static_cast<std::int32_t>(value)};
  }

  /// `(WARN)`, `<Error>`: a word alone in brackets.
  bool level_in(std::size_t at, char close) {
    const std::size_t end = text.substr(0, at + 12).find(close, at);
    if (end == std::string_view::npos || header.level != Level::unknown) return false;
    header.level = text::level_of_spelled_word(text.substr(at + 1, end - at - 1));
    after_mark = header.level != Level::unknown;
    return after_mark;
  }

  /// The level of a token that begins at `at`.
  Level level_of_token(std::string_view token, std::size_t at) const {
    const std::string_view front = token.substr(0, token.find(':'));
    if (bare == 0 || after_mark || stamped || behind_library())
      if (const Level level = text::level_of_word(front); level != Level::unknown) return level;
    if (bare == 0 && front.size() < token.size())
      if (const Level level = text::level_of_spelled_word(front); level != Level::unknown)
        return level;
    // TensorFlow: `W tensorflow/core/x.cc:3] text`.
    if (bare == 0 && stamped && token.size() == 1) {
      const std::string_view rest = text.substr(std::min(at + 2, text.size()));
      if (text::contains(rest.substr(0, rest.find(' ')), ".cc:"))
        return text::level_of_letter(token[0]);
    }
    if (!front.starts_with("|CCL_")) return Level::unknown;
    return text::level_of_word(front.substr(5, front.find('|', 5) - 5));
  }

  /// True for the name of a library, which may stand before the level.
  bool behind_library() const {
    return previous == "NCCL" || previous == "UCX" || previous == "RCCL" || previous == "PMIX";
  }

  std::optional<Rank> rank_of_token(std::string_view token, std::size_t end) const {
    constexpr std::string_view kPhrase = " rank: ";
    const std::size_t value = bare > 2                            ? 0
                              : token.starts_with("rank=")        ? 5
                              : token.starts_with("global_rank=") ? 12
                                                                  : 0;
    if (value > 0)
      if (const auto rank = rank_number(token, value)) return rank;
    if (token.back() == 's' && token.ends_with("Process") && text.substr(end).starts_with(kPhrase))
      return rank_number(text, end + kPhrase.size());
    return std::nullopt;
  }

  /// True if a token may be a level or begin with one; most tokens are ruled out here.
  bool may_be_level(std::string_view token) const {
    if (token.size() > 1 && text::is_upper(token[0]) && text::is_upper(token[1])) return true;
    return bare == 0 || token[0] == '|';
  }

  /// Returns the end of the word that begins at `at`.
  std::size_t word(std::size_t at) {
    const auto blank = [](auto byte) { return (byte == ' ') | (byte == '\t'); };
    const std::size_t end = find_kind(text, at, blank);
    const std::string_view token = text.substr(at, end - at);
    if (header.level == Level::unknown && may_be_level(token)) {
      header.level = level_of_token(token, at);
      if (header.level != Level::unknown)
        header.end = behind_level(text, at + std::min(token.find(':'), token.size()));
    }
    if (!header.rank) header.rank = rank_of_token(token, end);
    previous = token;
    after_mark = false;
    ++bare;
    return end;
  }

  /// Returns the position behind the group that `close` ends.
  std::size_t group(std::size_t at, std::size_t close) {
    const bool known = header.level != Level::unknown;
    group(text.substr(at + 1, close - at - 1));
    if (!known && header.level != Level::unknown) header.end = behind_level(text, close);
    return close + (close + 1 < text.size() && text[close + 1] == ':' ? 2 : 1);
  }

  /// A sign that stands apart: `-`, `|`, `::`.
  bool mark(std::size_t at) const {
    const char c = text[at];
    return (c == '-' || c == '|' || c == ':' || c == '>') &&
           (at + 1 == text.size() || text::is_blank(text[at + 1]) || text[at + 1] == c);
  }
};

}  // namespace

Header scan_header(std::string_view text, bool stamped) {
  text = text.substr(0, kHeaderBytes);
  Walk walk{text, stamped};
  if (!text.empty() && (text[0] | 0x20) == 'r' && rank_word(text, 0)) walk.rank_before_colon();
  std::size_t at = 0;
  while (at < text.size() && walk.bare < kBareWordsMax) {
    const char c = text[at];
    if (text::is_blank(c)) {
      ++at;
    } else if (text::is_alnum(c)) {
      at = walk.word(at);
    } else if (c == '[') {
      const std::size_t close = text.find(']', at);
      if (close == std::string_view::npos) break;
      at = walk.group(at, close);
    } else if ((c == '(' || c == '<') && walk.bare == 0 &&
               walk.level_in(at, c == '(' ? ')' : '>')) {
      at = text.find(c == '(' ? ')' : '>', at) + 1;
    } else if (c == '(' && (text.substr(at).starts_with(kAscendGroup) ||
                            (walk.bare == 0 && rank_word(text, at + 1)))) {
      const std::size_t close = text.find(')', at);
      if (close == std::string_view::npos) break;
      at = walk.group(at, close);
    } else if (walk.mark(at)) {
      walk.after_mark = true;
      ++at;
      // A row of equal signs.
      while (at + 1 < text.size() && text[at] == c && text[at + 1] == c) ++at;
    } else {
      at = walk.word(at);
    }
  }
  return walk.header;
}

}  // namespace l4::decode
