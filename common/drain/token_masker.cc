#include "common/drain/token_masker.h"

#include <algorithm>
#include <cstring>

#include "common/base/find_bytes.h"
#include "common/drain/packed_words.h"

namespace l4::drain {
namespace {

constexpr std::size_t kHexMin = 6;  // shorter mixed hex may be a name (`eth0`, `bad1`)

constexpr PackedWords kAttachedUnits({"B",  "KB", "MB",  "GB",   "TB",  "KiB", "MiB", "GiB", "TiB",
                                      "kB", "K",  "M",   "G",    "T",   "k",   "b",   "ns",  "us",
                                      "ms", "s",  "sec", "m",    "min", "h",   "d",   "x",   "Gb",
                                      "Mb", "Hz", "kHz", "MHz",  "GHz", "th",  "st",  "nd",  "rd",
                                      "W",  "C",  "it",  "Gbps", "Mbps"});
constexpr PackedWords kSpacedUnits({"B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "kB",
                                    "ns", "us", "ms", "s", "sec", "secs"});

bool is_alnum(char c) {
  return has(c, kDigit | kLetter);
}

/// First letters of kSpacedUnits.
bool may_be_unit(char c) {
  return c == 'B' || c == 'K' || c == 'M' || c == 'G' || c == 'T' || c == 'k' || c == 'n' ||
         c == 'u' || c == 'm' || c == 's';
}

const char* end_of_run(const char* at, const char* end) {
  while (at != end && is_alnum(*at)) ++at;
  return at;
}

/// kPathEnd without blanks, because a token has none.
constexpr auto ends_path = [](auto byte) {
  return (byte == '"') | (byte == '\'') | (byte == '(') | (byte == ')') | (byte == ',') |
         ((byte >= ':') & (byte <= '>')) | (byte == '[') | (byte == ']') |
         ((byte >= '{') & (byte <= '}'));
};
static_assert([] {
  for (int byte = -128; byte < 128; ++byte)
    if (has(static_cast<char>(byte), kPathEnd) !=
        (ends_path(byte) != 0 || has(static_cast<char>(byte), kBlank)))
      return false;
  return true;
}());

bool all(const char* from, const char* to, std::uint8_t bits) {
  return std::all_of(from, to, [bits](char c) { return has(c, bits); });
}

/// Number of pieces of letters or of digits in a run.
std::size_t stretches(const char* at, const char* end) {
  std::size_t count = 1;
  for (const char* next = at + 1; next < end; ++next) {
    if (has(*next, kDigit) != has(*(next - 1), kDigit)) ++count;
  }
  return count;
}

}  // namespace

const char* TokenMasker::mask(const char* begin, const char* end) {
  begin_ = begin;
  end_ = end;
  size_ = wilds_ = words_ = 0;
  for (const char* at = begin; at < end_;) at = step(at);
  return end_;
}

bool TokenMasker::plain(const char* begin, const char*& end) {
  if (!has(*begin, kDigit)) return false;
  begin_ = begin;
  end_ = end;
  size_ = 0;
  const char* digits_end = std::find_if(begin, end, [](char c) { return !has(c, kDigit); });
  if (is_code(begin, begin, digits_end)) return false;
  if (has(end[-1], kDigit)) {
    unit(end);
    end = end_;
  }
  return true;
}

const char* TokenMasker::step(const char* at) {
  if (is_alnum(*at)) return run(at);
  if (*at == '/' && at + 1 != end_ && !has(at[1], kPathEnd | kDigit) && at[1] != '/' &&
      starts_piece()) {
    return path(at);
  }
  if (*at == kWild) {
    append_wild();
    return at + 1;
  }
  if (*at == '<' && end_ - at >= 3 && at[1] == '*' && at[2] == '>') {
    append_wild();
    return at + 3;
  }
  const bool before_digit = at + 1 != end_ && has(at[1], kDigit);
  if (before_digit && starts_piece()) {
    if (*at == '<' || *at == '>' || *at == '~') return at + 1;
    if (*at == '-' || *at == '+') return number(at, end_of_run(at + 1, end_));
  }
  if (*at == '%' && size_ > 0 && out_[size_ - 1] == kWild) return at + 1;
  append(*at);
  return at + 1;
}

bool TokenMasker::starts_piece() const {
  if (size_ == 0) return true;
  const char last = out_[size_ - 1];
  return last != kWild && last != ')' && last != ']' && !is_alnum(last);
}

const char* TokenMasker::run(const char* at) {
  const char* end = end_of_run(at, end_);
  if (const char* behind = groups(at, end); behind != nullptr) {
    append_wild();
    return behind;
  }
  if (has(*at, kDigit)) return number(at, end);
  if (end_ - end >= 3 && end[0] == ':' && (end[1] == '/' || end[1] == '\\') &&
      (end[1] == end[2] || end - at == 1)) {  // scheme:// or C:\ path
    return path(end + 1);
  }
  if (end - at >= 8 && all(at, end, kHexLetter)) {
    append_wild();
    return end;
  }
  if (std::any_of(at, end, [](char c) { return has(c, kDigit); })) return mixed(at, end);
  append_run(at, end);
  return end;
}

/// Masks a run that begins with a digit, or with a sign before a digit.
const char* TokenMasker::number(const char* at, const char* end) {
  const char* digits = has(*at, kDigit) ? at : at + 1;
  const char* letters = std::find_if(digits, end, [](char c) { return !has(c, kDigit); });
  const auto size = static_cast<std::size_t>(end - digits);
  if (letters == end ? is_code(at, digits, end)
                     : codes_.may_be_hex(size) && codes_.is_code(line_, {digits, size})) {
    if (at != digits) append(*at);
    append_run(digits, end);
    return end;
  }
  if (letters == end) {
    append_wild();
    return unit(end);
  }
  const bool exponent = letters + 1 == end && (*letters == 'e' || *letters == 'E') &&
                        end_ - end >= 2 && (*end == '-' || *end == '+') && has(end[1], kDigit);
  if (exponent) {
    append_wild();
    return std::find_if(end + 1, end_, [](char c) { return !has(c, kDigit); });
  }
  const std::string_view suffix(letters, static_cast<std::size_t>(end - letters));
  if (kAttachedUnits.contain(suffix) || all(digits, end, kDigit | kHexLetter) ||
      stretches(digits, end) > 2 || suffix.front() == 'x') {
    append_wild();
    return end;
  }
  append_wild();
  append_run(letters, end);
  return end;
}

/// True if the whole decimal number [digits, end), with its sign from `at` on, is a code.
bool TokenMasker::is_code(const char* at, const char* digits, const char* end) const {
  if (!codes_.may_be_decimal(static_cast<std::size_t>(end - digits))) return false;
  if (end_ - end > 1 && (*end == '.' || *end == '_') && is_alnum(end[1])) return false;
  // Digits that were kept before are a code; `0:9` is one code (Slurm's exit code and signal).
  if (size_ > 1 && out_[size_ - 1] == ':' && has(out_[size_ - 2], kDigit)) return true;
  return codes_.is_code(line_, {at, static_cast<std::size_t>(end - at)});
}

/// Masks a run of letters and digits that begins with a letter.
const char* TokenMasker::mixed(const char* at, const char* end) {
  const std::string_view run(at, static_cast<std::size_t>(end - at));
  if (codes_.is_prefixed(run)) {
    append_run(at, end);
  } else if ((run.size() >= kHexMin && all(at, end, kDigit | kHexLetter)) ||
             stretches(at, end) > 3) {
    append_wild();
  } else {
    for (const char* next = at; next != end; ++next) {
      if (!has(*next, kDigit)) {
        append(*next);
      } else if (out_[size_ - 1] != kWild) {
        append_wild();
      }
    }
  }
  return end;
}

const char* TokenMasker::path(const char* at) {
  bool query = false;  // the signs of a query behind `?` belong to the path
  const char* end = at;
  for (;; ++end) {
    end += find_kind({end, end_}, 0, ends_path);
    if (end == end_) break;
    const bool port = *end == ':' && end + 1 != end_ && has(end[1], kDigit);
    if (port) continue;
    const bool mark = *end == '=' || *end == ':' || *end == ',' || *end == ';';
    query = query || (mark && std::string_view(at, end).find('?') != std::string_view::npos);
    if (!mark || !query) break;
  }
  while (end - at > 1 && (end[-1] == '.' || end[-1] == '-')) --end;
  append_wild();
  return end;
}

/// End of the hex groups (uuid, MAC, IPv6) that begin with the run [at, end); null if there are
/// none.
const char* TokenMasker::groups(const char* at, const char* end) const {
  if (end == end_ || end - at > 8 || (*end != ':' && *end != '-')) return nullptr;
  if (!all(at, end, kDigit | kHexLetter)) return nullptr;
  const char separator = *end;
  if (separator == '-' ? end - at != 8 : end - at > 4) return nullptr;
  const auto hex_end = [&](const char* from) {
    while (from != end_ && has(*from, kDigit | kHexLetter)) ++from;
    return from;
  };
  std::size_t count = 1;
  bool digit = std::any_of(at, end, [](char c) { return has(c, kDigit); });
  while (end != end_ && *end == separator) {
    const char* next = hex_end(end + 1);
    if (next - end > 13 || (separator == ':' && next - end > 5)) return nullptr;
    digit = digit || std::any_of(end, next, [](char c) { return has(c, kDigit); });
    end = next;
    ++count;
  }
  if (end != end_ && is_alnum(*end)) return nullptr;
  return digit && (separator == '-' ? count == 5 : count >= 3) ? end : nullptr;
}

/// Skips a unit behind a blank at the end of this token; returns the position behind it.
const char* TokenMasker::unit(const char* at) {
  if (at != end_ || line_end_ - at < 2 || *at != ' ' || !may_be_unit(at[1])) return at;
  const char* end = end_of_run(at + 1, line_end_);
  if (!kSpacedUnits.contain({at + 1, static_cast<std::size_t>(end - at - 1)})) return at;
  const char* behind = end;
  while (behind != line_end_ && (*behind == ')' || *behind == ',' || *behind == ']')) ++behind;
  if (behind != line_end_ && !has(*behind, kBlank)) return at;
  end_ = behind;
  return end;
}

void TokenMasker::append(char c) {
  if (size_ == out_.size()) return;
  out_[size_++] = c;
  if (is_alnum(c)) ++words_;
}

void TokenMasker::append_run(const char* from, const char* to) {
  const std::size_t size = std::min(static_cast<std::size_t>(to - from), out_.size() - size_);
  std::memcpy(out_.data() + size_, from, size);
  size_ += size;
  words_ += size;
}

void TokenMasker::append_wild() {
  if (size_ > 0 && out_[size_ - 1] == kWild) return;
  if (size_ > 1 && out_[size_ - 2] == kWild && has(out_[size_ - 1], kJoin)) {
    --size_;
    return;
  }
  if (size_ == out_.size()) return;
  out_[size_++] = kWild;
  ++wilds_;
}

}  // namespace l4::drain
