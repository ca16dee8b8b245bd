#include "agent/stamps/framed.h"

#include <algorithm>
#include <optional>

#include "agent/stamps/announced.h"
#include "agent/text/level.h"
#include "agent/text/scan.h"

namespace l4::stamps {
namespace {

constexpr std::size_t kFrameMax = 56, kWordsMax = 5, kTagMax = 8;
constexpr std::size_t kWordMax = 12;   // of a level, a tag or a word that announces a time
constexpr std::size_t kStampMax = 40;  // from its begin to its minutes

constexpr text::CharacterSet kSigns = text::characters("[](){}<>|=-*#~:;,.\"' \t");

bool is_sign(char c) {
  return kSigns[static_cast<unsigned char>(c)];
}

/// True if a time of day may stand in the text.
bool may_hold_clock(std::string_view text) {
  for (std::size_t at = text.find(':', 1); at != text.npos; at = text.find(':', at + 1))
    if (at + 1 < text.size() && text::is_digit(text[at - 1]) && text::is_digit(text[at + 1]))
      return true;
  return false;
}

/// Where no time of day stands in a text, a date or a number of seconds begins with so many digits.
constexpr std::size_t kDigitsMin = 4;

bool begins_with_digits(std::string_view text) {
  return text.size() >= kDigitsMin &&
         std::ranges::all_of(text.substr(0, kDigitsMin), text::is_digit);
}

/// "rank3" in front of a stamp, without brackets.
bool is_rank(std::string_view word) {
  constexpr std::string_view kRank = "rank";
  return word.starts_with(kRank) && word.size() > kRank.size() &&
         std::ranges::all_of(word.substr(kRank.size()), text::is_digit);
}

/// What was read of the frame.
struct Frame {
  int depth = 0;  ///< of brackets
  std::size_t words = 0;
  Level level = Level::unknown;
  bool braced = false;     ///< a brace stands in it
  bool announces = false;  ///< a level or an announcing word stands in it

  void sign(char c) {
    braced |= c == '{';
    if (c == '[' || c == '(' || c == '<' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '>' || c == '}') depth = std::max(depth - 1, 0);
  }
  /// False if the word belongs to a text.
  bool word(std::string_view word) {
    if (++words > kWordsMax) return false;
    Level of_word = text::level_of_word(word);
    if (of_word == Level::unknown) of_word = text::level_of_spelled_word(word);
    if (of_word != Level::unknown) level = of_word;
    const bool announced = announcing(word) != Announcing::none;
    announces |= announced || of_word != Level::unknown;
    if (announced || of_word != Level::unknown) return true;
    // An object's keys are no labels.
    if (braced) return depth > 0 && std::ranges::none_of(word, text::is_digit);
    if (depth > 0 || is_rank(word)) return true;
    return word.size() <= kTagMax && std::ranges::all_of(word, text::is_upper);
  }
};

}  // namespace

bool framed(std::string_view line, RawStamp& stamp) {
  Frame frame;
  const std::size_t most = std::min(line.size(), kFrameMax);
  std::optional<bool> clock;
  for (std::size_t at = 0; at < most;) {
    const char c = line[at];
    if (is_sign(c)) {
      frame.sign(c);
      ++at;
      continue;
    }
    // Digits may be seconds of the epoch; behind the name of a day or month stands a clock.
    bool may_be_day = at > 0 && (text::is_digit(c) || text::is_upper(c));
    if (may_be_day && !begins_with_digits(line.substr(at))) {
      if (!clock) clock = may_hold_clock(line.substr(0, kFrameMax + kStampMax));
      may_be_day = *clock;
    }
    if (may_be_day && scan_dated(line.substr(at), frame.announces, stamp)) {
      stamp.cut_from += at;
      stamp.cut_to += at;
      // The sign that parts the stamp from the frame goes with it: `[INFO|time]` leaves `[INFO]`.
      const char before = line[stamp.cut_from - 1];
      if (stamp.cut_from > 1 && (before == '|' || before == ',')) --stamp.cut_from;
      // Brackets that hold nothing else go with it, too.
      if (before == '[' && stamp.cut_to < line.size() && line[stamp.cut_to] == ']') {
        --stamp.cut_from;
        ++stamp.cut_to;
      }
      // glog's `Aborted at N (unix time)` is no text without its number.
      if (line.substr(stamp.cut_to).starts_with("(unix")) stamp.cut_from = stamp.cut_to = 0;
      if (stamp.level == Level::unknown) stamp.level = frame.level;
      return true;
    }
    const std::size_t from = at;
    const std::size_t end = std::min(line.size(), from + (frame.depth > 0 ? most : kWordMax) + 1);
    while (at < end && !is_sign(line[at])) ++at;
    if (frame.depth == 0 && at - from > kWordMax) return false;
    if (!frame.word(line.substr(from, at - from))) return false;
  }
  return false;
}

bool condor(std::string_view line, RawStamp& stamp) {
  constexpr std::size_t kJobAt = 5, kCode = 3;
  const std::size_t close = line.substr(0, kFrameMax).find(") ");
  if (close == line.npos || close <= kJobAt || line[kCode] != ' ' || line[kCode + 1] != '(' ||
      line[0] != '0' || !std::ranges::all_of(line.substr(0, kCode), text::is_digit) ||
      line.substr(kJobAt, close - kJobAt).find_first_not_of("0123456789.") != line.npos)
    return false;
  const std::size_t at = close + 2;
  if (!scan_dated(line.substr(at), true, stamp)) return false;
  stamp.cut_from += at;
  stamp.cut_to += at;
  return true;
}

}  // namespace l4::stamps
