// Checkpoints: named bytes, each with the journal number that they stand for.
//
// Flow: the owner of a state saves it (job::save_job, OffsetTable::save) and gives the bytes here;
// after a restart load() gives the newest valid ones back and the journal is replayed from their
// number on. A file is written under another name, synced, renamed, the folder synced, and read
// again and summed before the older one goes: one valid file stays at any time. A damaged file is
// said, counted and passed over for the older one. A checkpoint may only be written once the
// journal is durable up to its number, or a lost tail would count twice: the caller sees to it.
// Bounded in bytes; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/store/record.h"

namespace l4::store {

struct CheckpointOptions {
  std::uint64_t bytes_max = std::uint64_t{4} << 30U;  ///< of all together
  std::uint64_t one_bytes_max = std::uint64_t{1} << 30U;
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
    const Stored& stored = stored_.at(name).back();
    return {stored.position, stored.time};
  }
  /// The newest valid one of a name; empty if there is none.
  std::optional<Checkpoint> load(const std::string& name);

  /// After an error what was there before stays.
  Result<void> write(const CheckpointHead& head, std::span<const std::byte> bytes);
  Result<void> remove(const std::string& name);
  /// Removes what was written before `before` and nobody needs; how many.
  std::size_t expire(TimeMs before, const std::function<bool(const std::string&)>& needed);

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t damaged() const { return damaged_; }
  /// What was wrong with files, since the last call; at most 16.
  std::vector<std::string> take_trouble();

 private:
  struct Stored {
    Path path;
    Seq position;
    TimeMs time;
    std::uint64_t bytes = 0;
  };
  Checkpoints(Files& files, Path folder, CheckpointOptions options)
      : files_(&files), folder_(std::move(folder)), options_(options) {}
  Result<Checkpoint> read(const Path& path) const;
  Result<void> write_file(const Path& path, const CheckpointHead& head,
                          std::span<const std::byte> bytes);
  Result<void> put_in_place(const Path& path, const CheckpointHead& head,
                            std::span<const std::byte> bytes);
  void drop(std::vector<Stored>& stored, std::size_t count);
  void say(std::string text);

  Files* files_;
  Path folder_;
  CheckpointOptions options_;
  std::map<std::string, std::vector<Stored>> stored_;  // oldest first
  std::uint64_t bytes_ = 0, damaged_ = 0;
  std::vector<std::string> trouble_;
};

}  // namespace l4::store
