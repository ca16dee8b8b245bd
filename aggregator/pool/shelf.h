// Healthy runs by kind of job, and which events are normal for a running job of a kind.
//
// Flow: the pool's runs -> Shelf, which never changes -> each job: kind_of() finds its kind by its
// templates, normal_of() returns the normal events by the job's own template ids, for
// diagnose::Options. Kinds need no label. The likeness of two sets of templates is their overlap
// coefficient |A and B| / min(|A|, |B|). Only templates below level warning count, because warnings
// come and go; templates are equal by id or by text. Two sets are alike from kAlikeMin on, with at
// least kMarksMin in common: the smaller set may belong to a job that has just begun. Measured on
// the 23 jobs of ../shared/data/lab_runs that reached training, most of them with a fault (`l4 pool
// add --anyway`, `l4 pool export`): 58 pairs of jobs of one program overlap by .81 to 1, 195 pairs
// of different programs by at most .62. A job that ends before training has only the lines of its
// launcher and fits any kind. Threads: immutable once made. Bounds: those of the pool.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "aggregator/diagnose/findings/pool.h"
#include "aggregator/job/unify.h"
#include "aggregator/pool/run.h"

namespace l4::pool {

inline constexpr double kAlikeMin = 0.7;
inline constexpr std::size_t kMarksMin = 6;

/// A template that distinguishes kinds.
struct Mark {
  TemplateId id;
  std::size_t text = 0;  ///< hash of the text, valid in this process
};
std::vector<Mark> marks_of(const std::vector<Event>& events);

/// An event of a kind, unified over its runs as events are unified over the nodes of a job.
struct NormalEvent {
  std::vector<TemplateId> ids;
  std::string text;
  Level level = Level::unknown;
  diagnose::PoolEvent use;
};

struct Kind {
  std::string id;  ///< id of its first run
  std::vector<std::shared_ptr<const Run>> runs;
  std::vector<NormalEvent> events;
  std::vector<Pause> pauses;  ///< the longest ones of all runs
  double slowed = 1;          ///< Run::slowed, the most of any run
  std::unordered_set<TemplateId> ids;
  std::unordered_set<std::size_t> texts;
  std::size_t marks = 0;  ///< the largest number of marks of a run

  /// True if a healthy run has printed the template.
  bool knows(const Mark& mark) const { return ids.contains(mark.id) || texts.contains(mark.text); }
};

class Shelf {
 public:
  /// Each run has its kind. A kind with the same runs as in `before` is reused.
  explicit Shelf(const std::vector<std::shared_ptr<const Run>>& runs,
                 const Shelf* before = nullptr);

  const std::vector<std::shared_ptr<const Kind>>& kinds() const { return kinds_; }
  /// The most similar kind; null if no kind is similar enough.
  const Kind* kind_of(const std::vector<Mark>& marks) const;

 private:
  std::vector<std::shared_ptr<const Kind>> kinds_;  ///< by id
};

/// The likeness, from 0 to 1; 0 with fewer than kMarksMin marks in common.
double likeness(const std::vector<Mark>& marks, const Kind& kind);

/// The marks of a running job.
std::vector<Mark> marks_of(job::TemplateTable& templates);
/// The normal events of the kind, by the ids of `templates`.
diagnose::Pool normal_of(const Kind& kind, job::TemplateTable& templates);

}  // namespace l4::pool
