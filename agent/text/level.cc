#include "agent/text/level.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "agent/text/rows_by_first.h"
#include "agent/text/scan.h"

namespace l4::text {
namespace {

struct Word {
  std::string_view text;
  Level level;
};

constexpr std::array kWords{
    Word{"INFO", Level::info},       Word{"WARNING", Level::warning},
    Word{"ERROR", Level::error},     Word{"WARN", Level::warning},
    Word{"DEBUG", Level::debug},     Word{"FATAL", Level::fatal},
    Word{"CRITICAL", Level::fatal},  Word{"TRACE", Level::trace},
    Word{"NOTICE", Level::info},     Word{"EXCEPTION", Level::error},
    Word{"SUCCESS", Level::info},    Word{"SEVERE", Level::error},
    Word{"ERR", Level::error},       Word{"EVENT", Level::info},
    Word{"DIAG", Level::debug},      Word{"WRN", Level::warning},
    Word{"DBG", Level::debug},       Word{"FTL", Level::fatal},
    Word{"ALERT", Level::fatal},     Word{"PANIC", Level::fatal},
    Word{"EMERGENCY", Level::fatal},
};

constexpr std::array kLowerWords{
    Word{"info", Level::info},      Word{"warning", Level::warning}, Word{"error", Level::error},
    Word{"warn", Level::warning},   Word{"debug", Level::debug},     Word{"fatal", Level::fatal},
    Word{"critical", Level::fatal}, Word{"trace", Level::trace},     Word{"panic", Level::fatal},
    Word{"severe", Level::error},   Word{"alert", Level::fatal},     Word{"notice", Level::info},
};

constexpr std::array kSyslogWords{
    Word{"emerg", Level::fatal}, Word{"alert", Level::fatal},  Word{"crit", Level::fatal},
    Word{"err", Level::error},   Word{"warn", Level::warning}, Word{"notice", Level::info},
    Word{"info", Level::info},   Word{"debug", Level::debug},
};

/// Beginnings of lines that show their level.
constexpr std::array kLevelOpenings{
    Word{"Traceback (most recent", Level::error},
    Word{"terminate called", Level::fatal},
    Word{"what():", Level::fatal},
    Word{"Fatal Python error", Level::fatal},
    Word{"*** SIG", Level::fatal},
    Word{"*** Aborted at", Level::fatal},
    Word{"*** Process received signal", Level::fatal},
    Word{"Segmentation fault", Level::fatal},
    Word{"Bus error", Level::fatal},
    Word{"Exception raised from", Level::error},
    Word{"srun: error:", Level::error},
    Word{"slurmstepd: error:", Level::error},
    Word{"sbatch: error:", Level::error},
    Word{"srun: fatal:", Level::fatal},
    Word{"error:", Level::error},
    Word{"Error:", Level::error},
    Word{"Warning:", Level::warning},
    Word{"warning:", Level::warning},
    Word{"Exception in thread", Level::error},
    Word{"Caught signal ", Level::fatal},
    Word{"ray.exceptions.", Level::error},
    Word{"Fatal error:", Level::fatal},
    Word{"fatal error:", Level::fatal},
    Word{"srun: Job step aborted", Level::error},
    Word{"Unhandled error", Level::error},
};

/// Ends of the names of exception classes.
constexpr std::array kClassEnds{
    Word{"Error", Level::error},          Word{"Exception", Level::error},
    Word{"Warning", Level::warning},      Word{"KeyboardInterrupt", Level::error},
    Word{"SystemExit", Level::error},     Word{"StopIteration", Level::error},
    Word{"ExceptionGroup", Level::error}, Word{"Timeout", Level::error},
    Word{"Interrupt", Level::error},      Word{"Failure", Level::error},
};

Level look_up(std::span<const Word> words, std::string_view text) {
  for (const Word& word : words)
    if (word.text == text) return word.level;
  return Level::unknown;
}

/// Ascend's `EI0005: ...`, `EE9999: ...`.
bool ascend_code(std::string_view text) {
  if (text.size() < 8 || text[0] != 'E' || !is_alnum(text[1]) || text[6] != ':') return false;
  for (std::size_t i = 2; i < 6; ++i)
    if (!is_digit(text[i])) return false;
  return true;
}

const Word* class_end(std::string_view name) {
  for (const Word& word : kClassEnds)
    if (name.ends_with(word.text)) return &word;
  return nullptr;
}

}  // namespace

Level level_of_word(std::string_view word) {
  static constexpr RowsByFirst kByFirst{kWords, &Word::text};
  if (word.size() < 3 || word.size() > 9 || !is_upper(word[1])) return Level::unknown;
  return look_up(kByFirst.of(word[0]), word);
}

Level level_of_spelled_word(std::string_view word) {
  static constexpr RowsByFirst kByFirst{kLowerWords, &Word::text};
  if (word.size() < 4 || word.size() > 8) return Level::unknown;
  for (const Word& known : kByFirst.of(lower(word[0])))
    if (equals_lower(word, known.text)) return known.level;
  return Level::unknown;
}

Level level_of_letter(char letter) {
  switch (letter) {
    case 'I':
      return Level::info;
    case 'W':
      return Level::warning;
    case 'E':
      return Level::error;
    case 'F':
      return Level::fatal;
    case 'D':
      return Level::debug;
    case 'V':
      return Level::trace;
    case 'C':
      return Level::fatal;
    default:
      return Level::unknown;
  }
}

Level level_of_syslog(std::string_view word) {
  if (word.empty()) return Level::unknown;
  return look_up(kSyslogWords, word);
}

Level level_of_priority(int priority) {
  constexpr std::array kLevels{Level::fatal,   Level::fatal, Level::fatal, Level::error,
                               Level::warning, Level::info,  Level::info,  Level::debug};
  return priority < 0 || priority > 7 ? Level::unknown
                                      : kLevels[static_cast<std::size_t>(priority)];
}

Level level_of_key(std::string_view line) {
  for (const std::string_view key : {"\"level\":", "\"severity\":", "\"levelname\":", "level="}) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) continue;
    Cursor c{line, at + key.size()};
    c.skip_blanks();
    c.accept('"');
    const std::size_t from = c.at;
    while (is_alpha(c.peek())) ++c.at;
    const std::string_view word = line.substr(from, c.at - from);
    const Level upper = level_of_word(word);
    return upper != Level::unknown ? upper : level_of_spelled_word(word);
  }
  return Level::unknown;
}

bool is_exception_name(std::string_view word) {
  if (word.size() < 5 || word.size() > 120 || !(is_alpha(word[0]) || word[0] == '_')) return false;
  for (const char c : word)
    if (!is_word(c) && c != '.') return false;
  const Word* end = class_end(word);
  if (end == nullptr) return false;
  // A class name begins with a capital: OutOfMemoryError, not runtimeTimeout.
  const std::size_t dot = word.rfind('.');
  const std::string_view name = dot == std::string_view::npos ? word : word.substr(dot + 1);
  return !name.empty() && (is_upper(name[0]) || name.ends_with("Error") || name[0] == '_');
}

NamedClass find_exception_class(std::string_view text) {
  const std::string_view head = text.substr(0, 300);
  std::size_t at = 0;
  while (at < head.size()) {
    const auto* hit =
        static_cast<const char*>(std::memchr(head.data() + at, ':', head.size() - at));
    if (hit == nullptr) break;
    const auto colon = static_cast<std::size_t>(hit - head.data());
    at = colon + 1;
    if (colon < 5 || (at < head.size() && head[at] != ' ')) continue;
    const char last = head[colon - 1];
    if (last != 'r' && last != 'n' && last != 'g' && last != 't' && last != 'e') continue;
    std::size_t begin = colon;
    while (begin > 0 && (is_word(head[begin - 1]) || head[begin - 1] == '.')) --begin;
    const std::string_view name = head.substr(begin, colon - begin);
    if (!is_exception_name(name)) continue;
    return {begin, colon, class_end(name)->level};
  }
  return {};
}

namespace {

/// `x.cu:3: error: text`, `gcc: fatal error: text`.
bool holds_error(std::string_view head) {
  for (std::size_t at = head.find(':'); at < head.size(); at = head.find(':', at + 1)) {
    const std::string_view front = head.substr(0, at);
    if (front.ends_with("error") && head.substr(at).starts_with(": ") &&
        (front.ends_with(": error") || front.ends_with(": fatal error")))
      return true;
  }
  return false;
}

/// The level of words that count anywhere in a line. find() is fast because their first bytes are
/// rare.
Level level_anywhere(std::string_view head) {
  constexpr auto kNone = std::string_view::npos;
  if (holds_error(head)) return Level::error;
  const bool fatal = head.find("FATAL") != kNone || head.find("(core dumped)") != kNone;
  return fatal ? Level::fatal : Level::unknown;
}

}  // namespace

Level level_of_message(std::string_view text) {
  if (text.empty()) return Level::unknown;
  static constexpr RowsByFirst kByFirst{kLevelOpenings, &Word::text};
  for (const Word& word : kByFirst.of(text[0]))
    if (text.starts_with(word.text)) return word.level;
  if (ascend_code(text)) return Level::error;
  const NamedClass named = find_exception_class(text);
  if (named.level != Level::unknown) return named.level;
  return level_anywhere(text.substr(0, 160));
}

}  // namespace l4::text
