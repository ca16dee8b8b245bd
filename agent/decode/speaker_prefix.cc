#include "agent/decode/speaker_prefix.h"

#include <array>

#include "agent/decode/level.h"
#include "agent/decode/scan.h"

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
bool take_rank_tag(std::string_view& line, Prefixes& out) {
  Cursor c{line, 1};
  while (is_alpha(c.peek()) || c.peek() == '_') ++c.at;
  const std::string_view word = line.substr(1, c.at - 1);
  const std::size_t number_at = c.at;
  std::int64_t value = 0;
  if (word.empty() || !c.take_number(1, 6, value) || !c.take("]:")) return false;
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

/// mpirun --tag-output: `[1,4]<stdout>:`, in Open MPI 5 `[1,4]<stdout>: ` or `[job,4]<stderr>`.
bool take_mpi_tag(std::string_view& line, Prefixes& out) {
  Cursor c{line, 1};
  std::int64_t job = 0;
  std::int64_t rank = 0;
  if (!c.take_number(1, 9, job) || !c.take(',') || !c.take_number(1, 7, rank) || !c.take("]<std"))
    return false;
  if (!c.take("out>") && !c.take("err>") && !c.take("diag>")) return false;
  c.take(':');
  out.speaker.rank = Rank{static_cast<std::int32_t>(rank)};
  mix(out, line.substr(0, c.at), 3);
  drop(line, c.at);
  return true;
}

/// Ray: `(main_task pid=12)`, `(WorkerDict pid=12, ip=10.0.0.3)`.
bool take_ray_tag(std::string_view& line, Prefixes& out) {
  const std::string_view head = line.substr(0, 160);
  const std::size_t close = head.find(')');
  const std::size_t pid = head.find(" pid=");
  if (close == std::string_view::npos || pid == std::string_view::npos || pid > close) return false;
  const std::string_view tag = head.substr(0, close + 1);
  if (tag.find(" pid=") == std::string_view::npos || !is_digit(line[pid + 5])) return false;
  const std::size_t ip = tag.find("ip=");
  if (ip != std::string_view::npos && out.speaker.host.empty())
    out.speaker.host = tag.substr(ip + 3, tag.size() - ip - 4);
  mix(out, tag, 4);
  drop(line, close + 1);
  return true;
}

bool take_label(std::string_view& line, const PrefixTrust& trust, Prefixes& out) {
  if (!trust.labels || out.label) return false;
  std::size_t length = 0;
  const auto label = label_of(line, length);
  if (!label) return false;
  const std::string_view text = trim(line.substr(0, length));
  const std::string_view digits = text.substr(0, text.size() - 1);
  out.label = true;
  out.label_value = label;
  if (trust.labels_are_nodes) {
    if (out.speaker.host.empty()) out.speaker.host = digits;
  } else if (!out.excepthook && !out.tee) {
    out.speaker.rank = Rank{*label};
  }
  mix(out, digits, 5);
  drop(line, length);
  return true;
}

bool take_host(std::string_view& line, const PrefixTrust& trust, Prefixes& out) {
  if (trust.host_known == nullptr) return false;
  const std::string_view host = host_prefix_of(line);
  if (host.empty() || !trust.host_known(trust.context, host)) return false;
  if (out.speaker.host.empty()) out.speaker.host = host;
  mix(out, host, 6);
  drop(line, host.size() + 1);
  return true;
}

bool is_source_file(std::string_view name) {
  constexpr std::array<std::string_view, 12> kEnds{".py", ".cc",  ".cpp", ".c",  ".h",   ".cu",
                                                   ".go", ".hpp", ".rs",  ".js", ".pyx", ".sh"};
  for (const auto end : kEnds)
    if (name.ends_with(end)) return true;
  return false;
}

bool host_like(std::string_view name) {
  if (name.size() < 2 || name.size() > 64 || !is_alnum(name.front()) || !is_alnum(name.back()))
    return false;
  return !is_source_file(name);
}

/// `host:pid:tid [dev] `: the host, and where the message begins.
std::string_view nccl_tag(std::string_view line, std::size_t& length) {
  Cursor c{line};
  while (is_host(c.peek())) ++c.at;
  const std::string_view host = line.substr(0, c.at);
  std::int64_t number = 0;
  if (!c.take(':') || !c.take_number(1, 10, number) || !c.take(':') ||
      !c.take_number(1, 10, number) || !c.take(" ["))
    return {};
  c.take('-');
  if (!c.take_number(1, 4, number) || !c.take(']') || !host_like(host)) return {};
  length = c.at;
  return host;
}

/// `[host:pid:n] ` (UCX) and `[host:pid] ` (Open MPI).
std::string_view bracket_tag(std::string_view line, std::size_t& length) {
  Cursor c{line, 1};
  while (is_host(c.peek())) ++c.at;
  const std::string_view host = line.substr(1, c.at - 1);
  std::int64_t number = 0;
  if (!host_like(host) || !c.take(':') || !c.take_number(2, 10, number)) return {};
  while (c.take(':'))
    if (!c.take_number(1, 10, number)) return {};
  if (!c.take(']') || !(c.done() || is_blank(c.peek()))) return {};
  if (is_digit(host.front()) && host.find('.') == std::string_view::npos) return {};
  length = c.at;
  return host;
}

}  // namespace

bool take_process_tag(std::string_view& line, Prefixes& out) {
  if (line.empty()) return false;
  std::size_t length = 0;
  if (line[0] == '[') {
    const std::string_view host = bracket_tag(line, length);
    if (host.empty()) return false;
    if (out.speaker.host.empty()) out.speaker.host = host;
    mix(out, line.substr(0, length), 7);
    drop(line, length);
    return true;
  }
  if (!is_alnum(line[0])) return false;
  const std::string_view host = nccl_tag(line, length);
  if (host.empty()) return false;
  if (out.speaker.host.empty()) out.speaker.host = host;
  drop(line, length);
  return true;
}

bool take_host_and_rank(std::string_view& line, Prefixes& out) {
  Cursor c{line};
  while (is_host(c.peek())) ++c.at;
  const std::string_view host = line.substr(0, c.at);
  std::int64_t rank = 0;
  if (!host_like(host) || !c.take(" rank=") || !c.take_number(1, 6, rank) || c.peek() != ' ')
    return false;
  if (out.speaker.host.empty()) out.speaker.host = host;
  if (!out.speaker.rank) out.speaker.rank = Rank{static_cast<std::int32_t>(rank)};
  drop(line, c.at);
  return true;
}

void take_prefixes(std::string_view& line, const PrefixTrust& trust, Prefixes& out) {
  for (int round = 0; round < 8 && !line.empty(); ++round) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos) return;
    std::string_view text = line.substr(indent);
    bool taken = false;
    if (text[0] == '[') {
      // Indentation before a tag is the source's own only in quoted logs; drop it with the tag.
      taken = take_rank_tag(text, out) || take_mpi_tag(text, out) || take_process_tag(text, out);
    } else if (text[0] == '(') {
      taken = take_ray_tag(text, out);
    } else if (is_digit(text[0])) {
      taken = take_label(text, trust, out) ||
              (indent == 0 && (take_host(text, trust, out) || take_process_tag(text, out)));
    } else if (indent == 0 && is_alpha(text[0])) {
      taken = take_host(text, trust, out) || take_process_tag(text, out);
    }
    if (!taken) return;
    line = text;
  }
}

std::optional<std::int32_t> label_of(std::string_view line, std::size_t& length) {
  Cursor c{line};
  while (c.peek() == ' ' && c.at < 6) ++c.at;
  std::int64_t value = 0;
  if (!c.take_number(1, 6, value) || !c.take(':') || !(c.done() || c.peek() == ' '))
    return std::nullopt;
  length = c.at;
  return static_cast<std::int32_t>(value);
}

std::string_view host_prefix_of(std::string_view line) {
  std::size_t n = 0;
  while (n < line.size() && n < 65 && is_host(line[n])) ++n;
  if (n < 2 || n >= line.size() || line[n] != ':' || (n + 1 < line.size() && line[n + 1] != ' '))
    return {};
  const std::string_view name = line.substr(0, n);
  if (!host_like(name) || level_of_word(name) != Level::unknown || is_exception_name(name))
    return {};
  return name;
}

}  // namespace l4::decode
