// Healthy runs sorted into kinds of job, and what a running job has to take as normal of its kind.
//
// Flow: the pool's runs -> Shelf, which never changes -> each job: kind_of() finds its kind by its
// templates, normal_of() says in its own template ids what is normal, for diagnose::Options.
// Kinds need no label. How alike two sets of templates are is measured as the overlap coefficient
// |A and B| / min(|A|, |B|), over templates that are no warnings or worse (those come and go), each
// known again by its id or its text. Alike are kAlikeMin and more, with at least kMarksMin in
// common: the smaller set may be a job that has just begun. Measured on the 23 jobs of
// ../shared/data/lab_runs that got as far as training, most of them with a fault (`l4 pool add
// --anyway`, `l4 pool export`): 58 pairs of one program overlap by .81 to 1, 195 pairs of two by
// at most .62. What ends before it trains has a launcher's lines alone, and any kind will do.
// Threads: immutable once made. Bounds: those of whoever puts the runs in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "aggregator/diagnose/pool.h"
#include "aggregator/job/unify.h"
#include "aggregator/pool/run.h"

namespace l4::pool {

inline constexpr double kAlikeMin = 0.7;
inline constexpr std::size_t kMarksMin = 6;

/// A template by which kinds are told apart.
struct Mark {
  TemplateId id;
  std::size_t text = 0;  ///< hash, of this process
};
std::vector<Mark> marks_of(const std::vector<Event>& events);

/// An event that runs of a kind have, unified over them as over the nodes of one job.
struct NormalEvent {
  std::vector<TemplateId> ids;
  std::string text;
  Level level = Level::unknown;
  diagnose::PoolEvent use;
};

struct Kind {
  std::string id;  ///< the one of its first run
  std::vector<std::shared_ptr<const Run>> runs;
  std::vector<NormalEvent> events;
  std::vector<Pause> pauses;  ///< the longest of all runs
  std::unordered_set<TemplateId> ids;
  std::unordered_set<std::size_t> texts;
  std::size_t marks = 0;  ///< of the run that has the most

  /// Whether a healthy run has printed it.
  bool knows(const Mark& mark) const { return ids.contains(mark.id) || texts.contains(mark.text); }
};

class Shelf {
 public:
  /// Each run has its kind. A kind whose runs are those of `before` is taken from there.
  explicit Shelf(const std::vector<std::shared_ptr<const Run>>& runs,
                 const Shelf* before = nullptr);

  const std::vector<std::shared_ptr<const Kind>>& kinds() const { return kinds_; }
  /// The kind that is most alike; null if none is alike.
  const Kind* kind_of(const std::vector<Mark>& marks) const;

 private:
  std::vector<std::shared_ptr<const Kind>> kinds_;  ///< by id
};

/// From 0 to 1; 0 with fewer than kMarksMin in common.
double likeness(const std::vector<Mark>& marks, const Kind& kind);

/// Marks of a job as it stands.
std::vector<Mark> marks_of(job::TemplateTable& templates);
/// What is normal, by the ids of `templates`.
diagnose::Pool normal_of(const Kind& kind, job::TemplateTable& templates);

}  // namespace l4::pool
