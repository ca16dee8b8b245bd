#include "agent/decode/header.h"

#include <algorithm>
#include <array>

#include "agent/decode/level.h"
#include "agent/decode/scan.h"

namespace l4::decode {
namespace {

constexpr std::size_t kHeaderBytes = 160;
constexpr int kBareWordsMax = 4;

/// `rank`, `Rank` or `RANK` at `at`, not as part of a longer word (`local_rank`, `nranks`).
bool rank_word(std::string_view text, std::size_t at) {
  if (at + 4 > text.size() || (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '-')))
    return false;
  const std::string_view word = text.substr(at, 4);
  return word == "rank" || word == "Rank" || word == "RANK";
}

std::optional<Rank> rank_number(std::string_view text, std::size_t at) {
  Cursor c{text, at};
  std::int64_t value = 0;
  if (!c.take_number(1, 6, value) || is_word(c.peek()) || c.peek() == '.' || c.peek() == '/')
    return std::nullopt;
  return Rank{static_cast<std::int32_t>(value)};
}

/// Behind the word: `=4`, ` 4`, `4`, `: 4`.
std::optional<Rank> rank_value(std::string_view text, std::size_t at) {
  Cursor c{text, at};
  if (c.take('=') || c.take(':'))
    c.skip_blanks();
  else if (!is_digit(c.peek()) && !c.take(' '))
    return std::nullopt;
  return rank_number(text, c.at);
}

/// Inside a bracket group. `[PG ID 3 .. Rank 2]` is a group's rank unless it is the default one.
std::optional<Rank> rank_in_group(std::string_view group) {
  if (group.starts_with("PG ") && !contains(group, "default_pg")) return std::nullopt;
  if (group.starts_with("global_rank=")) return rank_number(group, 12);
  for (std::size_t at = 0; at + 4 < group.size(); ++at) {
    if ((group[at] | 0x20) != 'r' || !rank_word(group, at)) continue;
    if (const auto rank = rank_value(group, at + 4)) return rank;
  }
  return std::nullopt;
}

Level level_in_group(std::string_view group) {
  const Level whole = level_of_spelled_word(group);
  if (whole != Level::unknown) return whole;
  std::size_t at = 0;
  while (at < group.size()) {
    while (at < group.size() && !is_alpha(group[at])) ++at;
    const std::size_t from = at;
    while (at < group.size() && is_word(group[at])) ++at;
    const Level level = level_of_word(group.substr(from, at - from));
    if (level != Level::unknown) return level;
    if (at == from) ++at;
  }
  return Level::unknown;
}

/// `[W socket.cpp:436]` (c10 without a stamp), `[E 88 91]` (Ray), `[E]` (TensorRT).
Level letter_in_group(std::string_view group) {
  if (group.empty() || (group.size() > 1 && group[1] != ' ')) return Level::unknown;
  const bool threads = group.find_first_not_of("0123456789 ", 1) == std::string_view::npos;
  if (!threads && !contains(group, ".c")) return Level::unknown;
  return level_of_letter(group[0]);
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
    Cursor c{text, 4};
    c.take(' ');
    std::int64_t value = 0;
    if (c.take_number(1, 6, value) && c.take(": "))
      header.rank = Rank{static_cast<std::int32_t>(value)};
  }

  /// `(WARN)`, `<Error>`: the word alone.
  bool level_in(std::size_t at, char close) {
    const std::size_t end = text.substr(0, at + 12).find(close, at);
    if (end == std::string_view::npos || header.level != Level::unknown) return false;
    header.level = level_of_spelled_word(text.substr(at + 1, end - at - 1));
    after_mark = header.level != Level::unknown;
    return after_mark;
  }

  /// `at`: where the token begins.
  void word(std::string_view token, std::size_t at) {
    const std::size_t colon = token.find(':');
    const std::string_view front = token.substr(0, colon);
    const bool known =
        previous == "NCCL" || previous == "UCX" || previous == "RCCL" || previous == "PMIX";
    if (header.level == Level::unknown && (bare == 0 || after_mark || stamped || known))
      header.level = level_of_word(front);
    if (header.level == Level::unknown && colon != std::string_view::npos && bare == 0)
      header.level = level_of_spelled_word(front);
    // TensorFlow: `W tensorflow/core/x.cc:3] text`.
    if (header.level == Level::unknown && token.size() == 1 && bare == 0 && stamped &&
        contains(text.substr(0, at + 48), ".cc:"))
      header.level = level_of_letter(token[0]);
    if (header.level == Level::unknown && front.size() > 4 && front.starts_with("|CCL_"))
      header.level = level_of_word(front.substr(5, front.find('|', 5) - 5));
    if (!header.rank && bare <= 2) {
      if (token.starts_with("rank=")) header.rank = rank_number(token, 5);
      if (token.starts_with("global_rank=")) header.rank = rank_number(token, 12);
    }
    constexpr std::string_view kPhrase = " rank: ";
    const std::size_t end = at + token.size();
    if (!header.rank && token.ends_with("Process") && text.substr(end).starts_with(kPhrase))
      header.rank = rank_number(text, end + kPhrase.size());
    previous = token;
    after_mark = false;
    ++bare;
  }
};

/// Behind a level that ends at `at`: `: `, ` - `, ` | `, `] ` with what else is in the bracket.
std::size_t behind_level(std::string_view text, std::size_t at) {
  Cursor c{text, at};
  if (c.take(':') || c.take(']')) {
    c.take(' ');
    return c.at;
  }
  c.skip_blanks();
  if (c.take("- ") || c.take("| ")) return c.at;
  c.at = at;
  c.take(' ');
  return c.at;
}

}  // namespace

Header scan_header(std::string_view text, bool stamped) {
  text = text.substr(0, kHeaderBytes);
  Walk walk{text, stamped};
  if (!text.empty() && (text[0] | 0x20) == 'r' && rank_word(text, 0)) walk.rank_before_colon();
  std::size_t at = 0;
  while (at < text.size() && walk.bare < kBareWordsMax) {
    const char c = text[at];
    if (is_blank(c)) {
      ++at;
    } else if (c == '[') {
      const std::size_t close = text.find(']', at);
      if (close == std::string_view::npos) break;
      const bool known = walk.header.level != Level::unknown;
      walk.group(text.substr(at + 1, close - at - 1));
      at = close + 1;
      if (!known && walk.header.level != Level::unknown)
        walk.header.end = behind_level(text, close);
      if (at < text.size() && text[at] == ':') ++at;
    } else if ((c == '(' || c == '<') && walk.bare == 0 &&
               walk.level_in(at, c == '(' ? ')' : '>')) {
      at = text.find(c == '(' ? ')' : '>', at) + 1;
    } else if ((c == '-' || c == '|' || c == ':' || c == '>') &&
               (at + 1 == text.size() || is_blank(text[at + 1]) || text[at + 1] == c)) {
      walk.after_mark = true;
      ++at;
    } else {
      std::size_t end = at;
      while (end < text.size() && text[end] != ' ' && text[end] != '\t') ++end;
      const bool known = walk.header.level != Level::unknown;
      const std::string_view token = text.substr(at, end - at);
      walk.word(token, at);
      if (!known && walk.header.level != Level::unknown)
        walk.header.end = behind_level(text, at + std::min(token.find(':'), token.size()));
      at = end;
    }
  }
  return walk.header;
}

}  // namespace l4::decode
