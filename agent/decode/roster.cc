#include "agent/decode/roster.h"

#include <iterator>

#include "agent/text/scan.h"

namespace l4::decode {
namespace {

/// The number behind `key`, which begins a word; -1 if there is none.
std::int64_t number_behind(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at > 0 && text::is_word(text[at - 1])) continue;
    text::Cursor c{text, at + key.size()};
    std::int64_t value = 0;
    if (c.parse_number(1, 10, value)) return value;
  }
  return -1;
}

}  // namespace

void Roster::note(std::string_view line) {
  text::Cursor c{line};
  c.skip_blanks();
  if (!c.accept("- (")) return;
  const std::size_t close = line.find(')', c.at);
  if (close == std::string_view::npos || members_.size() >= kProcessesMax) return;
  const std::string_view process = line.substr(c.at, close - c.at);
  const std::string_view numbers = line.substr(close);
  const std::int64_t pid = number_behind(process, "pid=");
  std::int64_t rank = number_behind(numbers, "world_rank=");
  if (rank < 0) rank = number_behind(numbers, "rank=");
  constexpr std::int64_t kRankMax = 10'000'000;
  if (pid < 0 || rank < 0 || rank > kRankMax) return;
  const std::size_t ip = process.find("ip=");
  std::string_view host;
  if (ip != std::string_view::npos) {
    host = process.substr(ip + 3);
    host = host.substr(0, host.find_first_of(", "));
  }
  const Rank known{static_cast<std::int32_t>(rank)};
  const auto [from, to] = members_.equal_range(pid);
  for (auto at = from; at != to; ++at) {
    if (at->second.host != host) continue;
    at->second.rank = known;  // of a later start
    return;
  }
  members_.emplace(pid, Member{std::string(host), known});
}

std::optional<Rank> Roster::rank_of(std::int64_t pid, std::string_view host) const {
  const auto [from, to] = members_.equal_range(pid);
  for (auto at = from; at != to; ++at)
    if (at->second.host == host) return at->second.rank;
  const bool one = from != to && std::next(from) == to;
  return host.empty() && one ? std::optional(from->second.rank) : std::nullopt;
}

}  // namespace l4::decode
