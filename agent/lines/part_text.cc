#include "agent/lines/part_text.h"

#include <algorithm>
#include <cstring>

namespace l4::lines {
namespace {

constexpr std::uint64_t kPeekBytes = 64 * 1024;

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

}  // namespace

/// Makes text_ hold [from, to), as far as there is text.
void PartText::fetch(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t end = text_from_ + text_.size();
  if (from >= text_from_ && from < end) {
    text_.erase(0, from - text_from_);
  } else {
    text_.clear();
  }
  text_from_ = from;
  if (from + text_.size() >= to) return;
  const std::size_t had = text_.size();
  text_.resize(to - from);
  const auto piece = file_.read(from + had, std::span(text_).subspan(had));
  if (!piece) {
    text_.resize(had);
    damage_ = std::strerror(piece.error());
    return;
  }
  text_.resize(had + piece->bytes);
  read_bytes_ += piece->bytes;
  if (!piece->damage.empty()) damage_ = piece->damage;
  if (piece->unfinished) damage_ = "ends before its end mark";
  if (piece->at_end) size_ = from + text_.size();
}

/// The stretch from the first line that begins behind `begin`.
Stretch PartText::made(std::uint64_t begin, std::uint64_t from, std::uint64_t to) {
  Stretch stretch;
  stretch.text = text_;
  stretch.offset = text_from_;
  stretch.from = from;
  stretch.to = to;
  if (begin > 0) {
    const std::size_t line = stretch.text.find('\n');
    const std::size_t skip = line == std::string_view::npos ? stretch.text.size() : line + 1;
    stretch.text.remove_prefix(skip);
    stretch.offset += skip;
  }
  stretch.at_end = size_ != kUnknown && text_from_ + text_.size() >= size_;
  return stretch;
}

Stretch PartText::stretch(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t lead = from > kLeadBytes ? from - kLeadBytes : 0;
  if (packed() && lead > counted_to_ && lead <= text_from_ + text_.size()) {
    lines_ += count_lines(std::string_view(text_).substr(0, lead - text_from_));
    counted_to_ = lead;
  }
  fetch(lead, to + kTailBytes);
  Stretch made_one = made(lead, from, to);
  made_one.counted = lead == 0 || (packed() && counted_to_ == lead);
  if (lead > 0 && made_one.counted)
    made_one.lines =
        lines_ + count_lines(std::string_view(text_).substr(0, made_one.offset - lead));
  return made_one;
}

Stretch PartText::peek(std::uint64_t offset) {
  fetch(offset, offset + kPeekBytes);
  return made(offset, offset, offset + kPeekBytes);
}

std::uint64_t PartText::lines_between(std::uint64_t from, std::uint64_t to) {
  std::uint64_t lines = 0;
  std::string buffer;
  for (std::uint64_t at = from; at < to;) {
    buffer.resize(std::min(to - at, kStretchBytes));
    const auto piece = file_.read(at, buffer);
    if (!piece || piece->bytes == 0) break;
    lines += count_lines(std::string_view(buffer).substr(0, piece->bytes));
    at += piece->bytes;
    read_bytes_ += piece->bytes;
  }
  return lines;
}

}  // namespace l4::lines
