// Reads /proc of one process, through a root that tests replace.
//
// Flow: read by holder_scan, environment, process_watch and limits. No state but the root; one
// thread or several. Files are read in bounded pieces. A process that has exited, one without
// permission, and one whose files cannot be parsed are distinguished: all three are common.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agent/host/facts.h"

namespace l4::host {

enum class Unseen : std::uint8_t { gone, denied, failed };
template <class T>
using Seen = std::expected<T, Unseen>;

/// The physical file behind a name or a descriptor.
struct FileKey {
  std::uint64_t device = 0, inode = 0;
  auto operator<=>(const FileKey&) const = default;
};

struct ProcessStat {
  Pid pid, parent;
  std::string command;
  ProcessState state = ProcessState::unknown;
  bool zombie = false;
  SinceBoot started{0};
  Millis cpu{0};
  std::int32_t wait_status = 0;  ///< a zombie's, if we may see it; else 0
};

struct OpenFile {
  int descriptor = -1;
  bool fifo = false;
  FileKey key;
};

class Proc {
 public:
  explicit Proc(std::filesystem::path root = "/proc") : root_(std::move(root)) {}

  /// True for the kernel's own /proc: pidfds then mean the same processes.
  bool real() const { return root_ == "/proc"; }
  const std::filesystem::path& root() const { return root_; }

  /// Pids of all processes, ascending.
  Seen<std::vector<Pid>> pids() const;
  Seen<ProcessStat> stat(Pid pid) const;
  /// Visits the regular files and pipes that are open, also deleted ones, without asking a file
  /// server. Stops when `visit` returns false. Returns the number of descriptors that were read.
  Seen<std::size_t> open_files(Pid pid, const std::function<bool(const OpenFile&)>& visit) const;
  /// Access mode of a descriptor (O_RDONLY, O_WRONLY, O_RDWR); -1 if it is not known.
  int access_mode(Pid pid, int descriptor) const;
  /// At most `bytes_max` of a small file of a process ("cgroup", "cmdline").
  Seen<std::string> text(Pid pid, const char* name, std::size_t bytes_max) const;
  std::filesystem::path file(Pid pid, const char* name) const;

 private:
  std::filesystem::path root_;
};

/// Reads at most `bytes_max` of any small file.
Seen<std::string> read_small(const std::filesystem::path& path, std::size_t bytes_max);
Unseen unseen_of(int error);
/// Parses the line of /proc/PID/stat.
Seen<ProcessStat> parse_stat(std::string_view line);

}  // namespace l4::host
