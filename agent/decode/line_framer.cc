#include "agent/decode/line_framer.h"

#include <algorithm>
#include <utility>

#include "agent/decode/progress_bar.h"
#include "agent/decode/seams.h"
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
    current_.from = current_.to = 0;
    emitted_gathered_ = false;
  }
  const std::size_t from = at_;
  const std::size_t end = marks_.line_end(from);
  const bool ends = end < given_.size();
  if (ends && gathered_bytes_ == 0 && !begun_) {
    const std::string_view view = given_.substr(from, end - from);
    std::string_view text = view;
    while (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (!marks_.holds_cr() || text.find('\r') == std::string_view::npos) {
      view_from_ = from;
      view_to_ = from + text.size();
      emit_view(text, marks_.signs(view_from_, view_to_), line);
      at_ = end + 1;
      close(line, view.size() + 1);
      return true;
    }
  }
  if (!absorb(end) || (ends && has_piece())) {
    emit_piece(line);
    return true;
  }
  if (!ends) return false;
  emit_gathered(line);
  at_ = end + 1;
  close(line, gathered_bytes_ + 1);
  return true;
}

bool LineFramer::may_hold_seam(const RawLine& line, std::string_view text) const {
  if (!line.seams || view_to_ == view_from_) return line.seams;
  const std::size_t from = view_from_ + static_cast<std::size_t>(line.last_from - line.bytes.from) +
                           static_cast<std::size_t>(text.data() - line.last.data());
  const std::size_t to = from + text.size();
  for (std::size_t colon = marks_.seam_colon(from + kSeamColumn, to); colon < to;
       colon = marks_.seam_colon(colon + 1, to))
    if (line.percent || seam_at(text, colon - from) != std::string_view::npos) return true;
  return false;
}

bool LineFramer::finish(RawLine& line) {
  at_ = given_.size();
  if (gathered_bytes_ == 0) {
    if (std::exchange(offered_, false)) ++number_;
    return false;
  }
  if (has_piece()) {
    emit_piece(line);
    return true;
  }
  emit_gathered(line);
  close(line, gathered_bytes_);
  return true;
}

bool LineFramer::emit_unfinished(RawLine& line) {
  if (gathered_bytes_ == 0) return false;
  finish(line);
  if (line.more) return true;
  --number_;
  offered_ = true;
  return true;
}

void LineFramer::close(RawLine& line, std::uint64_t bytes) {
  line.number = number_++;
  offered_ = false;
  line.first = !std::exchange(begun_, false);
  line.more = false;
  line.bytes = {offset_, offset_ + bytes};
  offset_ += bytes;
  gathered_bytes_ = 0;
  updates_ = 0;
  has_head_ = after_cr_ = cut_ = false;
  dropped_ = 0;
}

void LineFramer::emit_view(std::string_view view, ByteMarks::Signs signs, RawLine& line) {
  const std::string_view text = behind_hole(view);
  line.head = line.last = cut_text(text, line_bytes_max_);
  line.last_from = offset_ + (view.size() - text.size());
  line.bar = {};
  line.updates = 0;
  line.cut = line.head.size() < text.size();
  line.plain = signs.plain;
  line.percent = signs.percent;
  line.seams = signs.seams;
  line.clocks = signs.clocks;
  line.cut_bytes = text.size() - line.head.size();
}

void LineFramer::emit_state(const State& state, RawLine& line) {
  view_to_ = view_from_;
  line.last = cut_text(state.text, line_bytes_max_);
  line.last_from = offset_ + state.from;
  line.head = has_head_ ? cut_text(head_, line_bytes_max_) : line.last;
  line.updates = updates_;
  line.plain = false;
  line.percent = line.seams = line.clocks = true;
}

void LineFramer::emit_gathered(RawLine& line) {
  emitted_gathered_ = true;
  const bool use_previous = current_.blank && !previous_.blank;
  const State& kept = use_previous ? previous_ : current_;
  emit_state(kept, line);
  line.bar = use_previous || previous_.blank ? std::string_view{}
                                             : cut_text(previous_.text, line_bytes_max_);
  line.cut = cut_;
  line.cut_bytes = dropped_ + kept.text.size() - line.last.size();
}

/// Emits the state before the current one, which does not draw the same again.
void LineFramer::emit_piece(RawLine& line) {
  emit_state(previous_, line);
  line.bar = {};
  line.cut = false;
  line.cut_bytes = 0;
  line.number = number_;
  line.first = !std::exchange(begun_, true);
  line.more = true;
  line.bytes = {offset_, offset_ + previous_.to};
  offset_ += previous_.to;
  gathered_bytes_ -= previous_.to;
  current_.from -= previous_.to;
  current_.to -= std::min(current_.to, previous_.to);
  updates_ = 1;  // the current state
  previous_.blank = true;
}

bool LineFramer::has_piece() const {
  return !previous_.blank && !current_.blank && !redraws(current_.text, previous_.text);
}

/// Takes the bytes up to `end` of what was given. False: a piece must be emitted first.
bool LineFramer::absorb(std::size_t end) {
  while (at_ < end) {
    const std::size_t stop = std::min(given_.find('\r', at_), end);
    const std::string_view piece = given_.substr(at_, stop - at_);
    if (!piece.empty() && after_cr_ && has_piece()) return false;
    append(piece);
    at_ = stop;
    gathered_bytes_ += piece.size();
    if (stop == end) break;
    ++at_;
    ++gathered_bytes_;
    after_cr_ = true;
    current_.to = gathered_bytes_;
  }
  return true;
}

void LineFramer::append(std::string_view piece) {
  if (piece.empty()) return;
  if (after_cr_) {
    if (!has_head_ || head_.empty()) head_.assign(current_.text);
    has_head_ = true;
    if (!current_.blank) std::swap(previous_, current_);
    current_.text.clear();
    current_.blank = true;
    after_cr_ = false;
  }
  const bool was_blank = current_.blank;
  if (current_.text.empty()) {
    const std::string_view text = behind_hole(piece);
    current_.from = gathered_bytes_ + (piece.size() - text.size());
    piece = text;
  }
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
