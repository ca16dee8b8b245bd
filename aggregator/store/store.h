// The state folder of an aggregator: what makes a killed one come back with the same state.
//
// Flow: open() takes the folder's lock. recover() gives back what was: offsets, job checkpoints,
// then every later record in order. From then on the receive thread append()s what it is about to
// apply, and every owner of a state gives a checkpoint() of it, at most every 30 s, with the number
// of the last record in it; a thread here writes it when the journal is durable up to there, then
// lets go of journal that nobody needs. Layout: lock, journal/, checkpoints/, state.db. Thread-safe
// but for recover(), which comes first. Bounds: those of the parts, and `waiting_max` checkpoints.
// Trouble is told once through `warn`, its end through `say`, on threads of the store; counters are
// in stats().
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
  std::string holder = "l4-aggregator";  ///< what the lock says
  JournalOptions journal;
  GroupCommitOptions commit;
  CheckpointOptions checkpoints;
  DatabaseOptions database;
  std::size_t waiting_max = 4096;
  std::uint64_t waiting_bytes_max = std::uint64_t{1} << 30U;
  Millis checkpoint_age = std::chrono::days(30);  ///< of what recover() could not give back
};

struct StoreEvents {
  std::function<void(Seq)> durable;  ///< acks for all up to here may go out
  std::function<void(bool)> accepting;
  std::function<void(const std::string&)> say;   ///< for the log, one line
  std::function<void(const std::string&)> warn;  ///< the same, of trouble; none: say
};

/// Where what was comes to. Called on the thread of recover().
class Recoverer {
 public:
  virtual ~Recoverer() = default;
  virtual void offsets(std::span<const std::byte> saved) = 0;
  /// False if the bytes are of no use (another version): then what the journal still has of the
  /// job is played from the beginning.
  virtual bool job(const std::string& id, std::span<const std::byte> saved) = 0;
  /// `new_to_job`, `new_to_offsets`: their checkpoint does not hold it yet.
  virtual void record(const Record& record, bool new_to_job, bool new_to_offsets) = 0;
};

struct StoreStats {
  GroupCommitStats commit;
  std::uint64_t checkpoints = 0, checkpoint_bytes = 0, checkpoint_failures = 0;
  std::uint64_t checkpoints_dropped = 0;  ///< because too many waited
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
  /// Puts into the journal what is no batch and what nobody needs after a crash: it comes back by
  /// read_past() alone.
  Result<Seq> note(std::span<const std::byte> bytes, TimeMs time);
  Seq durable() const;
  Result<void> flush();

  /// Takes the saved state, which holds every record of its name up to `position`. False if too
  /// many wait: try later. A newer one takes the place of one that still waits.
  bool checkpoint(const std::string& name, Seq position, ByteWriter bytes);
  /// The job is over: what was numbered up to `position` need not come back.
  bool close_job(const std::string& id, Seq position);
  /// Waits until no checkpoint waits; for the end, and for tests.
  void drain();

  /// Saved states of a name, oldest first: the newest, and those that stay for the past. Any
  /// thread, as the next three.
  std::vector<SavedState> states(const std::string& name) const;
  Result<Checkpoint> read_state(const SavedState& state) const;
  /// What is durable of the journal.
  SegmentList segments() const;
  /// Of these segments; see read_past() of journal.h.
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
