#include "agent/host/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

namespace l4::host {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

ProcessState state_of(char letter) {
  switch (letter) {
    case 'R':
      return ProcessState::running;
    case 'S':
    case 'I':
      return ProcessState::sleeping;
    case 'D':
      return ProcessState::uninterruptible;
    case 'T':
      return ProcessState::stopped;
    case 't':
      return ProcessState::traced;
    case 'Z':
    case 'X':
    case 'x':
      return ProcessState::gone;
    default:
      return ProcessState::unknown;
  }
}

std::int64_t ticks_per_second() {
  static const std::int64_t ticks = std::max<long>(::sysconf(_SC_CLK_TCK), 1);
  return ticks;
}

}  // namespace

Unseen unseen_of(int error) {
  if (error == ENOENT || error == ESRCH) return Unseen::gone;
  return error == EACCES || error == EPERM ? Unseen::denied : Unseen::failed;
}

Seen<std::string> read_small(const std::filesystem::path& path, std::size_t bytes_max) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::unexpected(unseen_of(errno));
  std::string text(std::min<std::size_t>(bytes_max, 4096), '\0');
  std::size_t have = 0;
  int error = 0;
  while (have < bytes_max) {
    if (have == text.size()) text.resize(std::min(bytes_max, text.size() * 2));
    const ssize_t got = ::read(fd, text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (error != 0) return std::unexpected(unseen_of(error));
  text.resize(have);
  return text;
}

Seen<ProcessStat> parse_stat(std::string_view line) {
  // The name may hold blanks and brackets: it ends at the last one.
  const std::size_t open = line.find('(');
  const std::size_t shut = line.rfind(')');
  if (open == line.npos || shut == line.npos || shut < open || open < 2)
    return std::unexpected(Unseen::failed);
  std::array<std::string_view, 53> field{};  // numbered from 1, as in proc(5)
  std::size_t at = shut + 1;
  for (std::size_t n = 3; n < field.size() && at < line.size(); ++n) {
    at = line.find_first_not_of(" \n", at);
    if (at == line.npos) break;
    const std::size_t end = std::min(line.find_first_of(" \n", at), line.size());
    field[n] = line.substr(at, end - at);
    at = end;
  }
  const auto pid = integer(line.substr(0, open - 1));
  const auto parent = integer(field[4]);
  const auto user = integer(field[14]), system = integer(field[15]), start = integer(field[22]);
  if (!pid || !parent || !user || !system || !start || field[3].size() != 1)
    return std::unexpected(Unseen::failed);
  constexpr std::int64_t kTicksMax = std::int64_t{1} << 40;
  if (*user < 0 || *system < 0 || *start < 0 || *user > kTicksMax || *system > kTicksMax ||
      *start > kTicksMax)
    return std::unexpected(Unseen::failed);
  ProcessStat stat;
  stat.pid = Pid{static_cast<std::int32_t>(*pid)};
  stat.parent = Pid{static_cast<std::int32_t>(*parent)};
  stat.command = line.substr(open + 1, std::min<std::size_t>(shut - open - 1, 16));
  stat.state = state_of(field[3][0]);
  stat.zombie = field[3][0] == 'Z';
  stat.started = SinceBoot{*start * (1'000'000 / ticks_per_second())};
  stat.cpu = Millis{(*user + *system) * 1000 / ticks_per_second()};
  if (const auto status = integer(field[52]))
    stat.wait_status = static_cast<std::int32_t>(*status & 0xffff);
  return stat;
}

std::filesystem::path Proc::file(Pid pid, const char* name) const {
  return root_ / std::to_string(pid.value()) / name;
}

Seen<std::vector<Pid>> Proc::pids() const {
  const Folder folder{::opendir(root_.c_str())};
  if (!folder) return std::unexpected(unseen_of(errno));
  std::vector<Pid> found;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = integer(entry->d_name);
    if (pid && *pid > 0 && *pid < (std::int64_t{1} << 31))
      found.push_back(Pid{static_cast<std::int32_t>(*pid)});
  }
  std::sort(found.begin(), found.end());
  return found;
}

Seen<std::string> Proc::text(Pid pid, const char* name, std::size_t bytes_max) const {
  return read_small(file(pid, name), bytes_max);
}

Seen<ProcessStat> Proc::stat(Pid pid) const {
  const auto line = text(pid, "stat", 4096);
  if (!line) return std::unexpected(line.error());
  if (line->empty()) return std::unexpected(Unseen::gone);
  return parse_stat(*line);
}

Seen<std::size_t> Proc::open_files(Pid pid,
                                   const std::function<bool(const OpenFile&)>& visit) const {
  const Folder folder{::opendir(file(pid, "fd").c_str())};
  if (!folder) return std::unexpected(unseen_of(errno));
  std::size_t looked_at = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto descriptor = integer(entry->d_name);
    if (!descriptor) continue;
    ++looked_at;
    struct statx status{};
    // AT_STATX_DONT_SYNC: cached values are enough; a file server that hangs must not block us.
    if (::statx(::dirfd(folder.get()), entry->d_name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO,
                &status) != 0)
      continue;
    const bool fifo = S_ISFIFO(status.stx_mode);
    if (!fifo && !S_ISREG(status.stx_mode)) continue;
    const FileKey key{makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
    if (!visit({static_cast<int>(*descriptor), fifo, key})) break;
  }
  return looked_at;
}

int Proc::access_mode(Pid pid, int descriptor) const {
  const auto entry = read_small(file(pid, "fdinfo") / std::to_string(descriptor), 1024);
  if (!entry) return -1;
  const std::size_t at = entry->find("flags:");
  if (at == entry->npos) return -1;
  const std::size_t from = entry->find_first_of("01234567", at);
  if (from == entry->npos) return -1;
  unsigned flags = 0;
  const auto [end, error] =
      std::from_chars(entry->data() + from, entry->data() + entry->size(), flags, 8);
  return error == std::errc{} ? static_cast<int>(flags & O_ACCMODE) : -1;
}

}  // namespace l4::host
