#include "aggregator/detect/evidence/wording.h"

#include <algorithm>
#include <array>

#include "aggregator/detect/evidence/letters.h"
#include "aggregator/detect/evidence/statement.h"
#include "aggregator/numbers/evidence.h"

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
    "access fault",
    "protection fault",
    "mmu fault",
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
    "instead",          "fall back",     "falling back", "fallback",        "falls back",
    "will proceed",     "proceeding",    "ignoring",     "ignored",         "continuing",
    "going on without", "retrying",      "will retry",   "will be retried", "retry in",
    "next try",         "next attempt",  "trying again", "will try again",  "reconnecting",
    "retries left",     "attempts left",
});

/// Words of a program that ends itself because of a failure that it names.
constexpr auto kStops = std::to_array<std::string_view>({
    "stopping",
    "exiting",
    "quitting",
    "halting",
    "giving up",
    "bailing out",
    "terminating",
    "stop training",
    "stops training",
});

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

bool starts_with(std::string_view text, std::string_view phrase) {
  return text.size() >= phrase.size() && std::equal(phrase.begin(), phrase.end(), text.begin(),
                                                    [](char a, char b) { return a == lower(b); });
}

/// Short stems must be whole words ("nan", "xid"), long ones may go on ("failed", "failures").
bool is_whole(std::string_view text, std::string_view phrase) {
  return phrase.size() > numbers::evidence().short_word_max || text.size() == phrase.size() ||
         !is_word(text[phrase.size()]);
}

/// Size of the phrase with which the text begins; 0 if it begins with none.
template <std::size_t N>
std::size_t size_at(std::string_view text, const std::array<std::string_view, N>& phrases) {
  const auto found = std::ranges::find_if(phrases, [&](std::string_view phrase) {
    return starts_with(text, phrase) && is_whole(text, phrase);
  });
  return found == phrases.end() ? 0 : found->size();
}

/// "max_failed=3": a setting or a count.
bool is_assigned(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at < text.size() && text[at] == '=';
}

/// "exited with code 0", "exitcode: 0": `rest` begins with a phrase of an exit.
bool ended_well(std::string_view rest) {
  if (!starts_with(rest, "exit")) return false;
  const std::string_view near = rest.substr(0, numbers::evidence().exit_code_within);
  const std::size_t digit = near.find_first_of("0123456789");
  if (digit == std::string_view::npos || near[digit] != '0' || near[digit - 1] == '-') return false;
  if (digit + 1 < rest.size() && is_word(rest[digit + 1])) return false;
  return near.substr(0, digit).find_first_of(".;,") == std::string_view::npos;
}

/// The name of an exception that ends before `end`.
std::string_view exception_name(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  return text.substr(begin, end - begin);
}

/// The name of a class of a module for exceptions: "msgpack.exceptions.ExtraData: ...".
std::string_view find_of_module(std::string_view text) {
  for (const std::string_view module : {".exceptions.", ".errors."}) {
    const std::size_t at = text.find(module);
    if (at == std::string_view::npos || at == 0 || !is_word(text[at - 1])) continue;
    std::size_t end = at + module.size();
    if (end == text.size() || text[end] < 'A' || text[end] > 'Z') continue;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == text.size() || text[end] == ':') return exception_name(text, end);
  }
  return {};
}

/// CamelCase exception names end in Error, Exception or Interrupt: "torch.cuda.OutOfMemoryError:
/// ...".
std::string_view find_exception(std::string_view text) {
  for (const std::string_view tail : {"Error", "Exception", "Interrupt"})
    for (std::size_t at = text.find(tail); at != std::string_view::npos;
         at = text.find(tail, at + 1)) {
      if (at == 0 || !is_word(text[at - 1])) continue;
      const std::size_t end = at + tail.size();
      if (end < text.size() && text[end] != ':' && text[end] != '(') continue;
      const std::string_view name = exception_name(text, end);
      if (!is_supposed(text, static_cast<std::size_t>(name.data() - text.data()), end)) return name;
    }
  return find_of_module(text);
}

/// "StopIteration", "queue.Empty": the name of a class, perhaps of a module, and nothing else, or
/// of a module and with a message ("gzip.BadGzipFile: CRC check failed"). At error level it is the
/// exception of a traceback.
bool is_lone_class(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon != text.npos) {
    text = text.substr(0, colon);
    if (!text.contains('.')) return false;
  }
  const std::string_view name = text.substr(text.rfind('.') + 1);
  return name.size() > 2 && is_upper(name[0]) &&
         std::ranges::all_of(text, [](char c) { return is_word(c) || c == '.' || c == '_'; }) &&
         std::ranges::any_of(name, is_lower);
}

/// One of the phrases stands behind a word.
template <std::size_t N>
bool holds(std::string_view text, const std::array<std::string_view, N>& phrases) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (!is_word(text[i - 1]) && size_at(text.substr(i), phrases) > 0) return true;
  return false;
}

/// Programs that training programs ask for something: they go on without the answer.
constexpr auto kAsked = std::to_array<std::string_view>(
    {"git", "nvidia-smi", "rocm-smi", "npu-smi", "nvcc", "lspci", "lscpu", "ldconfig", "hostname"});

/// "modprobe: FATAL: ...": a command of a shell script ended, and not the program.
bool tells_of_command(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (text[end] == '-' || (text[end] >= 'a' && text[end] <= 'z'))) ++end;
  return end > 0 && text.substr(end).starts_with(": FATAL: ");
}

Severity by_words(std::string_view text) {
  Severity worst = Severity::none;
  const auto raise = [&](Severity severity, std::size_t at, std::size_t end) {
    if (worst >= severity) return;
    worst = is_mention(text, at, end) ? worst : severity;
  };
  for (std::size_t i = 0; i < text.size() && worst < Severity::fatal; ++i) {
    if (!may_begin_phrase(text[i]) || (i > 0 && is_word(text[i - 1]))) continue;
    const std::string_view rest = text.substr(i);
    if (const std::size_t size = size_at(rest, kFatal); size > 0 && !ended_well(rest))
      raise(Severity::fatal, i, i + size);
    if (const std::size_t size = size_at(rest, kFailure); size > 0 && !is_assigned(text, i))
      raise(Severity::failure, i, i + size);
    if (size_at(rest, kNotice) > 0) worst = std::max(worst, Severity::notice);
  }
  return worst;
}

/// At the begin, or behind a prefix: "[rank0]: ", "ERROR:", "worker> ".
bool is_at_front(std::string_view text, std::size_t at) {
  constexpr std::string_view kEnds = ":]>-";
  if (at == 0) return true;
  if (at > numbers::evidence().front_max) return false;
  const char before = text[at - 1];
  return (before == ' ' && at > 1 && kEnds.contains(text[at - 2])) || before == ':';
}

/// "[ProcessGroupNCCL.cpp:684]": where a line was printed, and nothing else; the lines below it
/// speak.
bool is_place_alone(std::string_view text) {
  const std::string_view rest = text.substr(0, text.find_last_not_of(" \t") + 1);
  return rest.starts_with('[') && rest.ends_with(']') && rest.find(']') + 1 == rest.size() &&
         rest.contains(':') && !rest.contains(' ');
}

}  // namespace

Severity severity_of(std::string_view text, Level level) {
  if (tells_of_command(text) || tells_of_asked(text)) return Severity::notice;
  if (is_native_frame(text) || is_place_alone(text)) return Severity::none;
  if (level == Level::fatal) return Severity::fatal;
  const bool changed = text.starts_with('+') || text.starts_with('-');  // in a diff, if it is code
  if ((level == Level::unknown || changed) && is_code(text)) return Severity::none;
  const bool thrown =
      !find_exception(text).empty() || (level == Level::error && is_lone_class(text));
  Severity words = thrown ? Severity::fatal : by_words(text);
  if (words > Severity::notice && (holds(text, kGoesOn) || is_python_warning(text)))
    words = Severity::notice;
  if (words == Severity::failure && stops_for_failure(text)) words = Severity::fatal;
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

bool stops_for_failure(std::string_view text) {
  constexpr auto kPlanned =
      std::to_array<std::string_view>({"early", "improve", "patience", "converge", "plateau"});
  const auto plans = [&](std::string_view word) {
    return std::ranges::search(text, word, {}, [](char c) { return lower(c); }).begin() !=
           text.end();
  };
  if (std::ranges::any_of(kPlanned, plans)) return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const std::size_t size = is_word(text[i - 1]) ? 0 : size_at(text.substr(i), kStops);
    if (size > 0 && !is_supposed(text, i, i + size)) return by_words(text) >= Severity::failure;
  }
  return false;
}

bool tells_of_asked(std::string_view text) {
  constexpr auto kExits = std::to_array<std::string_view>(
      {"exit code", "exit status", "exited with", "return code", "returncode", "exitcode"});
  const bool asked = std::ranges::any_of(kAsked, [&](std::string_view program) {
    const std::size_t at = text.find(program);
    if (at == text.npos || (at > 0 && is_word(text[at - 1]))) return false;
    const std::size_t end = at + program.size();
    return end == text.size() || text[end] == ' ' || text[end] == '\'' || text[end] == '"';
  });
  return asked && holds(text, kExits);
}

bool is_python_warning(std::string_view text) {
  const std::size_t at = text.find("Warning: ");
  return at != text.npos && at > 0 && is_letter(text[at - 1]);
}

bool is_head_of_thread(std::string_view text) {
  return text.starts_with("Exception in thread ");
}

bool says_at_front(std::string_view text) {
  return !exception_kind(text).empty();
}

std::string_view exception_kind(std::string_view text) {
  if (is_at_front(text, text.find(kTracebackHead))) return kTracebackHead;
  const std::string_view name = find_exception(text);
  if (name.empty()) return {};
  const auto at = static_cast<std::size_t>(name.data() - text.data());
  if (!is_at_front(text, at)) return {};
  std::size_t end = at + name.size();
  for (int words = 0; words <= numbers::evidence().exception_words && end != std::string_view::npos;
       ++words)
    end = text.find(' ', end + 1);
  return text.substr(at, end == std::string_view::npos ? end : end - at);
}

}  // namespace l4::detect
