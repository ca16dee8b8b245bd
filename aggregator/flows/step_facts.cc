#include "aggregator/flows/step_facts.h"

#include <cstddef>

namespace l4::flows {
namespace {

constexpr TimeNs kParts = 32'000;  // of a step; half of one before it and behind it are told, too

std::uint16_t place_of(TimeNs time, TimeNs begin, TimeNs length) {
  if (time == 0) return 0;
  const TimeNs away = std::clamp(time - begin, -length / 2, length + length / 2);
  const double part = static_cast<double>(away) / static_cast<double>(length);
  return static_cast<std::uint16_t>(1 + (part + 0.5) * static_cast<double>(kParts));
}

TimeNs time_of(std::uint16_t place, TimeNs begin, TimeNs length) {
  if (place == 0) return 0;
  const double part = static_cast<double>(place - 1) / static_cast<double>(kParts) - 0.5;
  return begin + static_cast<TimeNs>(part * static_cast<double>(length));
}

}  // namespace

void ShapeRing::push(const JobStep& step) {
  if (most_ == 0) return;
  std::size_t place = steps_.size();
  if (place < most_) {
    steps_.emplace_back();
    cells_.resize(steps_.size() * groups_);
  } else {
    place = oldest_;
    oldest_ = (oldest_ + 1) % most_;
  }
  const TimeNs length = std::max<TimeNs>(1, step.end - step.begin);
  steps_[place] = {step.begin, step.end, false};
  for (std::size_t g = 0; g < groups_; ++g) {
    const GroupStep& group = step.groups[g];
    cells_[place * groups_ + g] = group.end == 0
                                      ? Cell()
                                      : Cell{place_of(group.first_start, step.begin, length),
                                             place_of(group.end, step.begin, length)};
  }
}

void ShapeRing::mark_slow() {
  if (steps_.empty()) return;
  steps_[(oldest_ + steps_.size() - 1) % steps_.size()].slow = true;
}

std::vector<StepShape> ShapeRing::all() const {
  std::vector<StepShape> shapes;
  shapes.reserve(steps_.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::size_t place = (oldest_ + i) % steps_.size();
    const Step& step = steps_[place];
    const TimeNs length = std::max<TimeNs>(1, step.end - step.begin);
    StepShape& shape = shapes.emplace_back(StepShape{step.begin, step.end, step.slow, {}});
    shape.groups.reserve(groups_);
    for (std::size_t g = 0; g < groups_; ++g) {
      const Cell& cell = cells_[place * groups_ + g];
      shape.groups.emplace_back(time_of(cell.first, step.begin, length),
                                time_of(cell.last, step.begin, length));
    }
  }
  return shapes;
}

}  // namespace l4::flows
