// The state folder of an aggregator: it lets a killed aggregator restart with the same state.
//
// Flow: open() locks the folder. recover() passes the saved state to the Recoverer: offsets, job
// checkpoints, then every later record in order. From then on the receive thread append()s each
// batch before it applies it, and the owner of each state passes a checkpoint() at most every 30 s,
// with the number of the last record in it. A thread here writes the checkpoint when the journal is
// durable up to that number, then removes journal segments that no state needs. Layout: lock,
// journal/, checkpoints/, state.db. Thread-safe, except recover(), which comes first. Bounds: those
// of the parts, and `waiting_max` checkpoints. A failure is reported once through `warn`, its end
// through `say`, on threads of the store; stats() has the counters.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "aggregator/store/checkpoints.h"
#include "aggregator/store/database.h"
#include "aggregator/store/group_commit.h"
#include "aggregator/store/offsets.h"

namespace l4::store {

struct StoreOptions {
  Path folder;
  std::string holder = "l4-aggregator";  ///< written into the lock
  JournalOptions journal;
  GroupCommitOptions commit;
  CheckpointOptions checkpoints;
  DatabaseOptions database;
  std::size_t waiting_max = 4096;
  std::uint64_t waiting_bytes_max = std::uint64_t{1} << 30U;
  Millis checkpoint_age = std::chrono::days(30);  ///< unusable checkpoints are removed at this age
};

struct StoreEvents {
  std::function<void(Seq)> durable;  ///< acks up to this number may go out
  std::function<void(bool)> accepting;
  std::function<void(const std::string&)> say;   ///< one line for the log
  std::function<void(const std::string&)> warn;  ///< a line about a failure; none: `say` gets it
};

/// Receives the recovered state, on the thread of recover().
class Recoverer {
 public:
  virtual ~Recoverer() = default;
  virtual void offsets(std::span<const std::byte> saved) = 0;
  /// False if the bytes cannot be used (another version): then all records of the job that the
  /// journal still has are replayed.
  virtual bool job(const std::string& id, std::span<const std::byte> saved) = 0;
  /// `new_to_job`: the checkpoint of the job lacks the record; `new_to_offsets`: that of the
  /// offsets.
  virtual void record(const Record& record, bool new_to_job, bool new_to_offsets) = 0;
};

struct StoreStats {
  GroupCommitStats commit;
  std::uint64_t checkpoints = 0, checkpoint_bytes = 0, checkpoint_failures = 0;
  std::uint64_t checkpoints_dropped = 0;  ///< because too many were waiting
  std::uint64_t checkpoint_bytes_kept = 0;
  std::uint64_t torn_bytes = 0;
  Seq floor;
};

class Store {
 public:
  /// Names of states: `offsets`, and `job/ID`.
  static constexpr const char* kOffsets = "offsets";
  static std::string job_name(const std::string& id) { return "job/" + id; }

  static Result<std::unique_ptr<Store>> open(StoreOptions options, StoreEvents events,
                                             std::function<TimeMs()> now,
                                             Files& files = system_files());
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Replayed recover(Recoverer& recoverer);

  /// See GroupCommit::append().
  Result<Seq> append(std::string_view job, std::string_view agent, std::span<const std::byte> batch,
                     std::optional<TimeMs> time = {});
  /// Appends a note to the journal. A crash may lose it, recover() skips it, and only read_past()
  /// returns it.
  Result<Seq> note(std::span<const std::byte> bytes, TimeMs time);
  Seq durable() const;
  Result<void> flush();

  /// Queues the saved state, which holds every record of its name up to `position`. It replaces a
  /// waiting checkpoint of the same name. False if too many are waiting: retry later.
  bool checkpoint(const std::string& name, Seq position, ByteWriter bytes);
  /// The job is over: its records up to `position` need not be recovered.
  bool close_job(const std::string& id, Seq position);
  /// Waits until no checkpoint waits; for the end, and for tests.
  void drain();

  /// Checkpoints of a name, oldest first: the newest, and those that stay for the past. This and
  /// the next three are for any thread.
  std::vector<SavedState> states(const std::string& name) const;
  Result<Checkpoint> read_state(const SavedState& state) const;
  /// The durable segments of the journal.
  SegmentList segments() const;
  /// Reads records of these segments; see read_past() of journal.h.
  Replayed read_past(const SegmentList& segments, const PastQuery& query,
                     const std::function<bool(const Record&)>& visit) const;
  Database& database();
  StoreStats stats() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::store
