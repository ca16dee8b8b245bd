// The few environment variables of a process that say who it is in its job.
//
// Flow: ProcessWatch reads them of processes that write log files; identity.h makes sense of them.
// Only the keys of `environment_keys` are ever kept: an entry with another key is passed over while
// it is read, byte by byte, and the buffer is wiped. It is what the process was started with; what
// it set itself later is not seen. Bounds: 4 MiB are read, a value has at most 256 bytes (a longer
// one counts as not set), the first of two entries with one key counts.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "agent/host/proc.h"

namespace l4::host {

/// The closed list, ascending.
std::span<const std::string_view> environment_keys();

class Environment {
 public:
  /// Nothing is kept if `key` is not on the list; false then.
  bool set(std::string_view key, std::string value);
  /// Null if it is not set.
  const std::string* find(std::string_view key) const;
  std::string_view get(std::string_view key) const;  ///< empty if it is not set
  bool empty() const { return values_.empty(); }
  std::size_t size() const { return values_.size(); }
  bool operator==(const Environment&) const = default;

 private:
  std::map<std::string_view, std::string> values_;  // keys are those of the list
};

Seen<Environment> read_environment(const Proc& proc, Pid pid);

}  // namespace l4::host
