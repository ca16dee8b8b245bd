// Checkpoints: named bytes, each with the journal number that they stand for.
//
// Flow: the owner of a state saves it (job::save_job, OffsetTable::save) and gives the bytes here;
// after a restart load() gives the newest valid ones back and the journal is replayed from their
// number on. A file is written under another name, synced, renamed, the folder synced, and read
// again and summed before the older one goes: one valid file stays at any time. A damaged file is
// said, counted and passed over for the older one. A checkpoint may only be written once the
// journal is durable up to its number, or a lost tail would count twice: the caller sees to it.
// Older ones of which the journal still knows all that followed may stay, for looks at the past:
// those leave first wherever room is wanted. Bounded in bytes; one thread, but for `states` and
// `read`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/store/record.h"

namespace l4::store {

struct CheckpointOptions {
  std::uint64_t bytes_max = std::uint64_t{4} << 30U;  ///< of all together
  std::uint64_t one_bytes_max = std::uint64_t{1} << 30U;
  /// Older ones that stay, see `write`: from one to the next, and all of them.
  Millis past_every{300'000};
  std::uint64_t past_bytes_max = std::uint64_t{1} << 30U;
};

/// The journal that is still there.
struct Ring {
  Seq first, last;
};

/// One that is stored, as far as its head says.
struct SavedState {
  Path path;
  Seq position;
  TimeMs time;
  std::uint64_t bytes = 0;
};

struct CheckpointHead {
  std::string name;
  Seq position;  ///< holds what is numbered up to here
  Seq floor;     ///< of the journal when it was written: nobody needs what is below
  TimeMs time;
  bool closed = false;  ///< nothing remains of it: what is numbered up to `position` is void
};

struct Checkpoint {
  CheckpointHead head;
  Bytes bytes;
};

class Checkpoints {
 public:
  /// Looks at names and heads; what was never finished is removed, what is no checkpoint is put
  /// aside under the name FILE.bad.
  static Result<Checkpoints> open(Files& files, const Path& folder, CheckpointOptions options);

  std::vector<std::string> names() const;
  struct Newest {
    Seq position;
    TimeMs time;
  };
  /// What the newest file of a name says of itself; the name must be known.
  Newest newest(const std::string& name) const {
    const SavedState& stored = stored_.at(name).back();
    return {stored.position, stored.time};
  }
  /// The newest valid one of a name; empty if there is none.
  std::optional<Checkpoint> load(const std::string& name);

  /// After an error what was there before stays, but for what is there for the past alone. `ring`:
  /// older ones of the name stay as long as the ring goes on from them, `past_every` or an eighth
  /// of the ring apart; without it none does.
  Result<void> write(const CheckpointHead& head, std::span<const std::byte> bytes,
                     std::optional<Ring> ring = {});
  Result<void> remove(const std::string& name);
  /// Removes what was written before `before` and nobody needs; how many.
  std::size_t expire(TimeMs before, const std::function<bool(const std::string&)>& needed);

  /// Those of a name, oldest first. Any thread.
  std::vector<SavedState> states(const std::string& name) const;
  /// Any thread; the file may have gone meanwhile.
  Result<Checkpoint> read(const Path& path) const;

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t past_bytes() const;  ///< of those that newer ones have replaced
  std::uint64_t damaged() const { return damaged_; }
  /// What was wrong with files, since the last call; at most 16.
  std::vector<std::string> take_trouble();

 private:
  Checkpoints(Files& files, Path folder, CheckpointOptions options)
      : files_(&files), folder_(std::move(folder)), options_(options) {}
  Result<void> write_file(const Path& path, const CheckpointHead& head,
                          std::span<const std::byte> bytes);
  Result<void> put_in_place(const Path& path, const CheckpointHead& head,
                            std::span<const std::byte> bytes);
  void drop(std::vector<SavedState>& stored, const std::function<bool(std::size_t)>& goes);
  void thin(std::vector<SavedState>& stored, const Ring& ring);
  void let_go(const Ring& ring);
  bool drop_oldest();
  bool make_room(const std::function<bool()>& enough);
  std::vector<SavedState>& add(SavedState made, const std::string& name);
  void say(std::string text);

  Files* files_;
  Path folder_;
  CheckpointOptions options_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // of changes to stored_
  std::map<std::string, std::vector<SavedState>> stored_;               // oldest first
  std::uint64_t bytes_ = 0, damaged_ = 0;
  std::vector<std::string> trouble_;
};

}  // namespace l4::store
