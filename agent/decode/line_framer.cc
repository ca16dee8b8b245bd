#include "agent/decode/line_framer.h"

#include <algorithm>
#include <utility>

#include "agent/text/scan.h"
#include "common/base/find_bytes.h"

namespace l4::decode {
namespace {

/// Cuts the text at `limit` without splitting a UTF-8 sequence.
std::string_view cut_text(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t n = limit;
  for (int back = 0; back < 3 && n > 0; ++back) {
    if ((static_cast<unsigned char>(text[n]) & 0xC0) != 0x80) break;
    --n;
  }
  return text.substr(0, n);
}

}  // namespace

LineFramer::LineFramer(std::size_t line_bytes_max)
    : line_bytes_max_(std::max<std::size_t>(line_bytes_max, 64)) {}

void LineFramer::start_at(std::uint64_t line, std::uint64_t offset) {
  number_ = std::max<std::uint64_t>(line, 1);
  offset_ = offset;
}

void LineFramer::give(std::string_view chunk) {
  given_ = chunk;
  at_ = 0;
  marks_.read(chunk);
}

bool LineFramer::next(RawLine& line) {
  if (emitted_gathered_) {
    current_.text.clear();
    previous_.text.clear();
    current_.blank = previous_.blank = true;
    emitted_gathered_ = false;
  }
  const std::size_t from = at_;
  const std::size_t end = marks_.line_end(from);
  const std::string_view view = given_.substr(from, end - from);
  at_ = std::min(end + 1, given_.size());
  if (end == given_.size()) {
    absorb(view);
    gathered_bytes_ += view.size();
    return false;
  }
  if (gathered_bytes_ == 0) {
    emit_view(view, marks_.signs(from, end), line);
  } else {
    absorb(view);
    gathered_bytes_ += view.size();
    emit_gathered(line);
  }
  close(line, gathered_bytes_ + 1);
  return true;
}

bool LineFramer::finish(RawLine& line) {
  at_ = given_.size();
  if (gathered_bytes_ == 0) {
    if (std::exchange(offered_, false)) ++number_;
    return false;
  }
  emit_gathered(line);
  close(line, gathered_bytes_);
  return true;
}

bool LineFramer::emit_unfinished(RawLine& line) {
  if (gathered_bytes_ == 0 || !finish(line)) return false;
  --number_;
  offered_ = true;
  return true;
}

void LineFramer::close(RawLine& line, std::uint64_t bytes) {
  line.number = number_++;
  offered_ = false;
  line.bytes = {offset_, offset_ + bytes};
  offset_ += bytes;
  gathered_bytes_ = 0;
  updates_ = 0;
  has_head_ = after_cr_ = cut_ = false;
  dropped_ = 0;
}

void LineFramer::emit_view(std::string_view view, ByteMarks::Signs signs, RawLine& line) {
  gathered_bytes_ = view.size();
  std::string_view text = behind_hole(view);
  if (marks_.holds_cr()) {
    while (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (text.find('\r') != std::string_view::npos) {
      absorb(text);
      emit_gathered(line);
      return;
    }
  }
  line.head = line.last = cut_text(text, line_bytes_max_);
  line.bar = {};
  line.updates = 0;
  line.cut = line.head.size() < text.size();
  line.plain = signs.plain;
  line.percent = signs.percent;
  line.cut_bytes = text.size() - line.head.size();
}

void LineFramer::emit_gathered(RawLine& line) {
  emitted_gathered_ = true;
  const bool use_previous = current_.blank && !previous_.blank;
  const auto limited = [this](const std::string& text) { return cut_text(text, line_bytes_max_); };
  const std::string& kept = use_previous ? previous_.text : current_.text;
  line.last = limited(kept);
  line.bar = use_previous || previous_.blank ? std::string_view{} : limited(previous_.text);
  line.head = has_head_ ? limited(head_) : line.last;
  line.updates = updates_;
  line.cut = cut_;
  line.plain = false;
  line.percent = true;
  line.cut_bytes = dropped_ + kept.size() - line.last.size();
}

void LineFramer::absorb(std::string_view part) {
  while (!part.empty()) {
    const std::size_t cr = part.find('\r');
    append(part.substr(0, cr));
    if (cr == std::string_view::npos) return;
    after_cr_ = true;
    part.remove_prefix(cr + 1);
  }
}

void LineFramer::append(std::string_view piece) {
  if (piece.empty()) return;
  if (after_cr_) {
    if (!has_head_) head_.assign(current_.text);
    has_head_ = true;
    if (!current_.blank) std::swap(previous_, current_);
    current_.text.clear();
    current_.blank = true;
    after_cr_ = false;
  }
  const bool was_blank = current_.blank;
  if (current_.text.empty()) piece = behind_hole(piece);
  // One byte beyond the limit shows cut_text whether a UTF-8 sequence continues there.
  const std::size_t room =
      line_bytes_max_ + 1 - std::min(current_.text.size(), line_bytes_max_ + 1);
  current_.text.append(piece.substr(0, room));
  dropped_ += piece.size() - std::min(piece.size(), room);
  if (current_.text.size() > line_bytes_max_) cut_ = true;
  if (was_blank) current_.blank = text::all_blank(piece);
  if (was_blank && !current_.blank && has_head_) ++updates_;
}

}  // namespace l4::decode
