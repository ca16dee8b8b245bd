#include "aggregator/store/group_commit.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

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
        taken(journal.last()),
        durable(journal.settled() ? journal.last() : Seq{}),
        list(journal.segments()) {
    options.delay_max = std::min(options.delay_max, kDelayMax);
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void run(const std::stop_token& stop);
  bool wait_for_group(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void commit(std::unique_lock<std::mutex>& lock);
  void note_failure(std::unique_lock<std::mutex>& lock, const Error& error);
  void note_success(std::unique_lock<std::mutex>& lock, Seq through);

  GroupCommitOptions options;
  GroupCommitEvents events;
  std::function<TimeMs()> now;
  Journal journal;      // of the thread
  RecordGroup writing;  // of the thread: written, but not durable yet

  mutable std::mutex mutex;
  std::condition_variable_any changed, settled;
  RecordGroup waiting;
  std::size_t writing_bytes = 0;
  Seq taken, durable, floor;
  bool floor_moved = false, hurry = false;
  std::optional<Error> trouble;
  GroupCommitStats counts;
  SegmentList list;
  std::jthread thread;  // last: it uses all of the above
};

/// True if there is something to do now; false at the end.
bool GroupCommit::Impl::wait_for_group(std::unique_lock<std::mutex>& lock,
                                       const std::stop_token& stop) {
  if (trouble) {
    changed.wait_for(lock, stop, options.retry, [] { return false; });
    return !stop.stop_requested();
  }
  changed.wait(lock, stop, [&] { return !waiting.empty() || floor_moved; });
  if (stop.stop_requested()) return false;
  if (waiting.empty()) return true;
  changed.wait_for(lock, stop, options.delay_max,
                   [&] { return hurry || waiting.bytes() >= options.group_bytes; });
  return !stop.stop_requested();
}

void GroupCommit::Impl::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  commit(lock);  // what is there from before
  while (wait_for_group(lock, stop)) commit(lock);
  commit(lock);
}

void GroupCommit::Impl::commit(std::unique_lock<std::mutex>& lock) {
  if (writing.empty()) std::swap(writing, waiting);
  writing_bytes = writing.bytes();
  hurry = false;
  const bool trim = std::exchange(floor_moved, false) || trouble;
  const Seq kept_from = floor;
  const bool was_in_trouble = trouble.has_value();
  lock.unlock();
  if (trim) journal.retain(kept_from, now());
  const auto done = writing.empty() && was_in_trouble ? journal.probe() : journal.commit(writing);
  const Seq through = journal.last();
  auto segments = journal.segments();
  lock.lock();
  list = std::move(segments);
  counts.journal_bytes = journal.bytes();
  counts.segments = list->size();
  counts.abandoned = journal.abandoned();
  if (done)
    note_success(lock, through);
  else
    note_failure(lock, done.error());
}

void GroupCommit::Impl::note_failure(std::unique_lock<std::mutex>& lock, const Error& error) {
  ++counts.failures;
  const bool first = !trouble;
  trouble = error;
  settled.notify_all();
  if (!first || !events.refusing) return;
  lock.unlock();
  events.refusing(error);
  lock.lock();
}

void GroupCommit::Impl::note_success(std::unique_lock<std::mutex>& lock, Seq through) {
  const bool recovered = trouble.has_value();
  const bool moved = !writing.empty();
  trouble.reset();
  if (moved) {
    counts.records += writing.records();
    counts.bytes += writing.bytes();
    ++counts.groups;
  }
  const bool further = durable < through;
  durable = through;
  writing.clear();
  writing_bytes = 0;
  lock.unlock();
  if (further && events.durable) events.durable(through);
  if (recovered && events.accepting) events.accepting();
  lock.lock();
  settled.notify_all();
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
  const std::lock_guard lock(impl.mutex);
  const auto refuse = [&](Error error) {
    ++impl.counts.refused;
    return std::unexpected(std::move(error));
  };
  if (std::max(job.size(), agent.size()) > kNameBytesMax || size > kRecordBytesMax)
    return refuse({"", "the batch is too large for the journal"});
  if (impl.trouble) return refuse(*impl.trouble);
  if (impl.waiting.bytes() + impl.writing_bytes + size > impl.options.waiting_bytes_max)
    return refuse({"", "the disk is slower than what comes in"});
  impl.taken = Seq{impl.taken.value() + 1};
  const bool first = impl.waiting.empty();
  impl.waiting.add({impl.taken, came, job, agent, batch});
  if (first || impl.waiting.bytes() >= impl.options.group_bytes) impl.changed.notify_one();
  return impl.taken;
}

Seq GroupCommit::taken() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->taken;
}

Seq GroupCommit::durable() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->durable;
}

Result<void> GroupCommit::flush() {
  Impl& impl = *impl_;
  std::unique_lock lock(impl.mutex);
  const Seq wanted = impl.taken;
  impl.hurry = true;
  impl.changed.notify_one();
  impl.settled.wait(lock, [&] { return impl.durable >= wanted || impl.trouble; });
  if (impl.durable >= wanted) return {};
  return std::unexpected(*impl.trouble);
}

void GroupCommit::set_floor(Seq floor) {
  const std::lock_guard lock(impl_->mutex);
  if (floor <= impl_->floor) return;
  impl_->floor = floor;
  impl_->floor_moved = true;
  impl_->changed.notify_one();
}

SegmentList GroupCommit::segments() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->list;
}

GroupCommitStats GroupCommit::stats() const {
  const std::lock_guard lock(impl_->mutex);
  GroupCommitStats counts = impl_->counts;
  counts.refusing = impl_->trouble.has_value();
  return counts;
}

}  // namespace l4::store
