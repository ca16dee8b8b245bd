#include "aggregator/pool/pool_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/pool/run_json.h"
#include "aggregator/serve/utf8.h"

namespace l4::pool {
namespace {

constexpr std::string_view kFailure = "failure", kSuccess = "success", kDropped = "dropped";

std::vector<const PoolBook::Row*> newest_first(const std::map<std::string, PoolBook::Row>& runs) {
  std::vector<const PoolBook::Row*> order;
  order.reserve(runs.size());
  for (const auto& [id, row] : runs) order.push_back(&row);
  std::ranges::stable_sort(order, [](const PoolBook::Row* a, const PoolBook::Row* b) {
    return a->run->ended > b->run->ended;
  });
  return order;
}

}  // namespace

PoolBook::PoolBook(PoolOptions options, store::Database& database, Hooks hooks)
    : options_(options), database_(database), hooks_(std::move(hooks)) {
  const auto rows = database_.pool();
  if (!rows) hooks_.warn("the pool of healthy runs cannot be read: " + rows.error().text());
  std::size_t broken = 0;
  if (rows)
    for (const store::PoolRun& row : *rows) {
      auto run = pool::read_run(row.content);
      if (!run || run->kind != row.kind) {
        if (broken++ == 0)
          hooks_.warn(fmt::format("a run of the pool was passed over: {}: {}",
                                  serve::harmless(row.job),
                                  run ? std::string("its kind differs") : run.error().text()));
        continue;
      }
      const std::string id = run->id;
      runs_[id] = {std::make_shared<const pool::Run>(std::move(*run)), row.content.size()};
    }
  if (broken > 1) hooks_.warn(fmt::format("{} runs of the pool were passed over", broken));
  if (const auto told = database_.outcomes())
    for (const store::Outcome& one : *told) outcomes_[one.job] = one.outcome;
  publish();
  evict_old();
  if (!runs_.empty())
    hooks_.say(fmt::format("{} healthy runs of {} kinds of job are known", runs_.size(),
                           shelf_->kinds().size()));
}

PoolBook::ShelfPointer PoolBook::shelf() const {
  const MutexLock lock(shelf_mutex_);
  return shelf_;
}

PoolBook::ShelfPointer PoolBook::shelf_at(TimeMs time) const {
  std::vector<std::shared_ptr<const pool::Run>> runs;
  const std::vector<Row> known = rows();
  for (const Row& row : known)
    if (row.run->ended < time) runs.push_back(row.run);
  ShelfPointer now = shelf();
  if (runs.size() == known.size()) return now;
  return std::make_shared<const pool::Shelf>(runs, now.get());
}

PoolStats PoolBook::stats() const {
  const MutexLock lock(mutex_);
  PoolStats stats{runs_.size(), shelf()->kinds().size(), 0, added_, dropped_};
  for (const auto& [id, row] : runs_) stats.bytes += row.bytes;
  return stats;
}

std::vector<PoolBook::Row> PoolBook::rows() const {
  const MutexLock lock(mutex_);
  std::vector<Row> rows;
  for (const Row* row : newest_first(runs_)) rows.push_back(*row);
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.run->kind; });
  return rows;
}

bool PoolBook::wants(const std::string& job, std::int32_t attempt, std::uint64_t lines) const {
  const MutexLock lock(mutex_);
  const auto told = outcomes_.find(job);
  if (told != outcomes_.end() && told->second != kSuccess) return false;
  const auto known = runs_.find(pool::run_id(job, attempt));
  return known == runs_.end() || known->second.run->lines < lines;
}

/// The most similar kind, or a new one, named after the events of the run.
std::string PoolBook::kind_for(const pool::Run& run) const {
  const auto marks = pool::marks_of(run.events);
  const ShelfPointer now = shelf();
  if (const pool::Kind* kind = now->kind_of(marks)) return kind->id;
  std::uint64_t sum = 0x9e3779b97f4a7c15U;
  for (const pool::Mark& mark : marks) sum = (sum ^ mark.id.value()) * 0x100000001b3U;
  for (;; ++sum) {
    std::string id = fmt::format("kind-{:08x}", sum & 0xffffffffU);
    const auto is_it = [&](const auto& kind) { return kind->id == id; };
    if (std::ranges::none_of(now->kinds(), is_it)) return id;
  }
}

/// The runs beyond the bounds, oldest first.
std::vector<std::string> PoolBook::too_many(const Runs& runs, TimeMs now) const {
  std::vector<std::string> gone;
  std::map<std::string, std::size_t> of_kind;
  std::uint64_t bytes = 0;
  for (const Row* row : newest_first(runs)) {
    const pool::Run& run = *row->run;
    const bool new_kind = !of_kind.contains(run.kind);
    if (now - run.ended > options_.age || bytes + row->bytes > options_.bytes_max ||
        (new_kind && of_kind.size() >= options_.kinds_max) ||
        (!new_kind && of_kind[run.kind] >= options_.runs_max)) {
      gone.push_back(run.id);
      continue;
    }
    bytes += row->bytes;
    ++of_kind[run.kind];
  }
  return gone;
}

/// Replaces the runs by `runs`, first in the database.
Result<void> PoolBook::change(const std::optional<store::PoolRun>& row, Runs runs) {
  std::vector<std::string> gone;
  for (const auto& [id, known] : runs_)
    if (!runs.contains(id)) gone.push_back(id);
  for (const std::string& id : too_many(runs, hooks_.now())) {
    if (row && id == row->job)
      return std::unexpected(Error{id, "is older than anything the pool keeps"});
    runs.erase(id);
    gone.push_back(id);
  }
  if (!row && gone.empty()) return {};
  if (auto done = database_.change_pool(row, gone); !done) return done;
  dropped_ += gone.size();
  added_ += row ? 1 : 0;
  runs_ = std::move(runs);
  publish();
  return {};
}

void PoolBook::publish() {
  std::vector<std::shared_ptr<const pool::Run>> runs;
  for (const Row* row : newest_first(runs_)) runs.push_back(row->run);
  auto fresh = std::make_shared<const pool::Shelf>(runs, shelf().get());
  const MutexLock lock(shelf_mutex_);
  shelf_ = std::move(fresh);
}

Result<std::string> PoolBook::add(pool::Run run, const std::string& by) {
  const MutexLock lock(mutex_);
  const auto told = outcomes_.find(run.job);
  if (told != outcomes_.end() && told->second == kFailure)
    return std::unexpected(Error{run.id, "its job was told to be a failure"});
  const auto known = runs_.find(run.id);
  run.kind = known != runs_.end() ? known->second.run->kind : kind_for(run);
  store::PoolRun row{run.kind, run.id, run.ended, static_cast<std::int64_t>(run.events.size()),
                     pool::to_json(run)};
  if (row.content.size() > kRunBytesMax)
    return std::unexpected(Error{run.id, fmt::format("takes {} bytes, at most {} are kept",
                                                     row.content.size(), kRunBytesMax)});
  Runs runs = runs_;
  runs[run.id] = {std::make_shared<const pool::Run>(run), row.content.size()};
  if (auto done = change(row, std::move(runs)); !done) return std::unexpected(done.error());
  hooks_.say(fmt::format("run {} was added to the pool as {} by {}: {} normal events",
                         serve::harmless(run.id), run.kind, by, run.events.size()));
  return run.kind;
}

Result<bool> PoolBook::drop(const std::string& run, const std::string& by) {
  const MutexLock lock(mutex_);
  const auto known = runs_.find(run);
  if (known == runs_.end()) return false;
  const std::string job = known->second.run->job;
  if (const auto told = outcomes_.find(job); told == outcomes_.end() || told->second != kFailure) {
    const store::Outcome word{job, std::string(kDropped), {}, by, hooks_.now()};
    if (auto done = database_.save(word); !done) return std::unexpected(done.error());
    outcomes_[job] = kDropped;
  }
  Runs runs = runs_;
  runs.erase(run);
  if (auto done = change({}, std::move(runs)); !done) return std::unexpected(done.error());
  hooks_.say(fmt::format("run {} was dropped from the pool by {}", serve::harmless(run), by));
  return true;
}

std::string PoolBook::outcome_of(const std::string& job) const {
  const MutexLock lock(mutex_);
  const auto told = outcomes_.find(job);
  return told == outcomes_.end() || told->second == kDropped ? std::string() : told->second;
}

bool PoolBook::knows(const std::string& job) const {
  const MutexLock lock(mutex_);
  return outcomes_.contains(job) ||
         std::ranges::any_of(runs_, [&](const auto& one) { return one.second.run->job == job; });
}

Result<std::vector<std::string>> PoolBook::record_outcome(const store::Outcome& outcome) {
  const MutexLock lock(mutex_);
  if (outcomes_.size() >= kOutcomesMax && !outcomes_.contains(outcome.job))
    return std::unexpected(
        Error{outcome.job, fmt::format("{} outcomes are known, which is the most", kOutcomesMax)});
  if (auto done = database_.save(outcome); !done) return std::unexpected(done.error());
  outcomes_[outcome.job] = outcome.outcome;
  hooks_.say(fmt::format("job {} was told a {} by {}{}", serve::harmless(outcome.job),
                         outcome.outcome, outcome.who,
                         outcome.note.empty() ? "" : ": " + serve::harmless(outcome.note)));
  std::vector<std::string> gone;
  if (outcome.outcome != kFailure) return gone;
  Runs runs = runs_;
  for (const auto& [id, row] : runs_)
    if (row.run->job == outcome.job) gone.push_back(id), runs.erase(id);
  if (auto done = change({}, std::move(runs)); !done) return std::unexpected(done.error());
  return gone;
}

void PoolBook::evict_old() {
  const MutexLock lock(mutex_);
  if (auto done = change({}, runs_); !done)
    hooks_.warn("old runs of the pool are not let go: " + done.error().text());
}

}  // namespace l4::pool
