// The few environment variables of a process that identify it in its job.
//
// Flow: ProcessWatch reads them for processes that write log files; identity.h interprets them.
// Only the keys of `environment_keys` are ever kept: other entries are skipped byte by byte while
// they are read, and the buffer is wiped. The environment is that of the process's start; later
// changes are not visible. Bounds: 4 MiB are read, a value has at most 256 bytes (a longer one
// counts as not set), the first of two entries with the same key counts.
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
  /// False if `key` is not on the list; then nothing is kept.
  bool set(std::string_view key, std::string value);
  /// Null if the key is not set.
  const std::string* find(std::string_view key) const;
  std::string_view get(std::string_view key) const;  ///< empty if the key is not set
  bool empty() const { return values_.empty(); }
  std::size_t size() const { return values_.size(); }
  bool operator==(const Environment&) const = default;

 private:
  std::map<std::string_view, std::string> values_;  // keys are those of the list
};

Seen<Environment> read_environment(const Proc& proc, Pid pid);

}  // namespace l4::host
