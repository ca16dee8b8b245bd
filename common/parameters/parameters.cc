#include "common/parameters/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "common/parameters/blame.h"
#include "common/parameters/npu_codes.h"
#include "common/parameters/parameter_forms.h"
#include "common/parameters/parameter_keywords.h"
#include "common/parameters/parameter_words.h"
#include "common/wire/limits.h"

namespace l4::parameters {
namespace {

using namespace words;
using wire::kParameterBytesMax;
using wire::Parameter;
using wire::ParameterKind;

/// Walks a message word by word. A recogniser reads the rest from the current word on, adds the
/// values that it finds and returns how many bytes it has used (0: not its form).
class Scanner {
 public:
  Scanner(std::string_view text, std::vector<Parameter>& out) : text_(text), out_(out) {}

  /// True if the message may blame somebody.
  bool run() {
    while (at_ < text_.size() && out_.size() < kParametersMax) {
      const char c = text_[at_];
      if (!has(c, kWord) && c != '/' && c != ':') {  // begins neither a form nor a word
        ++at_;
        continue;
      }
      const char before = at_ == 0 ? ' ' : text_[at_ - 1];
      const bool at_start = !is_word(before);
      const std::size_t used = !at_start ? 0 : is_letter(c) ? name(before) : recognise(before);
      at_ += std::max<std::size_t>(used, 1);
    }
    return complains_ || at_ < text_.size();
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  /// The byte this many bytes ahead; a blank beyond the end.
  char char_at(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : ' ';
  }

  void add(ParameterKind kind, std::string value) {
    if (value.empty() || out_.size() >= kParametersMax) return;
    if (value.size() > kParameterBytesMax) value.resize(kParameterBytesMax);
    Parameter parameter{kind, std::move(value)};
    if (std::ranges::find(out_, parameter) == out_.end()) out_.push_back(std::move(parameter));
  }

  /// Reads a value that begins with no letter.
  std::size_t recognise(char before) {
    const char c = text_[at_];
    if (c == '/') return path(before);
    if (is_digit(c) && is_bare_number()) return duration(before);
    if (c == '0')
      if (const auto used = npu(npu_code_in_table(rest(), text_.substr(0, at_)))) return used;
    if (is_digit(c) || c == ':') {
      if (const auto used = pci(before)) return used;
      if (const auto used = address(before)) return used;
    }
    return is_digit(c) ? duration(before) : 0;
  }

  /// Reads a value that begins with a letter; uses up at least the word.
  std::size_t name(char before) {
    const std::size_t letters = front_while(rest(), is_letter).size();
    complains_ = complains_ || is_complaint(rest().substr(0, letters));
    // Letters alone, as most words: no address, device or host can begin here.
    if (const char behind = char_at(letters); !has(behind, kWord | kHost) && behind != ':')
      return word(rest().substr(0, letters));
    const auto stem = letters + front_while(rest().substr(letters), [](char c) {
                                  return is_letter(c) || c == '_';
                                }).size();
    const auto whole = rest().substr(0, stem + front_while(rest().substr(stem), is_word).size());
    if (stem > letters) complains_ = complains_ || is_complaint(whole.substr(0, stem));
    if (char_at(whole.size()) == ':') {
      if (const auto used = pci(before)) return used;
      if (is_hex(whole.front()))
        if (const auto used = address(before)) return used;
    }
    std::size_t used = keyword(whole.substr(0, stem));
    if (used == 0 && (whole.front() == 'E' || whole.front() == 'W')) used = code(whole);
    if (used == 0 && whole.front() == 'S') used = signal_name();
    if (used == 0 && is_digit(whole.back())) used = device_name(whole);
    if (used == 0) used = host();
    return used != 0 ? used : plain(whole);
  }

  /// A word that says nothing by itself.
  std::size_t plain(std::string_view word) {
    earlier_ = std::exchange(previous_, word);
    return word.size();
  }

  std::size_t word(std::string_view letters) {
    std::size_t used = keyword(letters);
    if (used == 0 && letters.front() == 'S') used = signal_name();
    return used != 0 ? used : plain(letters);
  }

  /// Digits with at most two points: no address can begin here.
  bool is_bare_number() const {
    std::size_t end = at_;
    int points = 0;
    for (; end < text_.size() && (is_digit(text_[end]) || text_[end] == '.'); ++end)
      points += text_[end] == '.' ? 1 : 0;
    return points < 3 && (end == text_.size() || !(has(text_[end], kWord) || text_[end] == ':'));
  }

  std::size_t path(char before) {
    if (before == '.' || before == ':' || before == '/' || before == '<' || before == '>') return 0;
    std::string_view found = front_while(rest(), is_path);
    const std::size_t used = found.size();
    while (!found.empty() && std::string_view(".,=").find(found.back()) != std::string_view::npos)
      found.remove_suffix(1);
    if (found.size() < 3 || !is_word(found[1])) return 0;
    add(ParameterKind::path, std::string(found));
    return used;
  }

  /// dddd:bb:dd[.f]; without the function `.f` only behind "PCI:" or "GPU".
  std::size_t pci(char before) {
    std::string_view text = rest();
    std::size_t used = 0;
    for (const std::string_view prefix : {"PCI:", "GPU"})
      if (text.starts_with(prefix)) used = prefix.size();
    text.remove_prefix(used);
    const auto hex_run = [&](std::size_t from) {
      return front_while(text.substr(std::min(from, text.size())), is_hex).size();
    };
    const std::size_t domain = hex_run(0);
    if ((domain != 4 && domain != 8) || hex_run(domain + 1) != 2 || hex_run(domain + 4) != 2)
      return 0;
    if (text[domain] != ':' || text[domain + 3] != ':') return 0;
    std::size_t size = domain + 6;
    const bool function = text.size() > size + 1 && text[size] == '.' && is_digit(text[size + 1]);
    if (function) size += 2;
    if (!function && (used == 0 || (text.size() > size && text[size] == ':'))) return 0;
    if (before == ':' && used == 0) return 0;
    add(ParameterKind::device, "PCI:" + std::string(text.substr(0, size)));
    return used + size;
  }

  std::size_t address(char before) {
    if (const auto size = ipv4_size(rest()); size != 0 && before != '.' && before != '-') {
      const std::string_view found = rest().substr(0, size);
      if (found != "0.0.0.0") add(ParameterKind::address, std::string(found));
      return size + port_size(rest().substr(size));
    }
    const std::string_view found =
        front_while(rest(), [](char c) { return is_hex(c) || c == ':' || c == '.'; });
    if (found.size() < 3) return 0;
    const auto colons = std::ranges::count(found, ':');
    const bool short_form = colons <= 7 && found.find("::") != std::string_view::npos;
    if (!short_form && colons != 7) return 0;
    const char behind = found.size() < rest().size() ? rest()[found.size()] : ' ';
    if (is_word(behind)) return 0;  // c10::Error, a::b
    constexpr std::string_view kMapped = "::ffff:";
    if (found.starts_with(kMapped) && ipv4_size(found.substr(kMapped.size())) != 0)
      add(ParameterKind::address, std::string(found.substr(kMapped.size())));
    else
      add(ParameterKind::address, std::string(found));
    return found.size();
  }

  std::size_t duration(char before) {
    const auto digits = front_while(rest(), [](char c) { return is_digit(c) || c == '.'; });
    if (before == '.' || before == ':') return digits.size();
    std::string_view behind = rest().substr(digits.size());
    const bool blank = behind.starts_with(' ');
    if (blank) behind.remove_prefix(1);
    if (behind.empty() || !(behind[0] == 'm' || behind[0] == 's' || behind[0] == 'h'))
      return digits.size();
    const auto word = front_while(behind, is_word);
    const auto unit = std::ranges::find(kUnits, word, &Unit::name);
    if (unit == kUnits.end()) return digits.size();
    add_duration(digits, unit->ms);
    return digits.size() + (blank ? 1 : 0) + word.size();
  }

  void add_duration(std::string_view digits, double ms_per_unit) {
    double value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const double ms = std::round(value * ms_per_unit);
    if (code != std::errc{} || end == digits.data() || ms > 1e15) return;
    add(ParameterKind::duration_ms, std::to_string(static_cast<long long>(ms)));
  }

  /// The integer behind separators, with its end counted from `from`; empty if none follows.
  struct Number {
    std::string_view digits;
    std::size_t end = 0;
  };
  std::optional<Number> number(std::size_t from, std::string_view separators) const {
    const std::string_view text = rest();
    std::size_t start = text.find_first_not_of(separators, from);
    if (start == std::string_view::npos || start > from + 8) return std::nullopt;
    const std::size_t sign = text[start] == '-' ? 1 : 0;
    const auto digits = front_while(text.substr(start + sign), is_digit);
    if (digits.empty() || digits.size() > 12) return std::nullopt;
    return Number{text.substr(start, sign + digits.size()), start + sign + digits.size()};
  }

  std::size_t npu(NpuCode&& code) {
    if (code.size == 0) return 0;
    add(ParameterKind::code, std::move(code.value));
    return code.size;
  }

  /// `word` is the text here up to the next character that is not a letter.
  std::size_t keyword(std::string_view word) {
    if (const auto used = npu(npu_code_after_phrase(rest()))) return used;
    const std::size_t size = word.size();
    const Keyword found = keyword_of(word);
    if (found == Keyword::none) return 0;
    if (found == Keyword::rank) return rank(size);
    if (found == Keyword::xid) return xid(size, "Xid ");
    if (found == Keyword::sxid) return xid(size, "SXid ");
    if (found == Keyword::http) return http(size);
    if (found == Keyword::timeout) return timeout(size);
    if (found == Keyword::cuda) return indexed(size, ":", "cuda:");
    if (found == Keyword::npu) return indexed(size, ":", "npu:");
    if (found == Keyword::gpu) return indexed(size, " :#", "GPU ");
    if (found == Keyword::device) return indexed(size, " :=[#", "device ");
    if (found == Keyword::errno_value) return simple(size, ParameterKind::errno_value, "");
    if (found == Keyword::error) return error(size);
    if (found == Keyword::signal) return signal_number(size);
    if (found == Keyword::exit_code) return simple(size, ParameterKind::exit_code, "");
    return code_or_status(size, found);
  }

  std::size_t timeout(std::size_t size) {
    if (!rest().substr(size).starts_with("(ms)=")) return 0;
    const auto found = number(size + 5, " ");
    if (found) add_duration(found->digits, 1);
    return found ? found->end : 0;
  }

  std::size_t error(std::size_t size) {
    if (same(previous_, "os")) return simple(size, ParameterKind::errno_value, "");
    return same(previous_, "with") ? simple(size, ParameterKind::code, "error ") : 0;
  }

  /// "exit code 1", "exited with code 1", "return status 1", "exited with status
  /// code 1"; "status code 503".
  std::size_t code_or_status(std::size_t size, Keyword word) {
    const bool code = word == Keyword::code;
    const bool exited =
        code && same(previous_, "with") && (same(earlier_, "exited") || same(earlier_, "exits"));
    if (exited || same(previous_, "exit") || same(previous_, "return"))
      return simple(size, ParameterKind::exit_code, "");
    if (!code || !same(previous_, "status")) return 0;
    constexpr std::size_t kHttpDigits = 3;
    const auto found = number(size, " :=");
    if (!found || found->digits.size() == kHttpDigits)
      return simple(size, ParameterKind::code, "HTTP ");
    return same(earlier_, "with") ? simple(size, ParameterKind::exit_code, "") : 0;
  }

  std::size_t simple(std::size_t size, ParameterKind kind, const char* prefix) {
    const auto found = number(size, " :=");
    if (!found) return 0;
    add(kind, prefix + std::string(found->digits));
    return found->end;
  }

  std::size_t indexed(std::size_t size, std::string_view separators, const char* prefix) {
    const auto found = number(size, separators);
    if (!found || found->digits.front() == '-') return 0;
    const std::string_view behind = rest().substr(found->end);
    if (!behind.empty() && (is_word(behind.front()) || behind.front() == '.')) {
      if (behind.size() > 1 && is_word(behind[1])) return 0;  // "GPU 80GB", "device 1.5"
    }
    add(ParameterKind::device, prefix + std::string(found->digits));
    return found->end;
  }

  std::size_t rank(std::size_t size) {
    auto found = number(size, " :=[#");
    if (!found || found->digits.front() == '-') return 0;
    std::size_t end = 0;
    while (found) {  // "Ranks 1, 2, 5 failed"
      add(ParameterKind::rank, std::string(found->digits));
      end = found->end;
      found = rest().substr(end).starts_with(", ") ? number(end + 2, "") : std::nullopt;
      if (!begins(rest(), "ranks")) break;
    }
    return end;
  }

  std::size_t xid(std::size_t size, const char* prefix) {
    std::size_t from = size;
    if (const auto open = rest().find_first_not_of(' ', size);
        open != std::string_view::npos && rest()[open] == '(') {
      const auto close = rest().find(')', open);
      if (close == std::string_view::npos || close > open + 40) return 0;
      Scanner(rest().substr(open + 1, close - open - 1), out_).run();
      from = close + 1;
    }
    const auto found = number(from, " :=");
    if (!found) return 0;
    add(ParameterKind::code, prefix + std::string(found->digits));
    return found->end;
  }

  /// "HTTP 503", "HTTP/1.1 503", "HTTP/1.1\" 503".
  std::size_t http(std::size_t size) {
    std::size_t from = size;
    if (rest().substr(from).starts_with("/"))
      from += 1 + front_while(rest().substr(from + 1), [](char c) {
                    return is_digit(c) || c == '.';
                  }).size();
    const auto found = number(from, " :\"");
    if (!found || found->digits.size() != 3) return 0;
    add(ParameterKind::code, "HTTP " + std::string(found->digits));
    return found->end;
  }

  std::size_t signal_number(std::size_t size) {
    const auto found = number(size, " :=");
    if (!found || found->digits.size() > 2) return 0;
    const int value = std::stoi(std::string(found->digits));
    const auto known = std::ranges::find_if(kSignals, [&](auto& s) { return s.first == value; });
    add(ParameterKind::signal, known != kSignals.end() ? std::string(known->second)
                                                       : "signal " + std::string(found->digits));
    return found->end;
  }

  std::size_t signal_name() {
    if (!rest().starts_with("SIG")) return 0;
    const auto name = front_while(rest(), [](char c) { return is_upper(c) || is_digit(c); });
    const bool known = std::ranges::any_of(kSignals, [&](auto& s) { return s.second == name; });
    if (known) add(ParameterKind::signal, std::string(name));
    return known ? name.size() : 0;
  }

  /// EI0002, EE9999, E39999, W40010, ERR02005.
  std::size_t code(std::string_view word) {
    const bool npu =
        word.size() == 6 &&
        (word.starts_with("W4") || (word[0] == 'E' && (is_upper(word[1]) || is_digit(word[1]))));
    const bool err = word.size() == 8 && word.starts_with("ERR");
    if (!npu && !err) return 0;
    if (!std::ranges::all_of(word.substr(npu ? 2 : 3), is_digit)) return 0;
    add(ParameterKind::code, std::string(word));
    return word.size();
  }

  /// `word` ends with a digit.
  std::size_t device_name(std::string_view word) {
    if (word.size() < 3) return 0;
    const auto stem = front_while(word, is_letter);
    const bool tail_is_number = std::ranges::all_of(word.substr(stem.size()), is_digit);
    const bool net = tail_is_number && (stem == "eth" || stem == "ib" || stem == "bond");
    const bool disk = stem == "nvme" && word.find('n', stem.size()) != std::string_view::npos;
    const bool hca = (stem == "mlx" || stem == "hfi" || stem == "bnxt" || stem == "irdma") &&
                     word.find('_') != std::string_view::npos;
    if (!net && !disk && !hca) return 0;
    std::size_t size = word.size();
    if (hca && rest().substr(size).starts_with(":"))
      if (const auto index = front_while(rest().substr(size + 1), is_digit); !index.empty())
        size += 1 + index.size();
    add(ParameterKind::device, std::string(rest().substr(0, size)));
    return size;
  }

  std::size_t host() {
    std::string_view word = front_while(rest(), is_host);
    while (!word.empty() && !is_word(word.back())) word.remove_suffix(1);
    if (word.size() < 3 || std::ranges::none_of(word, is_digit)) return 0;
    const auto named_by = [&](std::string_view prefix) { return begins(word, prefix); };
    const bool named = std::ranges::any_of(kHostPrefixes, named_by);
    const auto follows = [&](std::string_view low) { return same(previous_, low); };
    const bool introduced = std::ranges::any_of(kBeforeHost, follows);
    const char behind = word.size() < rest().size() ? rest()[word.size()] : ' ';
    if (begins(word, "rank") || behind == '/' || behind == '=') return 0;
    if (follows("gpu") || follows("numa")) return 0;  // "GPU node-8": a device
    const bool infix = has_node_infix(word);
    if (!named && !infix && !introduced) return 0;
    add(ParameterKind::host, std::string(word));
    return word.size();
  }

  std::string_view text_;
  std::vector<Parameter>& out_;
  std::size_t at_ = 0;
  bool complains_ = false;
  std::string_view previous_, earlier_;  ///< the two words before the current one
};

}  // namespace

void extract(std::string_view message, std::vector<wire::Parameter>& out) {
  out.clear();
  if (Scanner(message, out).run()) mark_blamed(message, out);
}

void extract(std::string_view message, std::string_view details,
             std::vector<wire::Parameter>& out) {
  extract(message, out);
  if (details.empty()) return;
  std::string whole(message);
  mark_blamed(whole.append(1, '\n').append(details), out);
}

}  // namespace l4::parameters
