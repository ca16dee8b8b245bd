#include "agent/segment/run_watch.h"

#include <algorithm>

namespace l4::segment {
namespace {

/// Numbers of one run go back a little where several ranks write into one stream, or where a
/// program prints late what it measured early: by so many printed iterations at most ...
constexpr std::int64_t kLagStrides = 16;
/// ... and by so many where they are back at those with which the run began.
constexpr std::int64_t kLagStridesToBegin = 2;
/// Speakers that cannot be told apart say the same banner within so many records.
constexpr std::uint64_t kEchoRecords = 30;

}  // namespace

bool RunWatch::falls(std::size_t speaker, const TemplateTraits& traits, const IterationMark& mark) {
  if (mark.counted) return false;
  if (!leader_) leader_ = Leader{speaker, traits.role.iteration, mark.iteration, mark.iteration, 1};
  if (leader_->speaker != speaker || leader_->marker != traits.role.iteration) return false;
  const std::int64_t step = mark.iteration - leader_->last;
  const bool at_begin = mark.iteration <= leader_->first + leader_->stride;
  if (-step > (at_begin ? kLagStridesToBegin : kLagStrides) * leader_->stride) return true;
  if (step > 0) {
    leader_->stride = step;
    leader_->last = mark.iteration;
    came_to_something_ = true;
  }
  return false;
}

bool RunWatch::repeats(std::size_t speaker, const LiteralRule* banner) {
  const auto [said, first] = banners_.try_emplace({speaker, banner}, records_);
  if (first) return false;
  const bool echo = records_ - said->second < kEchoRecords;
  said->second = records_;
  return !echo && came_to_something_;
}

bool RunWatch::begins(std::size_t speaker, const TemplateTraits& traits, Level level,
                      const std::optional<IterationMark>& mark) {
  ++records_;
  const LiteralRule* banner = traits.role.banner;
  const bool begun =
      (mark && falls(speaker, traits, *mark)) || (banner != nullptr && repeats(speaker, banner));
  if (begun) {
    *this = {};
    if (banner != nullptr) banners_[{speaker, banner}] = records_;
  }
  came_to_something_ |= traits.role.finished || level >= Level::error;
  return begun;
}

}  // namespace l4::segment
