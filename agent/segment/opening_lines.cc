#include "agent/segment/opening_lines.h"

#include <algorithm>

namespace l4::segment {
namespace {

/// Lines of one start stand at most so many records apart: a program prints its model between.
constexpr std::uint64_t kApartMax = 400;
/// A start is seen from its top if one of so many first telling lines came again.
constexpr std::ptrdiff_t kTop = 3;

}  // namespace

std::size_t OpeningLines::find(LocalTemplateId id) const {
  std::size_t at = 0;
  while (at < size_ && lines_[at].id != id) ++at;
  return at;
}

void OpeningLines::note(LocalTemplateId id) {
  const std::size_t at = may_hold(id) ? find(id) : size_;
  if (at < size_) {
    // Processes of one job repeat each other; a line that one of them prints twice is next to it.
    if (at != noted_ && !lines_[at].common) {
      lines_[at].common = true;
      --telling_;
    }
    noted_ = at;
    return;
  }
  if (full()) return;
  lines_[size_] = {.id = id};
  noted_ = size_++;
  ++telling_;
  bits_[word(id)] |= bit(id);
}

void OpeningLines::again(LocalTemplateId id, std::uint64_t record) {
  const std::size_t at = find(id);
  if (at == size_ || lines_[at].common) return;
  if (repeated_ > 0 && record - record_ > kApartMax) go_on();
  if (lines_[at].common || lines_[at].repeated || (repeated_ > 0 && at < place_)) return;
  const auto before =
      std::count_if(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(at),
                    [](const Line& line) { return !line.common; });
  lines_[at].repeated = true;
  from_the_top_ |= before < kTop;
  place_ = at;
  record_ = record;
  ++repeated_;
}

std::size_t OpeningLines::needed(bool ended) const {
  if (telling_ < 2) return kMax + 1;
  return ended ? std::clamp<std::size_t>((telling_ + 3) / 4, 2, 4)
               : std::clamp<std::size_t>((telling_ + 1) / 2, 2, 6);
}

void OpeningLines::forget(bool common) {
  for (std::size_t i = 0; i < size_; ++i) {
    if (common && lines_[i].repeated && !lines_[i].common) {
      lines_[i].common = true;
      --telling_;
    }
    lines_[i].repeated = false;
  }
  repeated_ = place_ = 0;
  from_the_top_ = false;
}

}  // namespace l4::segment
