#include "agent/decode/speaker_prefix.h"

#include <algorithm>
#include <array>

#include "agent/text/level.h"
#include "agent/text/scan.h"
#include "common/base/find_bytes.h"

namespace l4::decode {
namespace {

void mix(std::uint64_t& key, std::string_view text, std::uint64_t salt) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ salt;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  key = (key ^ hash) * 0x9E3779B97F4A7C15ULL;
}

void mix(Prefixes& out, std::string_view text, std::uint64_t salt) {
  mix(out.key, text, salt);
  mix(out.outer, text, salt);
}

/// One space after a prefix belongs to it; further blanks are the message's indentation.
void drop(std::string_view& line, std::size_t n) {
  line.remove_prefix(n);
  if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
}

/// `[rank4]:` is global; `[default3]:` and any other role name is local.
bool parse_rank_tag(std::string_view& line, Prefixes& out) {
  text::Cursor c{line, 1};
  while (text::is_alpha(c.peek()) || c.peek() == '_') ++c.at;
  const std::string_view word = line.substr(1, c.at - 1);
  const std::size_t number_at = c.at;
  std::int64_t value = 0;
  if (word.empty() || !c.parse_number(1, 6, value) || !c.accept("]:")) return false;
  const std::string_view digits = line.substr(number_at, c.at - 2 - number_at);
  if (word == "rank" || word == "Rank") {
    const Rank rank{static_cast<std::int32_t>(value)};
    if (out.excepthook && out.speaker.rank != rank) return false;
    out.speaker.rank = rank;
    out.excepthook = true;
    mix(out.key, digits, 1);
  } else {
    if (out.tee && out.speaker.local_rank != static_cast<std::int32_t>(value)) return false;
    if (out.label && !out.excepthook) out.speaker.rank.reset();
    out.speaker.local_rank = static_cast<std::int32_t>(value);
    out.tee = true;
    mix(out, digits, 2);
  }
  drop(line, c.at);
  return true;
}

/// `<stdout>`, `<stderr>:`.
bool parse_stream_name(text::Cursor& c) {
  if (!c.accept("<stdout>") && !c.accept("<stderr>") && !c.accept("<stddiag>")) return false;
  c.accept(':');
  return true;
}

/// A host's name at the cursor, which passes it; perhaps empty.
std::string_view take_host(text::Cursor& c, std::string_view line) {
  const std::size_t from = c.at;
  while (text::is_host(c.peek())) ++c.at;
  return line.substr(from, c.at - from);
}

/// mpirun --tag-output: `[1,4]<stdout>:`, `[1,4][host:pid]<stderr>: `,
/// `[prterun-host-7@1,4]<stdout>`, `[1,mpirank:4,host]<stdout>:` as SageMaker has it.
bool parse_mpi_tag(std::string_view& line, Prefixes& out) {
  text::Cursor c{line, 1};
  while (text::is_host(c.peek()) || c.peek() == '@') ++c.at;
  std::int64_t rank = 0;
  if (c.at == 1 || !c.accept(',')) return false;
  const bool named = c.accept("mpirank:");
  if (!c.parse_number(1, 7, rank)) return false;
  std::string_view host;
  if (named && c.accept(',')) host = take_host(c, line);
  if (!c.accept(']')) return false;
  if (!named && c.accept('[')) {
    host = take_host(c, line);
    std::int64_t pid = 0;
    if (!c.accept(':') || !c.parse_number(1, 10, pid) || !c.accept(']')) return false;
  }
  if (!parse_stream_name(c)) return false;
  if (!host.empty() && out.speaker.host.empty()) out.speaker.host = host;
  out.speaker.rank = Rank{static_cast<std::int32_t>(rank)};
  mix(out, line.substr(0, c.at), 3);
  drop(line, c.at);
  return true;
}

/// mpirun --timestamp-output without tags: `<stdout>:`.
bool parse_stream_tag(std::string_view& line, Prefixes& out) {
  text::Cursor c{line};
  if (!parse_stream_name(c) || line[c.at - 1] != ':') return false;
  mix(out, line.substr(0, c.at), 8);
  drop(line, c.at);
  return true;
}

/// kubectl logs --prefix: `[pod/llama-worker-0/pytorch] `.
bool parse_pod_tag(std::string_view& line, Prefixes& out) {
  text::Cursor c{line};
  if (!c.accept("[pod/")) return false;
  const std::string_view pod = take_host(c, line);
  if (pod.empty() || !c.accept('/')) return false;
  while (text::is_host(c.peek())) ++c.at;
  if (!c.accept(']')) return false;
  if (out.speaker.host.empty()) out.speaker.host = pod;
  mix(out, line.substr(0, c.at), 9);
  drop(line, c.at);
  return true;
}

/// Position of the bracket that closes the one at the front of `text`; npos if there is none.
std::size_t matching_bracket(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '(';
    open -= text[i] == ')';
    if (open == 0) return i;
  }
  return std::string_view::npos;
}

/// Ray: `(main_task pid=12)`, `(WorkerDict pid=12, ip=10.0.0.3)`, `(pid=12)`, `(raylet)`,
/// `(autoscaler +5s)`; names may hold brackets.
bool parse_ray_tag(std::string_view& line, Prefixes& out) {
  const std::size_t close = matching_bracket(line.substr(0, 200));
  if (close == std::string_view::npos) return false;
  const std::string_view tag = line.substr(1, close - 1);
  std::size_t pid = tag.starts_with("pid=") ? 0 : tag.find(" pid=");
  if (pid != std::string_view::npos) {
    pid = tag.find('=', pid) + 1;
    text::Cursor c{tag, pid};
    if (!c.parse_number(1, 10, out.process)) return false;
  } else if (!tag.starts_with("raylet") && !tag.starts_with("autoscaler") &&
             !tag.starts_with("gcs_server") && !tag.starts_with("dashboard")) {
    return false;
  }
  const std::size_t ip = tag.find("ip=");
  if (ip != std::string_view::npos && out.speaker.host.empty()) {
    const std::string_view address = tag.substr(ip + 3);
    out.speaker.host = address.substr(0, address.find_first_of(", "));
  }
  out.ray = true;
  mix(out, tag, 4);
  drop(line, close + 1);
  return true;
}

bool parse_label(std::string_view& line, const PrefixTrust& trust, Prefixes& out) {
  if (!trust.labels || out.label) return false;
  std::size_t length = 0;
  const auto label = label_of(line, length);
  if (!label) return false;
  const std::string_view text = text::trim(line.substr(0, length));
  const std::string_view digits = text.substr(0, text.size() - 1);
  out.label = true;
  out.label_value = label;
  if (trust.labels_are_nodes) {
    out.host_is_label = out.speaker.host.empty();
    if (out.host_is_label) out.speaker.host = digits;
  } else if (!out.excepthook && !out.tee) {
    out.speaker.rank = Rank{*label};
  }
  mix(out, digits, 5);
  drop(line, length);
  return true;
}

bool parse_bracket_label(std::string_view& line, const PrefixTrust& trust, Prefixes& out) {
  std::size_t length = 0;
  const auto label = trust.bracket_labels ? bracket_label_of(line, length) : std::nullopt;
  if (!label) return false;
  if (!out.excepthook && !out.tee) out.speaker.rank = Rank{*label};
  mix(out, line.substr(0, length), 5);
  drop(line, length);
  return true;
}

bool parse_front(std::string_view& line, const PrefixTrust& trust, Prefixes& out) {
  if (trust.host_known == nullptr) return false;
  const FrontName front = front_name_of(line);
  if (front.name.empty() || !trust.fronts[static_cast<std::size_t>(front.front)] ||
      !trust.host_known(trust.context, front.name))
    return false;
  if (out.speaker.host.empty() || out.host_is_label) out.speaker.host = front.name;
  out.host_is_label = false;
  if (front.rank && !out.excepthook && !out.tee) out.speaker.rank = front.rank;
  mix(out, line.substr(0, front.length), 6);
  drop(line, front.length);
  return true;
}

/// Parses `host:pid:tid [dev] `; `length` is its length, `device` is -1 where NCCL knows none.
std::string_view nccl_tag(std::string_view line, std::size_t& length, std::int32_t& device) {
  text::Cursor c{line};
  while (text::is_host(c.peek())) ++c.at;
  const std::string_view host = line.substr(0, c.at);
  std::int64_t number = 0;
  if (!c.accept(':') || !c.parse_number(1, 10, number) || !c.accept(':') ||
      !c.parse_number(1, 10, number) || !c.accept(" ["))
    return {};
  const bool is_none = c.accept('-');
  if (!c.parse_number(1, 4, number) || !c.accept(']') || !host_like(host)) return {};
  length = c.at;
  device = is_none ? -1 : static_cast<std::int32_t>(number);
  return host;
}

/// `[host:pid:n] ` (UCX) and `[host:pid] ` (Open MPI).
std::string_view bracket_tag(std::string_view line, std::size_t& length) {
  text::Cursor c{line, 1};
  while (text::is_host(c.peek())) ++c.at;
  const std::string_view host = line.substr(1, c.at - 1);
  std::int64_t number = 0;
  if (!host_like(host) || !c.accept(':') || !c.parse_number(2, 10, number)) return {};
  while (c.accept(':'))
    if (!c.parse_number(1, 10, number)) return {};
  if (!c.accept(']') || !(c.done() || text::is_blank(c.peek()))) return {};
  if (text::is_digit(host.front()) && host.find('.') == std::string_view::npos) return {};
  length = c.at;
  return host;
}

bool parse_bracket_tag(std::string_view& line, Prefixes& out) {
  std::size_t length = 0;
  const std::string_view host = bracket_tag(line, length);
  if (host.empty()) return false;
  if (out.speaker.host.empty()) out.speaker.host = host;
  mix(out, line.substr(0, length), 7);
  drop(line, length);
  return true;
}

bool parse_nccl_tag(std::string_view& line, Prefixes& out) {
  std::size_t length = 0;
  std::int32_t device = -1;
  const std::string_view host = nccl_tag(line, length, device);
  if (host.empty()) return false;
  if (out.speaker.host.empty()) out.speaker.host = host;
  if (device >= 0) out.speaker.device = device;
  drop(line, length);
  return true;
}

/// Kinds of first characters, by which rows are chosen.
enum class First : std::uint8_t { square, round, angle, digit, letter, none };

First first_of(char c) {
  if (c == '[') return First::square;
  if (text::is_digit(c)) return First::digit;
  if (text::is_alpha(c)) return First::letter;
  if (c == '(') return First::round;
  return c == '<' ? First::angle : First::none;
}

struct PrefixKind {
  First first;
  bool at_front;           ///< no blanks before it
  std::string_view marks;  ///< characters behind the name or number at the front; empty: any
  bool (*parse)(std::string_view& line, const PrefixTrust& trust, Prefixes& out);
};

template <bool (*Parse)(std::string_view&, Prefixes&)>
bool always(std::string_view& line, const PrefixTrust&, Prefixes& out) {
  return Parse(line, out);
}

// Indentation before a tag is removed with the tag; only quoted logs have it.
constexpr std::array kPrefixes{
    PrefixKind{First::square, false, "]", always<parse_rank_tag>},
    PrefixKind{First::square, false, ",", always<parse_mpi_tag>},
    PrefixKind{First::square, false, "/", always<parse_pod_tag>},
    PrefixKind{First::square, false, ":", always<parse_bracket_tag>},
    PrefixKind{First::square, true, "]", parse_bracket_label},
    PrefixKind{First::round, false, "", always<parse_ray_tag>},
    PrefixKind{First::angle, true, "", always<parse_stream_tag>},
    PrefixKind{First::digit, false, ":", parse_label},
    PrefixKind{First::digit, true, ": ", parse_front},
    PrefixKind{First::digit, true, ":", always<parse_nccl_tag>},
    PrefixKind{First::letter, true, ": ", parse_front},
    PrefixKind{First::letter, true, ":", always<parse_nccl_tag>},
};

/// The character behind the name or number at the front; it rules out most rows.
char mark_of(std::string_view text, First first) {
  const auto ends_name = [](auto byte) { return (text::kIsHostByte(byte) | (byte == '@')) == 0; };
  const std::size_t at = find_kind(text, first == First::square ? 1 : 0, ends_name);
  return at < text.size() ? text[at] : '\0';
}

bool parse_prefix(std::string_view& text, bool at_front, const PrefixTrust& trust, Prefixes& out) {
  const First first = first_of(text[0]);
  if (first == First::none || (first == First::letter && !at_front)) return false;
  const char mark = mark_of(text, first);
  if (first != First::round && first != First::angle &&
      (mark == ' ' ? trust.host_known == nullptr : mark == '\0'))
    return false;
  for (const PrefixKind& kind : kPrefixes) {
    if (kind.first != first || (kind.at_front && !at_front)) continue;
    if (!kind.marks.empty() && kind.marks[0] != mark && kind.marks.back() != mark) continue;
    if (kind.parse(text, trust, out)) return true;
  }
  return false;
}

}  // namespace

bool parse_host_and_rank(std::string_view& line, Prefixes& out) {
  text::Cursor c{line};
  while (text::is_host(c.peek())) ++c.at;
  const std::string_view host = line.substr(0, c.at);
  std::int64_t rank = 0;
  if (!c.accept(" rank=") || !c.parse_number(1, 6, rank) || c.peek() != ' ' || !host_like(host))
    return false;
  if (out.speaker.host.empty()) out.speaker.host = host;
  if (!out.speaker.rank) out.speaker.rank = Rank{static_cast<std::int32_t>(rank)};
  drop(line, c.at);
  return true;
}

void parse_prefixes(std::string_view& line, const PrefixTrust& trust, Prefixes& out) {
  for (int round = 0; round < 8 && !line.empty(); ++round) {
    const std::size_t indent = line[0] == ' ' ? line.find_first_not_of(' ') : 0;
    if (indent == std::string_view::npos) return;
    std::string_view text = line.substr(indent);
    if (!parse_prefix(text, indent == 0, trust, out)) return;
    line = text;
  }
}

std::string_view without_repeat_note(std::string_view text) {
  constexpr std::string_view kNote = "x across cluster]";
  const std::size_t at = text.rfind(kNote);
  if (at == std::string_view::npos || at == 0) return text;
  std::size_t begin = at;
  while (begin > 0 && text::is_digit(text[begin - 1])) --begin;
  const std::string_view front = text.substr(0, begin);
  if (begin == at || !front.ends_with("[repeated ")) return text;
  const std::string_view said = text::trim_right(front.substr(0, front.size() - 10));
  return said.empty() ? text : said;
}

}  // namespace l4::decode
