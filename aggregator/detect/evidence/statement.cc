#include "aggregator/detect/evidence/statement.h"

#include <algorithm>
#include <array>
#include <utility>

#include "aggregator/detect/evidence/letters.h"
#include "aggregator/numbers/evidence.h"
#include "common/base/find_bytes.h"

namespace l4::detect {
namespace {

/// Words that make a clause a supposition: what may, might or should happen, or what to do if it
/// does.
constexpr auto kSupposing = std::to_array<FormRow>({
    {"if", "Set the variable if workers are killed"},
    {"when", "Prints the stack when a rank crashes"},
    {"whenever", "Saves whenever an exception is raised"},
    {"unless", "Goes on unless an error is raised"},
    {"in case", "Writes a dump in case of a failure"},
    {"may", "The loss may be nan"},
    {"might", "A later call might raise an exception"},
    {"could", "The kernel could crash"},
    {"can", "Larger batches can run out of memory"},
    {"should", "Every rank should abort"},
    {"would", "A smaller value would overflow"},
    {"possible", "This is a possible failure"},
    {"possibly", "The node is possibly lost"},
    {"potential", "Looks for potential deadlock or timeout"},
    {"potentially", "The values are potentially corrupt"},
    {"perhaps", "Perhaps a worker was killed"},
    {"probably", "The peer was probably killed"},
    {"likely", "A shorter wait is likely to cause timeouts"},
    {"whether", "Tells whether the call failed"},
    {"please", "Please search for the error in the manual"},
});

/// Words that deny what follows within three words.
constexpr auto kDenying = std::to_array<FormRow>({
    {"no", "finished with no errors"},
    {"not", "The run is not killed"},
    {"without", "ended without any exception"},
    {"never", "This call never failed"},
    {"zero", "zero failures so far"},
    {"non", "non fatal"},
    {"0", "0 errors in the manifest"},
});

/// Words around a failure that somebody deals with, or looks for, before it happened.
constexpr auto kDealing = std::to_array<FormRow>({
    {"avoid", "Reserves a block to avoid out of memory"},
    {"avoiding", "avoiding overflow by scaling"},
    {"prevent", "keeps a handle to prevent crashes"},
    {"handle", "installed a handler to handle exceptions"},
    {"handling", "handling of errors is on, handling errors"},
    {"catch", "wraps the loop to catch exceptions"},
    {"debug", "prints more to debug failures"},
    {"detect", "runs a thread to detect timeouts"},
    {"detecting", "detecting overflow with one reduction"},
    {"suppress", "suppress errors of the compiler"},
});

/// Beginnings of words behind a failure that make it a kind of thing: "error handling".
constexpr auto kDealtWith = std::to_array<std::string_view>(
    {"handl", "detection", "detector", "checking", "checker", "recovery", "toleran", "hook",
     "threshold", "callback", "correction", "injection", "propagation", "reporting", "logging"});

/// Words for a wait that was in vain, in lower case.
constexpr auto kWaiting = std::to_array<FormRow>({
    {"timed out", "Read of shard 7 timed out after 300 s"},
    {"time out", "RuntimeError: Time out when the sampler waits for a batch at 600 seconds"},
    {"time-out", "collective time-out, 1800000 ms passed"},
    {"timeout", "queue.get: timeout of 600 s exceeded"},
    {"timedout", "TimedOut waiting for the barrier, 900 s"},
    {"timeouterror", "TimeoutError: no batch within 600 seconds"},
    {"waited", "worker 3 waited 900 s for its peers"},
    {"waiting", "gave up waiting for the store after 20 minutes"},
});

/// Words of a sentence that guesses at causes.
constexpr auto kGuessing = std::to_array<FormRow>({
    {"may", "It may have been killed by SIGKILL, or the node went away."},
    {"might", "The host might be out of memory or the process crashed."},
    {"could", "This could be caused by a segmentation fault or by memory."},
    {"can", "This can happen when a (1) raylet crashes (2) raylet has lagging heartbeats"},
    {"possible", "Possible reasons: out of memory, or a crash of the driver."},
    {"possibly", "possibly due to a network error or a remote process that crashed."},
    {"potential", "There are some potential root causes. (1) Killed by SIGKILL. (2) SIGSEGV."},
    {"likely", "Likely causes are a full disk or a lost mount."},
    {"probably", "It was probably killed or ran out of memory."},
    {"perhaps", "Perhaps it was killed, or the network is down."},
    {"common", "Common causes: segmentation fault, out of memory."},
    {"usually", "This is usually a crash or a timeout of a peer."},
    {"typically", "This is typically a hang or a crash of another rank."},
    {"either", "Either the peer crashed or the link failed."},
});

/// How a line of source code begins. A row's second text is a line of that form.
constexpr auto kCodeOpenings = std::to_array<FormRow>({
    {"raise ", "raise RuntimeError(\"timed out\")"},
    {"return ", "return self._handle_error(state)"},
    {"assert ", "assert not failed, \"must not fail\""},
    {"except ", "except TimeoutError as failed:"},
    {"if ", "if error is not None:"},
    {"elif ", "elif exit_code != 0 and failed:"},
    {"while ", "while not aborted:"},
    {"for ", "for error in errors:"},
    {"with ", "with catch_exception(error):"},
    {"def ", "def failed(self, error):"},
    {"class ", "class Failed(RuntimeError):"},
    {"from ", "from torch.errors import error"},
    {"import ", "import errors"},
    {"await ", "await self.abort(error)"},
    {"yield ", "yield failed(error)"},
    {"throw ", "throw std::runtime_error(\"failed\");"},
    {"File \"", "File \"errors.py\", line 12, in abort"},
});

/// Offset of the word, of whole words in any case; npos if it is not there.
std::size_t find_word(std::string_view text, std::string_view word) {
  const auto begins = [first = word.front()](auto byte) { return (byte | 0x20) == first; };
  for (std::size_t i = find_kind(text, 0, begins); i + word.size() <= text.size();
       i = find_kind(text, i + 1, begins)) {
    if (i > 0 && is_word(text[i - 1])) continue;
    const std::size_t end = i + word.size();
    if (end < text.size() && is_word(text[end])) continue;
    if (i > 0 && text[i - 1] == '/' && end < text.size() && text[end] == '/') continue;  // a folder
    if (equals_lower(text.substr(i, word.size()), word)) return i;
  }
  return std::string_view::npos;
}

bool ends_clause(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == ',' || c == ';' || c == '(' || c == ')' || c == '\n') return true;
  return (c == '.' || c == ':' || c == '!' || c == '?') && at + 1 < text.size() &&
         text[at + 1] == ' ';
}

/// The clause of the word at `begin`, up to the word.
std::string_view clause_before(std::string_view text, std::size_t begin) {
  std::size_t from = begin;
  while (from > 0 && begin - from < numbers::evidence().clause_max && !ends_clause(text, from - 1))
    --from;
  return text.substr(from, begin - from);
}

/// "could not", "couldn't": what could not be done was tried.
bool is_refused(std::string_view clause, std::size_t end) {
  const std::string_view rest = clause.substr(end);
  return rest.starts_with(" not ") || rest.starts_with("n't");
}

bool supposes(std::string_view clause) {
  return std::ranges::any_of(kSupposing, [&](const FormRow& row) {
    const std::size_t at = find_word(clause, row.word);
    return at != std::string_view::npos &&
           !(row.word == "could" && is_refused(clause, at + row.word.size()));
  });
}

/// The last `most` words of the clause.
std::string_view last_words(std::string_view clause, std::size_t most) {
  std::size_t from = clause.size();
  for (std::size_t words = 0; words < most && from > 0; ++words) {
    while (from > 0 && clause[from - 1] == ' ') --from;
    while (from > 0 && clause[from - 1] != ' ') --from;
  }
  return clause.substr(from);
}

bool denies(std::string_view clause) {
  const std::string_view last = last_words(clause, numbers::evidence().denying_words);
  if (last.find("n't ") != std::string_view::npos) return true;
  return std::ranges::any_of(kDenying, [&](const FormRow& row) {
    return find_word(last, row.word) != std::string_view::npos;
  });
}

bool deals(std::string_view clause, std::string_view behind) {
  const std::string_view last = last_words(clause, numbers::evidence().dealing_words);
  if (std::ranges::any_of(kDealing, [&](const FormRow& row) {
        return find_word(last, row.word) != std::string_view::npos;
      }))
    return true;
  if (!behind.starts_with(' ') && !behind.starts_with('-')) return false;
  behind.remove_prefix(1);
  return std::ranges::any_of(kDealtWith,
                             [&](std::string_view word) { return begins_lower(behind, word); });
}

/// `torch.elastic.errors`, `lib/errors`, `abort_on_nan`, `--exit-on-error`, `errors.py`; a measure,
/// `error@5`.
bool is_in_name(std::string_view text, std::size_t begin, std::size_t end) {
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : ' '; };
  if (begin >= 2) {
    const char before = text[begin - 1];
    const bool joined = is_word(text[begin - 2]) && lower(text[begin]) == text[begin];
    if (before == '_' || ((before == '.' || before == '/') && joined)) return true;
    std::size_t from = begin;
    while (from > 0 && (is_word(text[from - 1]) || text[from - 1] == '-')) --from;
    if (text.substr(from).starts_with("--")) return true;
  }
  if (at(end) == '_') return true;
  if (at(end) == '@' && (is_word(at(end + 1)) || at(end + 1) == '<')) return true;  // "error@5"
  return (at(end) == '.' || at(end) == '/' || at(end) == '-') && is_letter(at(end + 1));
}

/// A number with a point, `nan`, or numbers that were masked in a template.
bool is_element(std::string_view token) {
  if (token.size() >= 3 && equals_lower(token, "nan")) return true;
  if (token == "<*>") return true;
  return token.contains('.') && token.find_first_not_of("+-.0123456789eE") == token.npos;
}

/// `nan` among the values of a table or a list: "0.21, nan | 0.4", "[0.58 nan 0.76]". As the value
/// of a quantity with a name it stands behind that name: "loss: nan".
bool is_in_list(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::string_view kBefore = ",|[", kBehind = ",|]<";
  if (end - begin != 3 || !equals_lower(text.substr(begin, 3), "nan")) return false;
  const std::size_t next = text.find_first_not_of(' ', end);
  const bool goes_on = next != text.npos && kBehind.contains(text[next]);
  std::size_t before = begin;
  while (before > 0 && text[before - 1] == ' ') --before;
  if (before == 0) return goes_on;
  if (kBefore.contains(text[before - 1])) return true;
  std::size_t from = before;
  while (from > 0 && text[from - 1] != ' ' && text[from - 1] != '[') --from;
  const std::string_view token = text.substr(from, before - from);
  return is_element(token) && (token != "<*>" || goes_on);
}

/// A value that says that nothing happened.
bool is_nothing(std::string_view value) {
  constexpr auto kNothing = std::to_array<std::string_view>(
      {"false", "none", "null", "no", "off", "0", "disabled", "n/a", "[]", "{}", "\"\"", "''"});
  std::size_t end = 0;
  while (end < value.size() && value[end] != ' ' && value[end] != ',' && value[end] != ';' &&
         value[end] != '|')
    ++end;
  const std::string_view rest = value.substr(end);
  value = value.substr(0, end);
  // "no such file"
  if (value.size() == 2 && rest.size() > 1 && rest[0] == ' ' && is_letter(rest[1])) return false;
  while (!value.empty() && (value.back() == '.' || value.back() == ')')) value.remove_suffix(1);
  return std::ranges::any_of(kNothing,
                             [&](std::string_view word) { return equals_lower(value, word); });
}

/// The value of a setting behind the name's end: `: x`, `= x`, `" : x`, ` .... x`.
std::optional<std::string_view> value_behind(std::string_view rest) {
  std::size_t i = 0;
  while (i < rest.size() && (rest[i] == ' ' || rest[i] == '"' || rest[i] == '\'')) ++i;
  if (rest.substr(i).starts_with("...")) {
    while (i < rest.size() && rest[i] == '.') ++i;
  } else if (i < rest.size() && (rest[i] == ':' || rest[i] == '=')) {
    ++i;
  } else {
    return std::nullopt;
  }
  while (i < rest.size() && rest[i] == ' ') ++i;
  return rest.substr(i);
}

/// `timeout: 600`, `overflow cond: False`, `errors=0`, `exit_on_nan ..... None`.
bool is_setting(std::string_view text, std::size_t begin, std::size_t end) {
  std::string_view rest = text.substr(end);
  auto value = value_behind(rest);
  if (!value && rest.starts_with(' ')) {  // one more word: "overflow cond: False"
    const std::size_t stop =
        rest.substr(0, numbers::evidence().setting_name_max).find_first_of(":=", 1);
    if (stop != std::string_view::npos &&
        std::ranges::all_of(rest.substr(1, stop - 1), [](char c) { return is_name_letter(c); }))
      value = value_behind(rest.substr(stop));
  }
  if (!value || value->empty()) return false;
  if (is_nothing(*value)) return true;
  const char first = value->front();
  return equals_lower(text.substr(begin, end - begin), "timeout") &&
         (is_digit(first) || value->starts_with("<*>"));
}

/// `<*> errors`: a count, whose value a template does not keep.
bool is_counted(std::string_view clause, std::string_view word) {
  return word.ends_with('s') && !word.ends_with("ss") && clause.ends_with("<*> ");
}

/// `0.41 nan, nan | 0.38`: a cell of a table, which no name makes a measure.
bool is_cell(std::string_view text, std::size_t begin, std::size_t end) {
  if (!equals_lower(text.substr(begin, end - begin), "nan")) return false;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == ',' || text[begin - 1] == '|'))
    --begin;
  const std::string_view before = text.substr(0, begin);
  if (before.empty()) return text.substr(end).find_first_of("0123456789<,|") == 0;
  constexpr std::string_view kNan = "nan";
  const bool value = is_digit(before.back()) || before.ends_with("<*>") ||
                     (before.size() >= kNan.size() &&
                      equals_lower(before.substr(before.size() - kNan.size()), kNan));
  if (!value) return false;
  // "loss <*> nan": the value of a name may be followed by another; a row begins with numbers.
  return before.find_first_not_of("0123456789.,|-+ <*>naNA") == before.npos;
}

bool starts_enumeration(std::string_view text) {
  return text.starts_with("(1)") || text.starts_with("1)") || text.starts_with("1. ") ||
         text.starts_with("(a)") || text.starts_with("- ");
}

bool is_sentence_end(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\n') return true;
  if (at + 1 >= text.size() || text[at + 1] != ' ') return false;
  if (c == '.' && at > 0 && is_digit(text[at - 1])) return false;  // "1. the first"
  return c == '.' || c == ';' || c == ':' || c == '!' || c == '?';
}

/// Offset behind the first word that makes the sentence a guess; npos if there is none.
std::size_t word_of_guess(std::string_view sentence) {
  std::size_t first = std::string_view::npos;
  for (const FormRow& row : kGuessing) {
    const std::size_t at = find_word(sentence, row.word);
    if (at == std::string_view::npos || is_refused(sentence, at + row.word.size())) continue;
    first = std::min(first, at + row.word.size());
  }
  return first;
}

/// A list follows: "some potential root causes. (1) ..", "Possible reason: a, b".
bool begins_list(std::string_view text, std::string_view sentence, std::string_view rest) {
  if (sentence.find("(1)") != std::string_view::npos) return true;
  const std::string_view mark = text.substr(text.size() - rest.size() - (rest.empty() ? 0 : 1), 1);
  for (const std::string_view cause : {"cause", "reason"}) {
    if (mark == ":" && find_word(sentence, cause) != sentence.npos) return true;
    const std::size_t plural = find_word(sentence, std::string(cause) + "s");
    if (plural != sentence.npos) return true;
  }
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return starts_enumeration(rest);
}

/// The parenthesis at `open` is closed at the end of the text, or not at all.
bool spans_the_rest(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0)
      return text.substr(i + 1).find_first_not_of(",;:)") == std::string_view::npos ||
             text.substr(i + 1).starts_with(" #");
  }
  return true;
}

/// Calls and assignments: `self._fail(error)`, `error = fail(`. `RayTaskError(KeyError): ..` and
/// `ValueError(..)` are exceptions.
bool is_call(std::string_view text) {
  std::size_t n = 0;
  bool joined = false;
  while (n < text.size() && (is_name_letter(text[n]) || is_digit(text[n]) || text[n] == '.')) {
    joined = joined || text[n] == '.' || text[n] == '_';
    ++n;
  }
  if (n == 0 || n == text.size() || is_digit(text[0])) return false;
  const std::string_view name = text.substr(0, n);
  if (text[n] == '(')
    return joined && !name.ends_with("Error") && !name.ends_with("Exception") &&
           spans_the_rest(text, n);
  const std::string_view rest = text.substr(n);
  return (rest.starts_with(" = ") || rest.starts_with(" += ")) &&
         rest.find('(') != std::string_view::npos;
}

/// The line that a diff shows as added or removed: "+    raise KeyError(name)". Items of a list,
/// which begin alike, are not indented behind their sign.
std::optional<std::string_view> changed_line(std::string_view text) {
  if (!text.starts_with('+') && !text.starts_with('-')) return std::nullopt;
  const std::size_t at = text.find_first_not_of(' ', 1);
  if (at == text.npos || at < 1 + numbers::evidence().changed_indent_min) return std::nullopt;
  return text.substr(at);
}

bool has_code_form(const FormRow& row, std::string_view text) {
  const std::string_view rest = text.substr(row.word.size());
  if (row.word == "File \"") return rest.find("\", line ") != std::string_view::npos;
  if (row.word == "import ") return rest.find(' ') == std::string_view::npos;
  if (row.word == "from ") return rest.find(" import ") != std::string_view::npos;
  if (row.word == "throw ") return text.back() == ';';
  if (row.word == "for ") return rest.find(" in ") != std::string_view::npos && text.back() == ':';
  if (row.word == "raise " || row.word == "assert ")
    return rest.find(": ") == std::string_view::npos || rest.find('(') != std::string_view::npos ||
           rest.find('"') != std::string_view::npos || rest.find('\'') != std::string_view::npos;
  if (row.word == "return " || row.word == "await " || row.word == "yield ")
    return rest.find('(') != std::string_view::npos && text.back() != '.';
  return text.back() == ':';
}

/// The same line in a template, whose blanks are one each: "+ #raise KeyError(name)". An item of a
/// list begins alike, so the line must have the form of code and a sign that sentences lack.
bool is_changed_code(std::string_view text) {
  if (!text.starts_with("+ ") && !text.starts_with("- ")) return false;
  const std::size_t at = text.find_first_not_of("# ", 1);
  if (at == text.npos) return false;
  text.remove_prefix(at);
  if (text.find_first_of("(=_[") == text.npos && text.find(" as ") == text.npos) return false;
  return std::ranges::any_of(kCodeOpenings, [&](const FormRow& row) {
    return text.starts_with(row.word) && has_code_form(row, text);
  });
}

}  // namespace

bool is_supposed(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view clause = clause_before(text, begin);
  if (clause.empty()) return deals(clause, text.substr(end));
  return is_counted(clause, text.substr(begin, end - begin)) || denies(clause) ||
         deals(clause, text.substr(end)) || supposes(clause);
}

bool is_mention(std::string_view text, std::size_t begin, std::size_t end) {
  while (end < text.size() && is_word(text[end])) ++end;
  return is_in_name(text, begin, end) || is_setting(text, begin, end) ||
         is_in_list(text, begin, end) || is_cell(text, begin, end) || is_supposed(text, begin, end);
}

std::optional<Guess> find_guess(std::string_view text) {
  if (text.size() < numbers::evidence().guess_length_min || word_of_guess(text) == text.npos)
    return std::nullopt;
  Guess guess;
  bool found = false;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t end = from;
    while (end < text.size() && !is_sentence_end(text, end)) ++end;
    const std::string_view sentence = text.substr(from, end - from);
    const std::size_t next = std::min(end + 1, text.size());
    const std::size_t word = word_of_guess(sentence);
    if (word != sentence.npos && begins_list(text, sentence, text.substr(next))) {
      guess.causes.append(text.substr(from + word));
      return guess;
    }
    if (word != sentence.npos && find_word(sentence.substr(word), "or") != sentence.npos) {
      guess.causes.append(sentence.substr(word)).append("\n");
      found = true;
    } else {
      guess.facts.append(text.substr(from, next - from));
    }
    from = next;
  }
  return found ? std::optional(std::move(guess)) : std::nullopt;
}

bool is_code(std::string_view text) {
  if (const auto line = changed_line(text)) {
    text = *line;
    if (text.starts_with('#')) return true;
  } else if (is_changed_code(text)) {
    return true;
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text.empty()) return false;
  if (text.find_first_not_of("^~ ") == std::string_view::npos) return true;
  for (const FormRow& row : kCodeOpenings)
    if (text.starts_with(row.word)) return has_code_form(row, text);
  return is_call(text);
}

bool is_native_frame(std::string_view text) {
  const std::size_t at = text.find("@ ");
  if (at == text.npos) return false;
  const std::size_t front = text.substr(0, at).find_last_not_of(" \t");
  // Behind a logger's prefix, whose digits a template may mask: "logging.cc:<*>: @".
  if (front != text.npos && text[front] != ':' && !text.substr(0, front + 1).ends_with("<*>"))
    return false;
  std::string_view address = text.substr(at + 1);
  address.remove_prefix(std::min(address.find_first_not_of(" \t"), address.size()));
  return address.starts_with("0x") || address.starts_with("<*>") || address.starts_with("(nil)");
}

bool states_wait(std::string_view text) {
  return std::ranges::any_of(kWaiting, [&](const FormRow& row) {
    const std::size_t at = find_word(text, row.word);
    return at != text.npos && !is_supposed(text, at, at + row.word.size());
  });
}

std::span<const FormRow> supposing_words() {
  return kSupposing;
}
std::span<const FormRow> denying_words() {
  return kDenying;
}
std::span<const FormRow> dealing_words() {
  return kDealing;
}
std::span<const FormRow> guessing_words() {
  return kGuessing;
}
std::span<const FormRow> code_openings() {
  return kCodeOpenings;
}
std::span<const FormRow> waiting_words() {
  return kWaiting;
}

}  // namespace l4::detect
