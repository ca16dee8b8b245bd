// The pipelines of the jobs whose logs are here, one each.
//
// Flow: Intake feeds them; their batches go to the link (ship::Session::offer). One thread. Bounds:
// `jobs_max`; what is beyond them goes into the pipeline of the first job, and is counted. A job
// all of whose logs are gone for an hour makes room.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/pipeline/job_pipeline.h"

namespace l4::daemon {

class Jobs : public pipeline::Output {
 public:
  using Ship = std::function<void(wire::Batch&&)>;

  Jobs(const segment::RulePackSet& packs, pipeline::Options options, std::size_t jobs_max,
       Ship ship)
      : packs_(packs), options_(options), jobs_max_(jobs_max), ship_(std::move(ship)) {}

  /// Stands until `tidy` lets go of a job without logs.
  pipeline::JobPipeline& of(const std::string& job, Millis steady);
  pipeline::JobPipeline* find(const std::string& job);

  /// Ships what is ready in all of them.
  void flush(Millis steady, bool all = false);
  bool dirty() const;
  void restart();
  void arrives(TimeMs now);
  void tidy(Millis steady);

  template <class Visit>
  void each(Visit visit) {
    for (auto& [name, job] : jobs_) visit(*job.pipeline);
  }
  /// There must be one.
  pipeline::JobPipeline& first() { return *jobs_.begin()->second.pipeline; }
  std::size_t size() const { return jobs_.size(); }
  std::uint64_t refused() const { return refused_; }

 private:
  struct Job {
    std::unique_ptr<pipeline::JobPipeline> pipeline;
    Millis used{0};
  };
  void batch(wire::Batch&& batch) override { ship_(std::move(batch)); }

  const segment::RulePackSet& packs_;
  pipeline::Options options_;
  std::size_t jobs_max_;
  Ship ship_;
  std::map<std::string, Job> jobs_;
  std::uint64_t refused_ = 0;
};

}  // namespace l4::daemon
