#include "common/parameters/blame.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "common/base/ascii.h"
#include "common/parameters/blame_forms.h"
#include "common/parameters/parameter_forms.h"
#include "common/parameters/parameter_words.h"
#include "common/parameters/parameters.h"
#include "common/wire/limits.h"

namespace l4::parameters {
namespace {

using namespace words;
using wire::Parameter;
using wire::ParameterKind;

constexpr std::size_t kTextMax = 2048;
constexpr std::size_t kTokens = 192;
constexpr std::size_t kMentions = 24;
constexpr std::size_t kGap = 2;     // blanks between the cells of a row
constexpr std::size_t kReach = 12;  // tokens between a complaint and the named one

enum class Kind : std::uint8_t { word, number, name, range, address, mark };

struct Token {
  Kind kind = Kind::mark;
  std::string_view text;
  bool cell = false;  ///< the first cell of a row: a gap follows
  char mark() const { return kind == Kind::mark ? text[0] : '\0'; }
};

template <class Table>
auto find_word(const Table& table, std::string_view word) -> decltype(table.of(word).data()) {
  for (const auto& entry : table.of(word))
    if (same(word, entry.low)) return &entry;
  return nullptr;
}

bool is_host_start(std::string_view name) {
  return std::ranges::any_of(kNodeFronts,
                             [&](std::string_view low) { return begins(name, low); }) ||
         has_node_infix(name);
}

/// "train.py", "0fc14938add3345146c57e92449e77a584": files and hashes.
bool is_no_host(std::string_view name) {
  constexpr std::array<std::string_view, 11> kFiles{"py",  "cc",  "cpp",  "cu",   "h",  "c",
                                                    "log", "txt", "json", "yaml", "out"};
  constexpr std::size_t kHashMin = 16, kHostMax = 63;
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && equals_one_of(name.substr(dot + 1), kFiles)) return true;
  const auto hashed = [](char c) { return is_hex(c) || c == '-'; };
  return name.size() > kHostMax || (name.size() >= kHashMin && std::ranges::all_of(name, hashed)) ||
         begins(name, "rank");
}

/// "default." of "default.bert-worker-4": operators print name space and name so. In a name with
/// its domain the first part is the one with the number.
std::size_t name_space_size(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || !is_digit(name.back())) return 0;
  const std::string_view space = name.substr(0, dot), own = name.substr(dot + 1);
  const bool numbered = own.find('-') != std::string_view::npos &&
                        own.find('.') == std::string_view::npos && is_letter(own[0]);
  return numbered && std::ranges::none_of(space, is_digit) ? dot + 1 : 0;
}

/// Cuts a text into words, numbers, names and marks.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text.substr(0, kTextMax)) {
    while (at_ < text_.size() && size_ < kTokens) {
      const char c = text_[at_];
      if (is_word(c))
        value();
      else if (c == ' ' || c == '\t' || c == '\r')
        ++at_;
      else
        mark();
    }
  }
  std::size_t size() const { return size_; }
  const Token& operator[](std::size_t i) const { return tokens_[i]; }

 private:
  void add(Kind kind, std::size_t bytes) {
    if (size_ < kTokens) tokens_[size_++] = {kind, text_.substr(at_, bytes)};
    at_ += bytes;
  }

  /// A rule of one sign is one mark, however long: launchers print tables.
  void mark() {
    constexpr std::size_t kRule = 4;
    const std::size_t end = std::min(text_.find_first_not_of(text_[at_], at_), text_.size());
    add(Kind::mark, end - at_ >= kRule ? end - at_ : 1);
  }

  void value() {
    const std::string_view rest = text_.substr(at_);
    if (const std::size_t size = is_digit(rest[0]) ? ipv4_size(rest) : 0; size != 0) {
      add(Kind::address, size);
      at_ += port_size(text_.substr(at_));
      return;
    }
    std::size_t size = 0;
    while (size < rest.size() && (is_word(rest[size]) || is_host(rest[size]))) ++size;
    while (!is_word(rest[size - 1])) --size;
    const std::string_view text = rest.substr(0, size);
    const auto letter = [](char c) { return is_letter(c) || c == '_'; };
    const std::string_view stem = front_while(text, letter);
    if (stem.size() == size) return add(Kind::word, size);
    const std::size_t digits = front_while(text.substr(stem.size()), is_digit).size();
    if (digits == size) return add(Kind::number, size);
    if (std::ranges::none_of(text, is_letter)) return add(Kind::range, size);
    const bool numbered = stem.size() + digits == size;
    const Noun* noun = numbered ? find_word(kNouns, stem) : nullptr;
    if (noun != nullptr && noun->named != Named::node && !same(stem, "worker")) {  // "rank3"
      add(Kind::word, stem.size());
      return add(Kind::number, size - stem.size());
    }
    add(Kind::name, size);
    const std::string_view gap = text_.substr(at_, kGap);
    if (size_ == 1 && (gap.starts_with('\t') || gap == "  ")) tokens_[0].cell = true;
    const std::size_t port = port_size(text_.substr(at_));
    if (port > 2) at_ += port;
  }

  std::string_view text_;
  std::size_t at_ = 0, size_ = 0;
  std::array<Token, kTokens> tokens_;
};

/// Values that a noun names, as tokens.
struct Mention {
  std::size_t begin = 0, end = 0;  ///< tokens, end behind the last
  Named named = Named::nothing;
  std::array<std::size_t, kBlamedMax> values{};
  std::size_t count = 0;
  bool label = false;  ///< of the one who speaks
  bool field = false;  ///< on a line of its own, or with a quoted key
  bool blamed = false;
};

class BlameReader {
 public:
  explicit BlameReader(std::string_view text) : tokens_(text) {}

  void read(std::vector<Parameter>& out) {
    if (!complains()) return;
    for (std::size_t i = 0; i < tokens_.size() && count_ < kMentions;) {
      if (!may_mention(tokens_[i])) {
        ++i;
        continue;
      }
      Mention found = mention(i);
      if (found.end <= i) {
        ++i;
        continue;
      }
      i = found.end;
      if (found.count > 0) mentions_[count_++] = found;
    }
    note_absent();
    if (count_ == 0) return;
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Complaint* found = complaint(i);
      if (found == nullptr) continue;
      if (!first) first = i;
      blame(i, found->side);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const Mention& one = mentions_[i];
      if (one.blamed || (one.field && first && one.begin > *first) || is_listed(one)) put(one, out);
    }
  }

 private:
  bool has_mark(std::size_t i, char mark) const {
    return i < tokens_.size() && tokens_[i].mark() == mark;
  }
  /// "[5] finished collective #7, but didn't join collective #8": a list of numbers in front of
  /// what these did not do.
  void note_absent() {
    std::size_t at = 0;
    while (has_mark(at, '-') || has_mark(at, '*')) ++at;
    if (!has_mark(at, '[') || count_ == kMentions) return;
    Mention found;
    found.begin = at;
    found.named = Named::rank;
    for (++at; at < tokens_.size() && tokens_[at].kind == Kind::number;
         at = has_mark(at, ',') ? at + 1 : at) {
      if (found.count == kBlamedMax) return;
      found.values[found.count++] = at++;
    }
    if (found.count == 0 || !has_mark(at, ']')) return;
    found.end = at + 1;
    bool denied = false;
    for (; at < tokens_.size() && !found.blamed; ++at) {
      denied |= is(at, "didn") || is(at, "not");
      found.blamed = denied && (is(at, "join") || is(at, "joined") || is(at, "enter") ||
                                is(at, "entered") || is(at, "reach") || is(at, "reached"));
    }
    if (found.blamed) mentions_[count_++] = found;
  }

  bool is(std::size_t i, std::string_view low) const {
    return i < tokens_.size() && tokens_[i].kind == Kind::word && same(tokens_[i].text, low);
  }

  const Complaint* complaint(std::size_t i) const {
    if (tokens_[i].kind != Kind::word && tokens_[i].kind != Kind::name) return nullptr;
    const Complaint* found = find_word(kComplaints, tokens_[i].text);
    if (found != nullptr && found->low == "memory" && (i == 0 || !is(i - 1, "of"))) return nullptr;
    return found;
  }
  bool complains() const {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (complaint(i) != nullptr) return true;
    return false;
  }

  bool is_value(const Token& token, Named named) const {
    if (named == Named::node || named == Named::rank_or_node) {
      if (token.kind == Kind::address) return token.text != "0.0.0.0" && token.text != "127.0.0.1";
      if (token.kind == Kind::name && !is_no_host(token.text)) return true;
    }
    constexpr std::size_t kDigitsMax = 7;
    return named != Named::node && token.kind == Kind::number && token.text.size() <= kDigitsMax;
  }

  /// False for most tokens: no mention begins with them.
  static bool may_mention(const Token& token) {
    if (token.kind == Kind::word) return find_word(kNouns, token.text) != nullptr;
    return token.kind == Kind::name;
  }

  /// The mention that begins with token `i`; `end` is 0 if none does.
  Mention mention(std::size_t i) const {
    Mention found;
    found.begin = i;
    const Token& token = tokens_[i];
    // "cn-3: task 5: Exited": srun names the host first.
    const bool heads = has_mark(i + 1, ':') && (is(i + 2, "task") || is(i + 2, "tasks"));
    // "GPU node-8": the number of a device in ROCm's topology.
    const bool device = i > 0 && (is(i - 1, "gpu") || is(i - 1, "numa"));
    // "bert-worker-2   0/1   OOMKilled   0   28m": a row of a table of pods or nodes.
    if (token.kind == Kind::name && !device && (heads || token.cell || is_host_start(token.text)) &&
        !is_no_host(token.text)) {
      found.named = Named::node;
      return with_values(found, i);
    }
    const Noun* noun = token.kind == Kind::word ? find_word(kNouns, token.text) : nullptr;
    if (noun == nullptr) return found;
    found.named = noun->named;
    if (noun->named != Named::node && i > 0 && tokens_[i - 1].kind == Kind::word) {
      const std::string_view before = tokens_[i - 1].text;
      if (equals_one_of(before, kOtherRanks) || same(before, "dataloader") ||
          same(before, "loader"))
        return found;
      if (same(before, "local")) found.named = Named::local_rank;
    }
    if (begins(token.text, "task") && is_of_other_job(i)) return found;
    if (const std::size_t at = value_behind_complaint(i, *noun); at != 0)
      return with_values(found, at);
    return with_values(found, value_behind(i));
  }

  /// TensorFlow numbers the tasks of each kind: those of parameter servers are no ranks.
  bool is_of_other_job(std::size_t i) const {
    constexpr std::size_t kNear = 8;
    for (std::size_t k = i > kNear ? i - kNear : 0; k < i; ++k)
      if (is(k, "ps") || is(k, "chief") || is(k, "evaluator")) return true;
    return false;
  }

  /// "Node failure on frontier00123": the name behind a complaint of which the noun tells the kind;
  /// 0 if none is there.
  std::size_t value_behind_complaint(std::size_t i, const Noun& noun) const {
    constexpr std::size_t kName = 3;
    if (noun.named != Named::node || i + kName >= tokens_.size()) return 0;
    if (complaint(i + 1) == nullptr) return 0;
    return (is(i + 2, "on") || is(i + 2, "of") || has_mark(i + 2, ':')) ? i + kName : 0;
  }

  /// The token behind the noun `i` where its value is expected.
  std::size_t value_behind(std::size_t i) const {
    constexpr std::string_view kMarks = ":=#[]<(\"'`{/\n";
    std::size_t at = i + 1;
    for (const std::size_t last = i + 7; at < last && at < tokens_.size(); ++at) {
      const Token& token = tokens_[at];
      if (token.kind == Kind::mark && kMarks.contains(token.text[0])) continue;
      if (is(at, "id") || is(at, "ids") || is(at, "name") || is(at, "s") || has_mark(at, ')'))
        continue;
      // "pod default/train-worker-2": the name space
      const bool pod = begins(tokens_[i].text, "pod");
      if (pod && token.kind == Kind::word && has_mark(at + 1, '/')) continue;
      break;
    }
    return at;
  }

  Mention with_values(Mention found, std::size_t at) const {
    if (at >= tokens_.size()) return found;
    if (tokens_[at].kind == Kind::range) {  // "tasks 0-7": nobody is singled out
      found.end = at + 1;
      return found;
    }
    if (!is_value(tokens_[at], found.named)) return found;
    const bool rows = has_mark(at - 1, '\n');
    bool many = false;
    for (;;) {
      if (found.count == kBlamedMax)
        many = true;
      else
        found.values[found.count++] = at;
      found.end = at + 1;
      const std::size_t next = rows ? next_row(at) : next_in_list(at);
      if (next == 0 || !is_value(tokens_[next], found.named)) break;
      at = next;
    }
    found.label = is_label(found);
    found.field = is_field(found);
    if (many) found.count = 0;
    return found;
  }

  /// "1, 2 and 5", "[1, 2]": the token of the next value; 0 if the list ends.
  std::size_t next_in_list(std::size_t at) const {
    std::size_t next = at + 1;
    if (has_mark(next, ',')) ++next;
    if (is(next, "and")) ++next;
    return next > at + 1 && next < tokens_.size() ? next : 0;
  }

  /// A line for each, as Horovod prints missing ranks: "2: [tensor, ..]".
  std::size_t next_row(std::size_t at) const {
    if (!has_mark(at + 1, ':')) return 0;
    for (std::size_t i = at + 1; i + 2 < tokens_.size(); ++i)
      if (has_mark(i, '\n'))
        return tokens_[i + 1].kind == Kind::number && has_mark(i + 2, ':') ? i + 1 : 0;
    return 0;
  }

  /// "[Rank 3] text", "[PG 0 Rank 3]", "Rank 3: text", "worker[4711]: text": the speaker names
  /// itself.
  bool is_label(const Mention& found) const {
    if (has_mark(found.begin + 1, '[') && has_mark(found.end, ']') && has_mark(found.end + 1, ':'))
      return true;
    if (!begins(tokens_[found.begin].text, "rank")) return false;
    constexpr std::size_t kTag = 16;
    if (has_mark(found.end, ']'))
      for (std::size_t i = found.begin; i > 0 && found.begin - i < kTag; --i)
        if (has_mark(i - 1, '[') || has_mark(i - 1, ']')) return has_mark(i - 1, '[');
    return found.begin <= 1 && has_mark(found.end, ':') && found.count == 1;
  }

  bool is_field(const Mention& found) const {
    if (found.begin == 0) return false;
    const std::size_t behind = found.begin + 1;
    if (has_mark(found.begin - 1, '"'))
      return has_mark(behind, '"') && (has_mark(behind + 1, ':') || has_mark(behind + 1, '='));
    // "Worker IP address: 10.0.0.7" may stand anywhere.
    const bool place = found.named == Named::node && tokens_[found.begin].kind == Kind::word;
    if (place && has_mark(behind, '=')) return true;  // logfmt: "Pod failed: .. pod=worker-2"
    return has_mark(behind, ':') && (place || has_mark(found.begin - 1, '\n'));
  }

  /// In a row below a line that complains and ends with a colon, or in a box ("=   RANK 3 PID ..").
  bool is_listed(const Mention& one) const {
    bool named = true;  // so far every row names somebody
    for (std::size_t i = one.begin; i > 1 && named; --i) {
      if (!has_mark(i - 1, '\n')) continue;
      const bool head = has_mark(i - 2, ':') || has_mark(0, '=');
      named = false;
      std::size_t from = i - 1;
      for (; from > 0 && !has_mark(from - 1, '\n'); --from) {
        if (head && complaint(from - 1) != nullptr) return true;
        named = named || std::ranges::any_of(mentions_.begin(), mentions_.begin() + count_,
                                             [&](const Mention& m) { return m.begin == from - 1; });
      }
      if (head) return false;
    }
    return false;
  }

  /// The mention that holds token `i`.
  Mention* holding(std::size_t i) {
    for (std::size_t k = 0; k < count_; ++k)
      if (mentions_[k].begin <= i && i < mentions_[k].end) return &mentions_[k];
    return nullptr;
  }

  enum class Between : std::uint8_t { nothing, links, directs };
  Between between(std::size_t i) const {
    const Token& token = tokens_[i];
    if (token.kind == Kind::number) return Between::links;
    if (token.kind == Kind::name)
      return is_digit(token.text[0]) ? Between::links : Between::nothing;
    if (token.kind == Kind::mark)
      return std::string_view(".;\n").contains(token.text[0]) ? Between::nothing : Between::links;
    if (token.kind != Kind::word) return Between::nothing;
    if (token.text.size() == 1) return Between::links;
    if (find_word(kNouns, token.text) != nullptr) return Between::links;
    const LinkWord* link = find_word(kLinks, token.text);
    if (link == nullptr) return Between::nothing;
    return link->directs ? Between::directs : Between::links;
  }

  void blame(std::size_t at, Side side) {
    const auto may = [&](Side one) {
      return (static_cast<unsigned>(side) & static_cast<unsigned>(one)) != 0;
    };
    const bool directed = may(Side::behind) && blame_behind(at);
    if (!directed && may(Side::before)) blame_before(at);
  }

  /// True if the complaint is about one behind it, and not only about what happened there.
  bool blame_behind(std::size_t at) {
    bool directed = false, found = false;
    std::size_t last = at + kReach;
    for (std::size_t i = at + 1; i <= last && i < tokens_.size();) {
      if (Mention* const one = holding(i); one != nullptr) {
        one->blamed = true;
        found = true;
        i = one->end;
        last = i + 2;
        continue;
      }
      const Between kind = between(i);
      // Something else has begun behind a comma.
      if (kind == Between::nothing || has_mark(i, ',') || (is(i, "and") && found)) break;
      if (kind == Between::directs && !found) directed = true;
      ++i;
    }
    return directed && found;
  }

  void blame_before(std::size_t at) {
    for (std::size_t i = at, steps = 0; i > 0 && steps < kReach; ++steps) {
      if (Mention* const one = holding(i - 1); one != nullptr) {
        if (one->label) return;
        one->blamed = true;
        i = one->begin;
        continue;
      }
      // "failed: rank 3 exited": another complaint has its own.
      if (complaint(i - 1) != nullptr && !is(i - 1, "not")) return;
      if (between(i - 1) == Between::nothing) return;
      --i;
    }
  }

  void put(const Mention& one, std::vector<Parameter>& out) const {
    for (std::size_t i = 0; i < one.count; ++i) {
      const Token& token = tokens_[one.values[i]];
      Parameter value{ParameterKind::rank, std::string(token.text), true};
      if (token.kind == Kind::number) {
        value.value.erase(0, std::min(value.value.find_first_not_of('0'), value.value.size() - 1));
        if (one.named == Named::local_rank) {
          value.kind = ParameterKind::device;
          value.value.insert(0, "local rank ");
        }
      } else if (token.kind == Kind::address) {
        value.kind = ParameterKind::address;
      } else {
        value.kind = ParameterKind::host;
        value.value.resize(std::min(value.value.find('_'), value.value.size()));
        value.value.erase(0, name_space_size(value.value));
      }
      if (value.value.size() > wire::kParameterBytesMax) continue;
      const auto known = std::ranges::find_if(out, [&](const Parameter& other) {
        return other.kind == value.kind && other.value == value.value;
      });
      if (known != out.end())
        known->blamed = true;
      else if (out.size() < kParametersMax)
        out.push_back(std::move(value));
      else if (!out.back().blamed)
        out.back() = std::move(value);
    }
  }

  Lexer tokens_;
  std::array<Mention, kMentions> mentions_;
  std::size_t count_ = 0;
};

/// Where a table of several failures singles one out under a heading of its own, the text from
/// there on: "Root Cause (first observed failure):".
std::string_view singled_out(std::string_view text) {
  for (std::size_t line = text.find('\n'); line != text.npos; line = text.find('\n', line + 1)) {
    const std::string_view rest = text.substr(line + 1);
    const std::size_t start = std::min(rest.find_first_not_of(" \t"), rest.size());
    const std::string_view heading = rest.substr(start, rest.find('\n', start) - start);
    const std::string_view last = heading.substr(0, heading.find_last_not_of(" \t\r") + 1);
    if (!last.ends_with(':')) continue;
    const auto begins_with = [&](std::string_view low) { return begins(heading, low); };
    if (std::ranges::any_of(kSingledOut, begins_with)) return rest;
  }
  return text;
}

/// "local_rank 1 exited": the short form of a message, written into `buffer`.
std::string_view exited(std::string_view name, std::string_view number,
                        std::array<char, 32>& buffer) {
  auto to = buffer.begin();
  for (const std::string_view part : {name, number, std::string_view{" exited"}})
    to = std::ranges::copy(part, to).out;
  return {buffer.begin(), to};
}

/// "Command '[.., '--local_rank=1', ..]' died with ..", "['python', .., '--rank=3'] exits with ..":
/// the options of a command that ended tell which process it was. Gives "local_rank 1 exited",
/// however long the command, in `buffer`; else `text`.
std::string_view ended_command(std::string_view text, std::array<char, 32>& buffer) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOptions{
      {{"--local_rank", "local_rank "}, {"--local-rank", "local_rank "}, {"--rank", "rank "}}};
  constexpr std::array<std::string_view, 4> kEnds{" exit", " died ", " killed", " failed"};
  constexpr std::size_t kDigitsMax = 7;
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t start = std::min(line.find("['"), line.find("Command '"));
  if (start == line.npos) return text;
  const std::size_t end = line.find_last_of("'\"");
  const std::string_view tail = line.substr(end);
  if (std::ranges::none_of(kEnds, [&](std::string_view one) { return tail.contains(one); }))
    return text;
  const std::string_view command = line.substr(start, end - start);
  for (const auto& [option, name] : kOptions) {
    std::size_t at = command.find(option);
    if (at == command.npos) continue;
    at = command.find_first_not_of("= ',", at + option.size());
    if (at == command.npos) continue;
    const std::string_view value = front_while(command.substr(at), is_digit);
    if (value.empty() || value.size() > kDigitsMax) continue;
    return exited(name, value, buffer);
  }
  return text;
}

/// "-- Process 0 terminated with the following error:" of torch.multiprocessing.spawn, whose
/// processes are counted as ranks. Gives "rank 0 exited" in `buffer`; else `text`.
std::string_view spawned_process(std::string_view text, std::array<char, 32>& buffer) {
  constexpr std::string_view kFront = "-- Process ", kBack = " terminated ";
  constexpr std::size_t kDigitsMax = 5;
  const std::size_t at = text.find(kFront);
  if (at == text.npos) return text;
  const std::string_view rest = text.substr(at + kFront.size());
  const std::string_view number = front_while(rest, is_digit);
  if (number.empty() || number.size() > kDigitsMax ||
      !rest.substr(number.size()).starts_with(kBack))
    return text;
  return exited("rank ", number, buffer);
}

}  // namespace

bool is_complaint(std::string_view word) {
  return find_word(kComplaints, word) != nullptr;
}

void mark_blamed(std::string_view message, std::vector<Parameter>& out) {
  std::array<char, 32> buffer, spawned;
  const std::string_view text = spawned_process(singled_out(message), spawned);
  BlameReader(ended_command(text, buffer)).read(out);
}

}  // namespace l4::parameters
