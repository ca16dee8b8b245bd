#include "agent/lines/collect.h"

#include <algorithm>
#include <utility>

#include "agent/decode/utf16.h"
#include "common/base/find_bytes.h"

namespace l4::lines {
namespace {

/// Bytes of a line that are searched: more than are kept, so that a secret is found before the cut.
constexpr std::size_t kLookedAtBytes = 64 * 1024;

/// The line as people read it: UTF-16 among other text is decoded.
std::string text_of(std::string_view raw) {
  raw = raw.substr(0, kLookedAtBytes);
  std::string text;
  if (raw.find('\0') == raw.npos || !decode::decode_utf16_line(behind_hole(raw), text))
    return std::string(raw);
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace

void Collect::add(Block block) {
  ++hits_;
  bytes_ += block.bytes;
  blocks_.push_back(std::move(block));
  if (keep_ == Keep::first) return;
  while (blocks_.size() > 1 && (hits_ > lines_max_ || bytes_ > bytes_max_)) {
    (hits_ > lines_max_ ? more_lines_ : more_bytes_) = true;
    --hits_;
    bytes_ -= blocks_.front().bytes;
    blocks_.pop_front();
  }
}

void Collect::add(const std::vector<SeenLine>& lines) {
  std::vector<const SeenLine*> wanted;  // context: lines of the same speakers
  for (const SeenLine& line : lines)
    if (line.wanted) wanted.push_back(&line);
  const SeenLine* before = nullptr;
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    if (!wanted[at]->hit) continue;
    if (wanted[at]->record != (before != nullptr ? before->record : 0)) ++records_;
    before = wanted[at];
    if (keep_ == Keep::first && no_room()) {
      (hits_ >= lines_max_ ? more_lines_ : more_bytes_) = true;
      return;
    }
    Block block;
    const std::size_t to = std::min(wanted.size(), at + context_ + 1);
    for (std::size_t i = at - std::min(at, context_); i < to; ++i) {
      const SeenLine& line = *wanted[i];
      Kept& kept = block.lines.emplace_back();
      kept.line = {0,         0,         line.offset, line.number, line.time,
                   line.rank, line.host, {},          i == at,     false};
      kept.line.host.resize(std::min<std::size_t>(line.host.size(), 253));
      kept.line.text = text_of(line.raw);
      kept.line.cut = line.raw.size() > kLookedAtBytes;
      kept.messages = line.messages;
      if (line.offset < next_) continue;
      next_ = line.offset + 1;
      block.bytes += std::min<std::uint64_t>(line.raw.size(), wire::kLineTextBytesMax);
    }
    add(std::move(block));
  }
}

std::vector<wire::RawLine> Collect::lines(Blot& blot, std::uint64_t& redacted) const {
  std::map<std::uint64_t, const Kept*> all;
  for (const Block& block : blocks_)
    for (const Kept& kept : block.lines) {
      const auto [place, first] = all.emplace(kept.line.offset, &kept);
      if (!first && kept.line.hit) place->second = &kept;
    }
  std::vector<wire::RawLine> lines;
  lines.reserve(all.size());
  for (const auto& [offset, kept] : all) {
    wire::RawLine& line = lines.emplace_back(kept->line);
    if (blot.line(line.text, kept->messages)) ++redacted;
    if (line.text.size() <= wire::kLineTextBytesMax) continue;
    line.cut = true;
    line.text.resize(wire::kLineTextBytesMax);
  }
  return lines;
}

}  // namespace l4::lines
