// Knowledge of a running job from earlier jobs of its kind: normal events and longest pauses.
// Flow: Shard gives the current shelf; if the shelf or the job's templates have changed, the kind
// is resolved again and the normal events are mapped to the job's own template ids. Belongs to one
// job, on its thread. Resolving costs some milliseconds: it happens every kEvery while the job is
// young, later one for each diagnosis.
#pragma once

#include <memory>
#include <string>

#include "aggregator/pool/shelf.h"
#include "aggregator/watch/job_watch.h"

namespace l4::scoring {

class Kinship {
 public:
  static constexpr Millis kEvery{2'000}, kYoung{600'000};

  /// Whether resolving the kind again may find something new.
  bool is_due(TimeMs now, TimeMs opened) const {
    return shelf_ && !shelf_->kinds().empty() && now - opened < kYoung && now >= next_;
  }
  /// Looks up the kind and passes its pauses and normal lines to the watch. `shelf` may be null: no
  /// kind is known.
  void resolve(std::shared_ptr<const pool::Shelf> shelf, job::TemplateTable& templates,
               watch::JobWatch& watch, TimeMs now);

  /// The normal events, by the ids of the job's templates; empty if the kind is not known.
  const diagnose::Pool& normal() const { return normal_; }
  const std::string& kind() const { return kind_; }  ///< empty: not known

 private:
  std::shared_ptr<const pool::Shelf> shelf_;
  std::size_t templates_ = 0;
  TimeMs next_{};
  std::string kind_;
  diagnose::Pool normal_;
};

}  // namespace l4::scoring
