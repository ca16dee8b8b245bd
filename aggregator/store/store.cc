#include "aggregator/store/store.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <utility>

#include "aggregator/store/needs.h"
#include "common/base/check.h"
#include "common/base/folder_lock.h"
#include "common/base/mutex.h"
#include "common/base/thread.h"

namespace l4::store {
namespace {

constexpr std::string_view kJobPrefix = "job/";

struct PendingCheckpoint {
  CheckpointHead head;
  ByteWriter bytes;
};

}  // namespace

struct Store::Impl {
  Impl(FolderLock held, StoreOptions limits, StoreEvents listeners, std::function<TimeMs()> clock,
       Files& file_system, Checkpoints known, Journal opened)
      : lock(std::move(held)),
        options(std::move(limits)),
        events(std::move(listeners)),
        now(std::move(clock)),
        files(file_system),
        checkpoints(std::move(known)),
        database(options.folder / "state.db", options.database,
                 [this](const std::string& text) { warn(text); }),
        journal(std::move(opened)) {}

  void start();
  void run(const std::stop_token& stop);
  Result<void> write(const PendingCheckpoint& pending);
  void note_written(const PendingCheckpoint& pending, const Result<void>& done) L4_REQUIRES(mutex);
  void say(const std::string& text) const {
    if (events.say) events.say(text);
  }
  void warn(const std::string& text) const {
    if (!events.warn) return say(text);
    events.warn(text);
  }
  bool enqueue(CheckpointHead head, ByteWriter bytes);

  FolderLock lock;
  StoreOptions options;
  StoreEvents events;
  std::function<TimeMs()> now;
  Files& files;
  Checkpoints checkpoints;  // once the writer runs, it alone changes them
  Database database;
  std::optional<Journal> journal;  // empty after recovery
  std::unique_ptr<GroupCommit> commit;

  mutable Mutex mutex;
  CondVar changed, idle;
  std::deque<PendingCheckpoint> waiting L4_GUARDED_BY(mutex);
  bool writing L4_GUARDED_BY(mutex) = false, in_trouble L4_GUARDED_BY(mutex) = false;
  Needs needs L4_GUARDED_BY(mutex);
  /// Closed jobs whose records the journal still has.
  std::map<std::string, Seq> tombstones L4_GUARDED_BY(mutex);
  StoreStats counts L4_GUARDED_BY(mutex);
  std::jthread writer;
};

Result<std::unique_ptr<Store>> Store::open(StoreOptions options, StoreEvents events,
                                           std::function<TimeMs()> now, Files& files) {
  const Path folder = options.folder, journal = folder / "journal",
             checkpoints = folder / "checkpoints";
  for (const Path& needed : {folder, journal, checkpoints})
    if (auto made = files.make_folder(needed); !made) return std::unexpected(made.error());
  if (auto synced = files.sync_folder(folder); !synced) return std::unexpected(synced.error());
  auto lock = FolderLock::take(folder, options.holder);
  if (!lock) return std::unexpected(lock.error().error);
  auto known = Checkpoints::open(files, checkpoints, options.checkpoints);
  if (!known) return std::unexpected(known.error());
  Seq at_least;
  for (const std::string& name : known->names())
    at_least = std::max(at_least, known->newest(name).position);
  auto opened = Journal::open(files, journal, options.journal, at_least);
  if (!opened) return std::unexpected(opened.error());
  auto impl = std::make_unique<Impl>(*std::move(lock), std::move(options), std::move(events),
                                     std::move(now), files, *std::move(known), *std::move(opened));
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Store::~Store() {
  if (impl_->writer.joinable()) drain();
  impl_->writer = {};  // stops and joins before the members that it uses are destroyed
  impl_->commit.reset();
}

Replayed Store::recover(Recoverer& recoverer) {
  Impl& impl = *impl_;
  std::map<std::string, Seq, std::less<>> held;  // position of the checkpoint of each job
  Needs needs;
  std::map<std::string, Seq> tombstones;
  Seq offsets, floor;
  bool whole = true;
  for (const std::string& name : impl.checkpoints.names()) {
    const auto checkpoint = impl.checkpoints.load(name);
    whole =
        whole && checkpoint && checkpoint->head.position == impl.checkpoints.newest(name).position;
    if (!checkpoint) continue;
    const CheckpointHead& head = checkpoint->head;
    bool used = head.closed;
    if (name == kOffsets) {
      recoverer.offsets(checkpoint->bytes);
      offsets = head.position;
      used = true;
    } else if (!used && name.starts_with(kJobPrefix)) {
      used = recoverer.job(name.substr(kJobPrefix.size()), checkpoint->bytes);
    }
    whole = whole && used;
    if (!used) continue;
    if (name != kOffsets) held[name.substr(kJobPrefix.size())] = head.position;
    if (head.closed) tombstones[name] = head.position;
    if (!head.closed) needs.saved(name, head.position);
    floor = std::max(floor, head.floor);
  }
  for (const std::string& text : impl.checkpoints.drain_trouble()) impl.warn(text);
  // A job without a checkpoint is recovered from the journal alone. No state needs the records
  // below the floor, unless a checkpoint that held them cannot be used.
  const Seq after = whole ? floor : Seq{};
  Replayed replayed = impl.journal->replay(after, [&](const Record& record) {
    if (record.is_note()) return;
    const auto job = held.find(record.job);
    const bool new_to_job = job == held.end() || record.seq > job->second;
    const bool new_to_offsets = record.seq > offsets;
    if (new_to_job) needs.appended(job_name(std::string(record.job)), record.seq);
    if (new_to_offsets) needs.appended(kOffsets, record.seq);
    if (new_to_job || new_to_offsets) recoverer.record(record, new_to_job, new_to_offsets);
  });
  for (const std::string& text : replayed.trouble) impl.warn(text);
  if (replayed.lost_records > 0)
    impl.warn(fmt::format("{}: {} records are lost", (impl.options.folder / "journal").string(),
                          replayed.lost_records));
  {
    const MutexLock lock(impl.mutex);
    impl.needs = std::move(needs);
    impl.tombstones = std::move(tombstones);
  }
  impl.start();
  return replayed;
}

void Store::Impl::start() {
  L4_CHECK(journal.has_value(), "{} was recovered before", options.folder.string());
  const std::uint64_t torn = journal->torn_bytes();
  {
    const MutexLock guard(mutex);
    counts.torn_bytes = torn;
  }
  if (torn > 0)
    say(fmt::format("{}: {} bytes at the end were never finished and are cut off",
                    (options.folder / "journal").string(), torn));
  GroupCommitEvents heard;
  heard.durable = [this](Seq through) {
    changed.notify_all();
    if (events.durable) events.durable(through);
  };
  heard.refusing = [this](const Error& error) {
    warn(error.text() + "; nothing is accepted until that is over");
    changed.notify_all();
    if (events.accepting) events.accepting(false);
  };
  heard.accepting = [this] {
    say((options.folder / "journal").string() + ": can be written again");
    if (events.accepting) events.accepting(true);
  };
  commit = std::make_unique<GroupCommit>(*std::exchange(journal, std::nullopt), options.commit,
                                         std::move(heard), now);
  writer = start_thread("checkpoints", [this](const std::stop_token& stop) { run(stop); });
}

void Store::Impl::run(const std::stop_token& stop) {
  MutexLock guard(mutex);
  while (changed.wait(guard, stop, [this]() L4_REQUIRES(mutex) { return !waiting.empty(); })) {
    PendingCheckpoint pending = std::move(waiting.front());
    waiting.pop_front();
    writing = true;
    pending.head.floor = needs.floor(commit->durable());
    guard.unlock();
    const auto done = write(pending);
    guard.lock();
    note_written(pending, done);
    writing = false;
    if (waiting.empty()) idle.notify_all();
  }
}

Result<void> Store::Impl::write(const PendingCheckpoint& pending) {
  // The journal must be durable first: after a crash, agents send lost records again, and a
  // checkpoint that held them already would count them twice.
  if (commit->durable() < pending.head.position)
    if (auto flushed = commit->flush(); !flushed) return flushed;
  L4_CHECK(pending.head.position <= commit->durable(), "{} is saved up to {}, durable is {}",
           pending.head.name, pending.head.position, commit->durable());
  const SegmentList segments = commit->segments();
  std::optional<Ring> ring;
  if (pending.head.name.starts_with(kJobPrefix) && !pending.head.closed && !segments->empty())
    ring = Ring{segments->front().first, commit->durable()};
  return checkpoints.write(pending.head, pending.bytes.bytes(), ring);
}

void Store::Impl::note_written(const PendingCheckpoint& pending, const Result<void>& done) {
  if (!done) {
    ++counts.checkpoint_failures;
    if (!std::exchange(in_trouble, true))
      warn(done.error().text() + "; the checkpoint before it stays");
    return;
  }
  if (std::exchange(in_trouble, false)) say("checkpoints can be written again");
  ++counts.checkpoints;
  counts.checkpoint_bytes += pending.bytes.size();
  if (pending.head.closed) {
    needs.closed(pending.head.name, pending.head.position);
    tombstones[pending.head.name] = pending.head.position;
  } else {
    needs.saved(pending.head.name, pending.head.position);
    tombstones.erase(pending.head.name);
  }
  counts.floor = needs.floor(commit->durable());
  std::erase_if(tombstones, [&](const auto& entry) {
    return entry.second <= pending.head.floor && checkpoints.remove(entry.first);
  });
  checkpoints.expire(pending.head.time - options.checkpoint_age,
                     [&](const std::string& name) L4_REQUIRES(mutex) {
                       return needs.has(name) || tombstones.contains(name);
                     });
  counts.checkpoint_bytes_kept = checkpoints.bytes();
  commit->set_floor(counts.floor);
}

bool Store::Impl::enqueue(CheckpointHead head, ByteWriter bytes) {
  const MutexLock guard(mutex);
  head.time = now();
  std::uint64_t held = bytes.size();
  PendingCheckpoint* same = nullptr;
  for (PendingCheckpoint& pending : waiting) {
    if (pending.head.name == head.name)
      same = &pending;
    else
      held += pending.bytes.size();
  }
  if (same != nullptr) {
    *same = {std::move(head), std::move(bytes)};
    return true;
  }
  const bool full = waiting.size() >= options.waiting_max || held > options.waiting_bytes_max;
  if (full && !waiting.empty()) {
    ++counts.checkpoints_dropped;
    return false;
  }
  waiting.push_back({std::move(head), std::move(bytes)});
  changed.notify_all();
  return true;
}

Result<Seq> Store::append(std::string_view job, std::string_view agent,
                          std::span<const std::byte> batch, std::optional<TimeMs> time) {
  const MutexLock guard(impl_->mutex);
  const auto seq = impl_->commit->append(job, agent, batch, time);
  if (!seq) return seq;
  impl_->needs.appended(job_name(std::string(job)), *seq);
  impl_->needs.appended(kOffsets, *seq);
  return seq;
}

Result<Seq> Store::note(std::span<const std::byte> bytes, TimeMs time) {
  return impl_->commit->append({}, {}, bytes, time);
}

Seq Store::durable() const {
  return impl_->commit->durable();
}

Result<void> Store::flush() {
  return impl_->commit->flush();
}

bool Store::checkpoint(const std::string& name, Seq position, ByteWriter bytes) {
  return impl_->enqueue({name, position, {}, {}, false}, std::move(bytes));
}

bool Store::close_job(const std::string& id, Seq position) {
  return impl_->enqueue({job_name(id), position, {}, {}, true}, {});
}

void Store::drain() {
  Impl& impl = *impl_;
  MutexLock guard(impl.mutex);
  impl.idle.wait(guard,
                 [&]() L4_REQUIRES(impl.mutex) { return impl.waiting.empty() && !impl.writing; });
}

std::vector<SavedState> Store::states(const std::string& name) const {
  return impl_->checkpoints.states(name);
}

Result<Checkpoint> Store::read_state(const SavedState& state) const {
  return impl_->checkpoints.read(state.path);
}

SegmentList Store::segments() const {
  return impl_->commit->segments();
}

Replayed Store::read_past(const SegmentList& segments, const PastQuery& query,
                          const std::function<bool(const Record&)>& visit) const {
  return store::read_past(impl_->files, segments, query, visit);
}

Database& Store::database() {
  return impl_->database;
}

StoreStats Store::stats() const {
  const MutexLock guard(impl_->mutex);
  StoreStats counts = impl_->counts;
  counts.commit = impl_->commit->stats();
  return counts;
}

}  // namespace l4::store
