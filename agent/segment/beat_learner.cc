#include "agent/segment/beat_learner.h"

#include <algorithm>
#include <limits>

namespace l4::segment {
namespace {

void count_up(std::uint8_t& value) {
  if (value < std::numeric_limits<std::uint8_t>::max()) ++value;
}

}  // namespace

/// Without room, a template that came once, as at the start of a job, gives way.
std::optional<std::size_t> BeatLearner::place_of(LocalTemplateId id) {
  for (std::size_t i = 0; i < size_; ++i)
    if (watched_[i].id == id) return i;
  std::size_t place = size_;
  if (size_ < kTemplatesMax) {
    ++size_;
  } else {
    for (std::size_t tries = 0; tries < kTemplatesMax; ++tries) {
      oldest_ = (oldest_ + 1) % kTemplatesMax;
      if (watched_[oldest_].seen <= 1) break;
    }
    if (watched_[oldest_].seen > 1) return std::nullopt;
    place = oldest_;
  }
  watched_[place] = {id, 0, {}};
  for (Watched& other : watched_) other.others[place] = {};
  return place;
}

/// Each comes once between any two records of the other, for so many of them.
bool BeatLearner::alternate(std::size_t one, std::size_t other, std::uint8_t turns) const {
  const Between& between = watched_[one].others[other];
  const Between& back = watched_[other].others[one];
  return between.usual == 1 && back.usual == 1 && between.alike >= turns && back.alike + 1 >= turns;
}

/// Another template comes once between any two records of this one, and this one between any two of
/// the other; or equally often, for longer. Where that was chance before, it takes twice as long
/// each time.
bool BeatLearner::keeps_pace(std::size_t place) const {
  constexpr unsigned kTurnsMin = 3, kLongMin = 6, kDoublingsMax = 4;
  const unsigned doublings = std::min<unsigned>(changes_, kDoublingsMax);
  const auto turns = static_cast<std::uint8_t>(kTurnsMin << doublings);
  const auto several = static_cast<std::uint8_t>(kLongMin << doublings);
  for (std::size_t other = 0; other < size_; ++other) {
    if (other == place) continue;
    const Between& between = watched_[place].others[other];
    if (alternate(place, other, turns) || (between.usual > 0 && between.alike >= several))
      return true;
  }
  return false;
}

/// Two others come in turn, and this one in turn with neither: it comes by the clock.
bool BeatLearner::is_apart(std::size_t place) const {
  constexpr std::uint8_t kTurns = 4, kOne = 1, kLong = 3;
  for (std::size_t one = 0; one < size_; ++one)
    for (std::size_t other = one + 1; other < size_; ++other) {
      if (one == place || other == place || !alternate(one, other, kTurns)) continue;
      const auto in_pace = [&](std::size_t with) {
        const Between& between = watched_[place].others[with];
        return alternate(place, with, kOne) || (between.usual > 1 && between.alike >= kLong);
      };
      if (!in_pace(one) && !in_pace(other)) return true;
    }
  return false;
}

void BeatLearner::drop_beat() {
  beat_.reset();
  ++changes_;
}

bool BeatLearner::observe(LocalTemplateId id) {
  constexpr std::uint32_t kAlone = 8;
  constexpr std::uint8_t kStraysMax = 8, kQuietMax = 64;
  const auto found = place_of(id);
  if (!found) return false;
  const std::size_t place = *found;
  Watched& own = watched_[place];
  for (std::size_t other = 0; other < size_; ++other) {
    if (other == place) continue;
    count_up(watched_[other].others[place].now);
    Between& between = own.others[other];
    if (own.seen > 0) {
      if (between.now == between.usual)
        count_up(between.alike);
      else
        between = {0, between.now, 1};
    }
    between.now = 0;
  }
  ++own.seen;
  if (beat_ && *beat_ != place) {
    if (++quiet_ >= kQuietMax) drop_beat();
    return false;
  }
  quiet_ = 0;
  const bool steady = (keeps_pace(place) && !is_apart(place)) || (size_ == 1 && own.seen >= kAlone);
  if (!beat_) {
    if (!steady) return false;
    beat_ = place;
    number_ = std::max(number_ + 1, own.seen);
    strays_ = 0;
    return true;
  }
  ++number_;
  strays_ = steady ? 0 : static_cast<std::uint8_t>(strays_ + 1);
  if (strays_ < kStraysMax && !is_apart(place)) return true;
  drop_beat();
  for (Between& between : own.others) between = {};
  return false;
}

}  // namespace l4::segment
