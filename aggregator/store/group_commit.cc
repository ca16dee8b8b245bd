#include "aggregator/store/group_commit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/base/thread.h"

namespace l4::store {
namespace {

constexpr Millis kDelayMax{200};

}  // namespace

struct GroupCommit::Impl {
  Impl(Journal opened, GroupCommitOptions limits, GroupCommitEvents listeners,
       std::function<TimeMs()> clock)
      : options(limits),
        events(std::move(listeners)),
        now(std::move(clock)),
        journal(std::move(opened)),
        appended(journal.last()),
        durable(journal.is_sure() ? journal.last() : Seq{}),
        list(journal.segments()) {
    options.delay_max = std::min(options.delay_max, kDelayMax);
    thread = start_thread("group-commit", [this](const std::stop_token& stop) { run(stop); });
  }

  void run(const std::stop_token& stop);
  bool wait_for_group(MutexLock& lock, const std::stop_token& stop) L4_REQUIRES(mutex);
  // These functions release the mutex while they write or call back, and hold it again when they
  // return.
  void commit() L4_REQUIRES(mutex);
  void note_failure(const Error& error) L4_REQUIRES(mutex);
  void note_success(Seq through) L4_REQUIRES(mutex);

  GroupCommitOptions options;
  GroupCommitEvents events;
  std::function<TimeMs()> now;
  Journal journal;      // used by the thread alone
  RecordGroup writing;  // used by the thread alone: written, but not durable yet

  mutable Mutex mutex;
  CondVar changed, committed;
  RecordGroup waiting L4_GUARDED_BY(mutex);
  std::size_t writing_bytes L4_GUARDED_BY(mutex) = 0;
  Seq appended L4_GUARDED_BY(mutex), durable L4_GUARDED_BY(mutex), floor L4_GUARDED_BY(mutex);
  bool floor_moved L4_GUARDED_BY(mutex) = false, flush_wanted L4_GUARDED_BY(mutex) = false;
  std::optional<Error> trouble L4_GUARDED_BY(mutex);
  GroupCommitStats counts L4_GUARDED_BY(mutex);
  SegmentList list L4_GUARDED_BY(mutex);
  std::jthread thread;  // last member: the thread uses all members above
};

/// True if there is something to do now; false at the end.
bool GroupCommit::Impl::wait_for_group(MutexLock& lock, const std::stop_token& stop) {
  if (trouble) {
    changed.wait_for(lock, stop, options.retry, [] { return false; });
    return !stop.stop_requested();
  }
  changed.wait(lock, stop, [this]() L4_REQUIRES(mutex) { return !waiting.empty() || floor_moved; });
  if (stop.stop_requested()) return false;
  if (waiting.empty()) return true;
  changed.wait_for(lock, stop, options.delay_max, [this]() L4_REQUIRES(mutex) {
    return flush_wanted || waiting.bytes() >= options.group_bytes;
  });
  return !stop.stop_requested();
}

void GroupCommit::Impl::run(const std::stop_token& stop) {
  MutexLock lock(mutex);
  commit();  // makes the records of an earlier process durable for sure
  while (wait_for_group(lock, stop)) commit();
  commit();
}

void GroupCommit::Impl::commit() {
  if (writing.empty()) std::swap(writing, waiting);
  writing_bytes = writing.bytes();
  flush_wanted = false;
  const bool trim = std::exchange(floor_moved, false) || trouble;
  const Seq kept_from = floor;
  const bool was_in_trouble = trouble.has_value();
  mutex.unlock();
  if (trim) journal.retain(kept_from, now());
  const auto done = writing.empty() && was_in_trouble ? journal.probe() : journal.commit(writing);
  const Seq through = journal.last();
  auto segments = journal.segments();
  mutex.lock();
  list = std::move(segments);
  counts.journal_bytes = journal.bytes();
  counts.segments = list->size();
  counts.abandoned = journal.abandoned();
  if (done)
    note_success(through);
  else
    note_failure(done.error());
}

void GroupCommit::Impl::note_failure(const Error& error) {
  ++counts.failures;
  const bool first = !trouble;
  trouble = error;
  committed.notify_all();
  if (!first || !events.refusing) return;
  mutex.unlock();
  events.refusing(error);
  mutex.lock();
}

void GroupCommit::Impl::note_success(Seq through) {
  const bool recovered = trouble.has_value();
  const bool moved = !writing.empty();
  trouble.reset();
  if (moved) {
    counts.records += writing.records();
    counts.bytes += writing.bytes();
    ++counts.groups;
  }
  L4_CHECK(durable <= through && through <= appended, "durable went from {} to {}, appended is {}",
           durable, through, appended);
  const bool further = durable < through;
  durable = through;
  writing.clear();
  writing_bytes = 0;
  mutex.unlock();
  if (further && events.durable) events.durable(through);
  if (recovered && events.accepting) events.accepting();
  mutex.lock();
  committed.notify_all();
}

GroupCommit::GroupCommit(Journal journal, GroupCommitOptions options, GroupCommitEvents events,
                         std::function<TimeMs()> now)
    : impl_(
          std::make_unique<Impl>(std::move(journal), options, std::move(events), std::move(now))) {}

GroupCommit::~GroupCommit() = default;  // the thread stops and joins first

Result<Seq> GroupCommit::append(std::string_view job, std::string_view agent,
                                std::span<const std::byte> batch, std::optional<TimeMs> time) {
  Impl& impl = *impl_;
  const std::size_t size = record_bytes(job.size(), agent.size(), batch.size());
  const TimeMs came = time ? *time : impl.now();
  const MutexLock lock(impl.mutex);
  const auto refuse = [&](Error error) L4_REQUIRES(impl.mutex) {
    ++impl.counts.refused;
    return std::unexpected(std::move(error));
  };
  if (std::max(job.size(), agent.size()) > kNameBytesMax || size > kRecordBytesMax)
    return refuse({"", "the batch is too large for the journal"});
  if (impl.trouble) return refuse(*impl.trouble);
  if (impl.waiting.bytes() + impl.writing_bytes + size > impl.options.waiting_bytes_max)
    return refuse({"", "the disk is slower than what comes in"});
  impl.appended = Seq{impl.appended.value() + 1};
  const bool first = impl.waiting.empty();
  impl.waiting.add({impl.appended, came, job, agent, batch});
  if (first || impl.waiting.bytes() >= impl.options.group_bytes) impl.changed.notify_one();
  return impl.appended;
}

Seq GroupCommit::durable() const {
  const MutexLock lock(impl_->mutex);
  return impl_->durable;
}

Result<void> GroupCommit::flush() {
  Impl& impl = *impl_;
  MutexLock lock(impl.mutex);
  const Seq wanted = impl.appended;
  impl.flush_wanted = true;
  impl.changed.notify_one();
  impl.committed.wait(lock, [&]() L4_REQUIRES(impl.mutex) {
    return impl.durable >= wanted || impl.trouble.has_value();
  });
  if (impl.durable >= wanted) return {};
  return std::unexpected(*impl.trouble);
}

void GroupCommit::set_floor(Seq floor) {
  const MutexLock lock(impl_->mutex);
  if (floor <= impl_->floor) return;
  impl_->floor = floor;
  impl_->floor_moved = true;
  impl_->changed.notify_one();
}

SegmentList GroupCommit::segments() const {
  const MutexLock lock(impl_->mutex);
  return impl_->list;
}

GroupCommitStats GroupCommit::stats() const {
  const MutexLock lock(impl_->mutex);
  GroupCommitStats counts = impl_->counts;
  counts.refusing = impl_->trouble.has_value();
  return counts;
}

}  // namespace l4::store
