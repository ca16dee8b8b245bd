#include "agent/segment/run_watch.h"

#include <algorithm>

namespace l4::segment {
namespace {

/// Numbers of one run fall a little if several ranks write into one stream, or if a program prints
/// measurements late: by this many printed iterations at most.
constexpr std::int64_t kLagStrides = 16;
/// The limit for numbers that fall back to those with which the run began.
constexpr std::int64_t kLagStridesToBegin = 2;
/// Speakers without distinct prefixes print the same banner within this many records.
constexpr std::uint64_t kEchoRecords = 30;
/// Falls are counted in blocks of this many numbers.
constexpr int kJumpBlock = 32;
/// A block with kJumpsMany falls shows numbers that count nothing; normal blocks have kJumpsFew at
/// most.
constexpr int kJumpsMany = 8, kJumpsFew = 2;
constexpr std::int64_t kJump = 16;

}  // namespace

void RunWatch::note_jump(std::size_t speaker, const IterationMark& mark) {
  const std::int64_t number = mark.iteration;
  if (!jumps_.last)
    jumps_ = {.speaker = speaker, .marker = mark.rule, .numbering = mark.numbering, .last = number};
  if (jumps_.speaker != speaker || jumps_.marker != mark.rule) return;
  const bool compared = jumps_.numbering == mark.numbering;
  jumps_.numbering = mark.numbering;
  if (compared && number < *jumps_.last - kJump && !jumps_.started) ++jumps_.back;
  jumps_.started = false;
  jumps_.last = number;
  if (++jumps_.numbers < kJumpBlock) return;
  jumps_.restless = jumps_.back >= (jumps_.restless ? kJumpsFew + 1 : kJumpsMany);
  jumps_.numbers = jumps_.back = 0;
}

bool RunWatch::falls(std::size_t speaker, const IterationMark& mark) {
  if (mark.counted) return false;
  if (leader_ && leader_->speaker == speaker && leader_->numbering != mark.numbering)
    leader_.reset();
  if (!leader_)
    leader_ = Leader{speaker, mark.rule, mark.numbering, mark.iteration, mark.iteration, 1};
  if (leader_->speaker != speaker || leader_->marker != mark.rule) return false;
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
  if (mark && !mark->counted) note_jump(speaker, *mark);
  const LiteralRule* banner = traits.role.banner;
  jumps_.started |= banner != nullptr || is_startup(traits.role.stage);
  if (restless()) leader_.reset();
  const bool begun = (mark && !restless() && falls(speaker, *mark)) ||
                     (banner != nullptr && repeats(speaker, banner));
  if (begun) {
    const Jumps jumps = jumps_;
    *this = {};
    jumps_ = jumps;
    if (banner != nullptr) banners_[{speaker, banner}] = records_;
  }
  came_to_something_ |= traits.role.finished || level >= Level::error;
  return begun;
}

}  // namespace l4::segment
