// Keys that may connect: lines of `name public-key`, `*` for a key that a fleet shares.
//
// Flow: `l4 keys` writes it, the aggregator's ZmqServer reads it again whenever it changes. A name
// may have several keys (while one is being replaced), a key has one name. Lines that begin with #
// and empty ones are skipped; anything else that is wrong is an Error with file and line, and a
// broken file never replaces a good list. Bound: 64 MiB. Values; one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"
#include "common/wire/port.h"

namespace l4::wire {

class AllowList {
 public:
  struct Entry {
    std::string name, public_key;
  };

  static Result<AllowList> load(const std::filesystem::path& file);
  static Result<AllowList> parse(std::string_view text, const std::string& file);

  /// Null if the key is unknown.
  const std::string* name_of(const std::string& public_key) const;
  /// Whether a key has this name.
  bool names(const std::string& name) const { return names_.contains(name); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::unordered_set<std::string> names_;
};

/// The list of a file that may change.
class WatchedAllowList {
 public:
  static Result<WatchedAllowList> open(const std::filesystem::path& file);

  /// Reads the file again if it has changed; checks at most once a second. Returns a message for
  /// the log: the file was read again, or why not.
  std::optional<PortNotice> refresh(Millis now);
  const AllowList& list() const { return list_; }

 private:
  struct Stamp {
    std::int64_t modified_ns = 0;
    std::uint64_t inode = 0, bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp stamp_of(const std::filesystem::path& file);

  std::filesystem::path file_;
  AllowList list_;
  Stamp stamp_;
  Millis looked_{0};
};

}  // namespace l4::wire
