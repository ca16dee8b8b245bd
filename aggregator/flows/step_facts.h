// What one step of a job looked like from the network.
//
// Place in the flow: JobTracker makes one JobStep for each step -> Explainer::facts_of keeps what
// later steps are compared with -> SlowSteps and causes.h; ShapeRing keeps what a page draws. Plain
// values; seconds unless a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "aggregator/flows/job_flows.h"
#include "aggregator/flows/record.h"

namespace l4::flows {

inline constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

struct GroupStep {
  TimeNs end = 0;  ///< zero: no end was found in this step
  bool complete = false;
  TimeNs length = 0;        ///< since its last end, if both are complete; else zero
  TimeNs first_start = 0;   ///< of its first event
  float transfer = 0;       ///< of all events: from the last start to the end
  std::vector<float> late;  ///< of each card behind the first, summed over its events

  /// As new, but for the memory.
  void clear() {
    end = length = first_start = 0;
    complete = false;
    transfer = 0;
    late.clear();
  }
};

struct PipeStep {
  std::uint32_t sends = 0;
  TimeNs first_start = 0, last_end = 0;
  double seconds = 0, bytes = 0;
  float service = kUnknown;  ///< mean time from what a send needed to its start
};

struct JobStep {
  TimeNs begin = 0, end = 0;
  bool lossy = false;     ///< records of it were lost, and no two groups agree on its length; or
                          ///< records of storage were lost: it may have written a checkpoint
  bool partial = false;   ///< records of it were lost
  double storage = 0;     ///< within it, while the job wrote to storage
  TimeNs first_send = 0;  ///< start of the first row
  std::vector<GroupStep> groups;
  std::vector<PipeStep> pipes;
  std::vector<float> wake;  ///< of each card: its first send, behind the first one of all
};

/// A value to a thousandth, from 2^-31 to 2^31, in two bytes; zero, or not known.
class Short {
 public:
  Short() = default;
  explicit Short(float value) {
    constexpr std::uint32_t kHalf = 1u << (kCut - 1), kSign = 1u << 31;
    if (value != value) {
      bits_ = kNotKnown;
      return;
    }
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = (bits & ~kSign) + kHalf;
    const std::uint32_t sign = (bits & kSign) >> 16;
    if (size <= kLeast) return;
    const std::uint32_t most = kLeast + ((kSizes - 2) << kCut);
    const std::uint32_t kept = (std::min(size, most) - kLeast) >> kCut;
    bits_ = static_cast<std::uint16_t>(sign | kept);
  }
  bool is_known() const { return bits_ != kNotKnown; }
  float value() const {
    if (bits_ == kNotKnown) return kUnknown;
    const std::uint32_t size = bits_ & (kSizes - 1);
    if (size == 0) return 0;
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_ >> 15) << 31 |
                                ((size << kCut) + kLeast));
  }

 private:
  static constexpr unsigned kCut = 14;  ///< bits of a float's fraction that are not kept
  static constexpr std::uint32_t kLeast = (127u - 32u) << 23, kSizes = 1u << 15;
  static constexpr std::uint16_t kNotKnown = 0xffff;

  std::uint16_t bits_ = 0;
};

/// What is kept of a step: 2 bytes a group and card, 6 a pipeline stream.
struct StepFacts {
  TimeNs begin = 0, end = 0;
  bool partial = false;
  double storage = 0;
  double wait = 0;  ///< until its first send, without checkpoints
  /// Transfers of the groups; seconds, bytes and services of the pipeline streams; lateness of the
  /// servers; wakes of the cards. Explainer knows where they are.
  std::vector<Short> values;

  double seconds() const { return static_cast<double>(end - begin) / 1e9; }
  /// Without the time in which a checkpoint was written.
  double busy() const { return seconds() - storage; }
};

/// The latest steps as a page draws them: 4 bytes a group, to a 30,000th of the step. Bound: `most`
/// steps.
class ShapeRing {
 public:
  ShapeRing(std::size_t groups, std::size_t most) : groups_(groups), most_(most) {}

  /// What a step takes.
  static std::size_t bytes_each(std::size_t groups) { return sizeof(Step) + groups * sizeof(Cell); }
  void push(const JobStep& step);
  /// The last one was slow.
  void mark_slow();
  /// The oldest first.
  std::vector<StepShape> all() const;

 private:
  /// Begin and end of a group's exchange within the step; zero: not known.
  struct Cell {
    std::uint16_t first = 0, last = 0;
  };
  struct Step {
    TimeNs begin = 0, end = 0;
    bool slow = false;
  };

  std::size_t groups_, most_;
  std::size_t oldest_ = 0;
  std::vector<Step> steps_;
  std::vector<Cell> cells_;  ///< of each step those of its groups
};

}  // namespace l4::flows
