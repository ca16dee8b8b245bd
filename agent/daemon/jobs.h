// The pipelines of the jobs whose logs are here, one each.
//
// Flow: Intake feeds them; their batches go to the link (ship::Session::offer). One thread. Bounds:
// `jobs_max`; logs of further jobs go into the pipeline of the first job, and are counted. A single
// pipeline is never dropped: its template ids are valid as long as the agent. When enough jobs are
// idle (`crowded`), a new agent starts from the committed positions and knows only jobs that speak.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/pipeline/job_pipeline.h"

namespace l4::daemon {

class Jobs : public pipeline::Output {
 public:
  using Ship = std::function<void(wire::Batch&&)>;

  struct Bounds {
    std::size_t jobs_max = 64;
    Millis idle_after{3'600'000};  ///< time without a byte from the job's logs
  };

  Jobs(const segment::RulePackSet& packs, pipeline::Options options, Bounds bounds, Ship ship)
      : packs_(packs), options_(options), bounds_(bounds), ship_(std::move(ship)) {}

  /// The pipeline of a job, made if there is none; valid as long as this.
  pipeline::JobPipeline& of(const std::string& job, Millis steady);
  pipeline::JobPipeline* find(const std::string& job);
  /// The pipeline of a job that has one; called when bytes of its logs arrive.
  pipeline::JobPipeline& fed(const std::string& job, Millis steady);

  /// Ships the ready batches of all pipelines.
  void flush(Millis steady, bool all = false);
  bool dirty() const;
  /// As JobPipeline::due, of all.
  std::optional<Millis> due() const;
  void restart();
  void arrives(const wire::Instant& now);
  /// Jobs without a byte for `idle_after`, except those of living processes: they would come back
  /// at once.
  std::size_t idle(Millis steady, const std::set<std::string>& living = {}) const;
  /// Jobs with a byte within `most`, or living processes.
  std::vector<std::string> lately(Millis steady, Millis most,
                                  const std::set<std::string>& living) const;
  /// Whether so many jobs are idle that a new agent without them is worth its cost.
  bool crowded(Millis steady, const std::set<std::string>& living = {}) const;

  template <class Visit>
  void each(Visit visit) {
    for (auto& [name, job] : jobs_) visit(*job.pipeline);
  }
  /// The first pipeline; there must be one.
  pipeline::JobPipeline& first();
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
  Bounds bounds_;
  Ship ship_;
  std::map<std::string, Job> jobs_;
  std::uint64_t refused_ = 0;
};

}  // namespace l4::daemon
