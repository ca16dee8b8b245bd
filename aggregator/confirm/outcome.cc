#include "aggregator/confirm/outcome.h"

#include <utility>

#include "aggregator/confirm/label.h"
#include "aggregator/scoring/shard.h"

namespace l4::confirm {
std::expected<OutcomeDone, Refused> record_outcome(const OutcomeRequest& request,
                                                   pool::PoolBook& pool, store::Database& database,
                                                   scoring::Shard& shard) {
  const std::string& id = request.outcome.job;
  const scoring::LiveJob* job = shard.find(id);
  if (job == nullptr && !pool.knows(id)) {
    const auto stored = database.has_job(id);
    if (!stored) return refuse(503, "database", stored.error().text());
    if (!*stored) return refuse(404, "not_found", "there is no job " + id);
  }
  OutcomeDone done;
  done.outcome = request.outcome;
  done.before = pool.outcome_of(id);
  auto told = pool.record_outcome(request.outcome);
  if (!told) return refuse(503, "not_stored", "the outcome is not stored: " + told.error().text());
  done.removed = std::move(*told);
  if (job != nullptr && job->report())
    if (const auto label = label_of_outcome(request.outcome, *job->report()))
      done.labelled = database.save(*label).has_value();
  if (request.outcome.outcome == "failure") return done;
  const auto added = shard.add_to_pool(id, request.outcome.who);
  if (!added) {
    done.why_not = "what the job has printed is no longer known";
    for (const pool::PoolBook::Row& row : pool.rows())
      if (row.run->job == id) {
        done.run = row.run->id;
        done.kind = row.run->kind;
        done.why_not.clear();
      }
  } else if (!*added) {
    done.why_not = added->error().text();
  } else {
    done.kind = **added;
    for (const pool::PoolBook::Row& row : pool.rows())
      if (row.run->job == id) done.run = row.run->id;
  }
  return done;
}

}  // namespace l4::confirm
