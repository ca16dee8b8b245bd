#include "aggregator/detect/evidence/wording.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace l4::detect {
namespace {

/// Lower-case stems; a phrase matches only at the begin of a word.
constexpr auto kFatal = std::to_array<std::string_view>({
    "traceback",
    "fatal",
    "core dumped",
    "segmentation fault",
    "sigkill",
    "sigsegv",
    "sigabrt",
    "sigbus",
    "bus error",
    "aborted",
    "aborting",
    "terminate called",
    "terminating due",
    "childfailederror",
    "uncorrectable",
    "unknown error",
    "fallen off",
    "kernel panic",
    "out of memory",
    "oom-kill",
    "no space left",
    "killed process",
    "exited with",
    "exitcode",
    "exit code",
    "exits with return",
    "unrecognized arguments",
    "node failure",
    "time limit",
    "device-side assert",
    "illegal memory access",
    "heartbeat lost",
    "cancelled at",
});
constexpr auto kFailure = std::to_array<std::string_view>({
    "error",     "exception",      "failed",      "failure",
    "failing",   "timed out",      "timeout",     "refused",
    "reset by",  "broken pipe",    "closed by",   "corrupt",
    "unable to", "cannot",         "could not",   "can't",
    "denied",    "unreachable",    "no route",    "lost",
    "killing",   "killed",         "signal",      "panic",
    "invalid",   "mismatch",       "not support", "undefined symbol",
    "xid",       "not responding", "stale",       "hung",
    "stuck",     "unavailable",    "unexpected",  "violation",
    "overflow",  "assert",         "crash",       "abort",
    "nan",       "expired",
});
constexpr auto kNotice = std::to_array<std::string_view>({
    "warn",
    "retry",
    "retries",
    "slow",
    "not found",
    "no such",
    "missing",
    "deprecat",
    "skipp",
});

/// Phrases of a program that continues in spite of a problem.
constexpr auto kGoesOn = std::to_array<std::string_view>({
    "instead",
    "fall back",
    "falling back",
    "fallback",
    "falls back",
    "will proceed",
    "proceeding",
    "ignoring",
    "ignored",
    "continuing",
    "going on without",
});

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

/// First letters of phrases: most words of a line begin with another letter.
template <std::size_t N>
consteval std::uint32_t initials_of(const std::array<std::string_view, N>& phrases) {
  std::uint32_t letters = 0;
  for (const std::string_view phrase : phrases) letters |= 1U << (phrase.front() - 'a');
  return letters;
}
constexpr std::uint32_t kInitials =
    initials_of(kFatal) | initials_of(kFailure) | initials_of(kNotice);

bool may_begin_phrase(char c) {
  const int letter = lower(c) - 'a';
  return letter >= 0 && letter < 26 && (kInitials >> letter & 1) != 0;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool starts_with(std::string_view text, std::string_view phrase) {
  return text.size() >= phrase.size() && std::equal(phrase.begin(), phrase.end(), text.begin(),
                                                    [](char a, char b) { return a == lower(b); });
}

/// Short stems must be whole words ("nan", "xid"), long ones may go on ("failed", "failures").
bool is_whole(std::string_view text, std::string_view phrase) {
  constexpr std::size_t kShort = 4;
  return phrase.size() > kShort || text.size() == phrase.size() || !is_word(text[phrase.size()]);
}

template <std::size_t N>
bool any_at(std::string_view text, const std::array<std::string_view, N>& phrases) {
  return std::ranges::any_of(phrases, [&](std::string_view phrase) {
    return starts_with(text, phrase) && is_whole(text, phrase);
  });
}

/// "0 errors", "no error", "error_if_nonfinite": words that only mention a failure.
bool only_mentions(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  if (before.ends_with("0 ") || before.ends_with("no ") || before.ends_with("No ")) return true;
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return end < text.size() && (text[end] == '_' || text[end] == '=');
}

/// CamelCase exception names end in Error or Exception: "torch.cuda.OutOfMemoryError: ...".
bool names_exception(std::string_view text) {
  for (const std::string_view tail : {"Error", "Exception"}) {
    const auto at = text.find(tail);
    if (at == std::string_view::npos || at == 0 || !is_word(text[at - 1])) continue;
    const std::size_t end = at + tail.size();
    if (end == text.size() || text[end] == ':' || text[end] == '(') return true;
  }
  return false;
}

/// "modprobe: FATAL: ...": a command of a shell script ended, and not the program.
bool tells_of_command(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (text[end] == '-' || (text[end] >= 'a' && text[end] <= 'z'))) ++end;
  return end > 0 && text.substr(end).starts_with(": FATAL: ");
}

bool goes_on(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (!is_word(text[i - 1]) && any_at(text.substr(i), kGoesOn)) return true;
  return false;
}

Severity by_words(std::string_view text) {
  Severity worst = Severity::none;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!may_begin_phrase(text[i]) || (i > 0 && is_word(text[i - 1]))) continue;
    const std::string_view rest = text.substr(i);
    if (any_at(rest, kFatal)) return Severity::fatal;
    if (worst < Severity::failure && any_at(rest, kFailure) && !only_mentions(text, i))
      worst = Severity::failure;
    if (worst < Severity::notice && any_at(rest, kNotice)) worst = Severity::notice;
  }
  return worst;
}

}  // namespace

Severity severity_of(std::string_view text, Level level) {
  if (tells_of_command(text)) return Severity::notice;
  if (level == Level::fatal) return Severity::fatal;
  Severity words = names_exception(text) ? Severity::fatal : by_words(text);
  if (level != Level::error && words > Severity::notice && goes_on(text)) words = Severity::notice;
  switch (level) {
    case Level::error:
      return std::max(words, Severity::failure);
    case Level::warning:
      return std::clamp(words, Severity::notice, Severity::failure);
    case Level::info:
    case Level::debug:
    case Level::trace:
      return std::min(words, Severity::notice);
    default:
      return words;
  }
}

}  // namespace l4::detect
