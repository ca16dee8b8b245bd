#include "tools/fleet/plan.h"

#include <algorithm>
#include <array>
#include <random>

namespace l4::fleet {
namespace {

constexpr std::array<Stage, 4> kStart{Stage::init, Stage::data_loading, Stage::model_build,
                                      Stage::data_loading};

/// Writes one moment after another.
class Writer {
 public:
  Writer(std::uint64_t seed, std::vector<const Fault*> faults)
      : random_(seed), faults_(std::move(faults)) {
    plan_checkpoint();
  }

  Moment next(std::int64_t second) {
    if (!faults_.empty() && fault_ == nullptr && second >= faults_.front()->at) {
      fault_ = faults_.front();
      faults_.erase(faults_.begin());
    }
    if (fault_ != nullptr && fault_->lasts > 0 && second >= fault_->at + fault_->lasts) end(second);
    Moment now;
    now.attempt = attempt_;
    now.attempt_begin = begin_;
    now.fault = fault_;
    now.since_fault = fault_ == nullptr ? 0 : second - fault_->at;
    const bool stands = fault_ != nullptr && fault_->kind != Kind::slow;
    if (!stands) go_on(now, second - begin_);
    return now;
  }

 private:
  void plan_checkpoint() {
    checkpoint_ = iteration_ + std::uniform_int_distribution<std::int64_t>(40, 90)(random_);
    pause_ = std::uniform_int_distribution<std::int64_t>(2, 4)(random_);
  }

  /// The fault is over: the job goes on where it stood, or starts again at its last checkpoint.
  void end(std::int64_t second) {
    if (fault_->kind == Kind::crash || fault_->kind == Kind::lost) {
      ++attempt_;
      begin_ = second;
      iteration_ = saved_;
      left_ = 0;
      plan_checkpoint();
    }
    fault_ = nullptr;
  }

  void go_on(Moment& now, std::int64_t age) {
    if (age < static_cast<std::int64_t>(kStart.size())) {
      now.stage = kStart.at(static_cast<std::size_t>(age));
      return;
    }
    if (left_ > 0) {
      if (--left_ == pause_ - 1) now.stage = Stage::checkpoint_save;
      if (left_ == 0) plan_checkpoint();
      return;
    }
    const std::int64_t takes = fault_ == nullptr ? 1 : fault_->factor;
    if (++worked_ < takes) return;
    worked_ = 0;
    now.took = takes;
    now.iteration = ++iteration_;
    if (iteration_ < checkpoint_) return;
    saved_ = iteration_;
    left_ = pause_;
  }

  std::mt19937_64 random_;
  std::vector<const Fault*> faults_;
  const Fault* fault_ = nullptr;
  std::int32_t attempt_ = 0;
  std::int64_t begin_ = 0, iteration_ = 0, saved_ = 0, worked_ = 0;
  std::int64_t checkpoint_ = 0, pause_ = 0, left_ = 0;
};

}  // namespace

JobPlan::JobPlan(const Script& script, std::size_t job)
    : job_(&script.jobs.at(job)), seed_(script.seed * 1'000 + job) {
  for (std::size_t i = 0; i < job; ++i) first_node_ += script.jobs[i].nodes;
  std::vector<const Fault*> faults;
  for (const Fault& fault : script.faults)
    if (fault.job == job_->name) faults.push_back(&fault);
  Writer writer(seed_, std::move(faults));
  for (std::int64_t second = 0; second <= script.seconds; ++second)
    moments_.push_back(writer.next(second));
}

const Moment& JobPlan::at(std::int64_t second) const {
  const auto last = static_cast<std::int64_t>(moments_.size()) - 1;
  return moments_[static_cast<std::size_t>(std::clamp<std::int64_t>(second, 0, last))];
}

bool JobPlan::is_away(std::size_t node, std::int64_t second) const {
  const Moment& now = at(second);
  return now.fault != nullptr && now.fault->kind == Kind::lost && now.fault->node == node;
}

}  // namespace l4::fleet
