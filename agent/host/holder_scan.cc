#include "agent/host/holder_scan.h"

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace l4::host {
namespace {

bool hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// Runs of hexadecimal digits, and of UUIDs, whose dashes systemd writes as underscores.
std::vector<std::string> ids_in(std::string_view text) {
  std::vector<std::string> ids;
  std::size_t at = 0;
  while (at < text.size()) {
    if (!hexadecimal(text[at])) {
      ++at;
      continue;
    }
    std::string id;
    std::size_t end = at, dashes = 0;
    while (end < text.size() && (hexadecimal(text[end]) || text[end] == '-' || text[end] == '_')) {
      const bool dash = !hexadecimal(text[end]);
      if (dash && (end - at != 8 + 5 * dashes || ++dashes > 4)) break;
      id.push_back(dash ? '-' : text[end]);
      ++end;
    }
    if ((dashes == 0 && id.size() == 64) || (dashes == 4 && id.size() == 36)) ids.push_back(id);
    at = end;
  }
  return ids;
}

}  // namespace

std::vector<std::string> container_ids(std::string_view path) {
  // The text before the id, as in `JOB_UID` or `podUID`, may be hexadecimal itself.
  std::vector<std::string> ids;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const bool begins = at == 0 || path[at - 1] == '_' || path[at - 1] == '/' ||
                        path[at - 1] == '-' || path.substr(0, at).ends_with("pod");
    if (!begins) continue;
    for (const std::size_t length : {std::size_t{64}, std::size_t{36}}) {
      if (at + length > path.size()) continue;
      if (at + length < path.size() && hexadecimal(path[at + length])) continue;
      const auto found = ids_in(path.substr(at, length));
      if (found.size() == 1 && found[0].size() == length &&
          std::ranges::find(ids, found[0]) == ids.end())
        ids.push_back(found[0]);
    }
  }
  return ids;
}

HolderScan::HolderScan(const Proc& proc, std::vector<LogPlace> logs, Pid self, Limits limits)
    : proc_(proc), logs_(std::move(logs)), self_(self), limits_(limits) {
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    by_key_.emplace(logs_[i].key, i);
    for (auto& id : container_ids(logs_[i].path)) by_id_.emplace(std::move(id), i);
  }
  if (auto pids = proc_.pids()) pids_ = std::move(*pids);
}

bool HolderScan::step(std::size_t budget) {
  std::size_t spent = 0;
  while (next_ < pids_.size() && spent < budget) spent += 1 + scan_process(pids_[next_++]);
  if (next_ < pids_.size()) return false;
  if (!done_) finish();
  done_ = true;
  return true;
}

void HolderScan::hold(const Holding& holding) {
  if (holdings_.size() < limits_.holdings)
    holdings_.push_back(holding);
  else
    ++stats_.holdings_cut;
}

std::size_t HolderScan::scan_process(Pid pid) {
  if (pid == self_) return 0;
  ++stats_.processes;
  std::vector<std::pair<int, std::size_t>> held;
  const auto looked = proc_.open_files(pid, [&](const OpenFile& file) {
    if (file.fifo) {
      if (pipes_.size() < limits_.pipes)
        pipes_.push_back({pid, file.descriptor, file.key});
      else
        ++stats_.pipes_cut;
      return true;
    }
    const auto [from, to] = by_key_.equal_range(file.key);
    for (auto at = from; at != to; ++at) held.emplace_back(file.descriptor, at->second);
    return true;
  });
  if (!looked) {
    stats_.denied += looked.error() == Unseen::denied ? 1 : 0;
    return 1;
  }
  stats_.descriptors += *looked;
  if (held.empty() && by_id_.empty()) return *looked;
  const auto stat = proc_.stat(pid);
  if (!stat) return *looked;
  std::set<std::size_t> written;
  for (const auto& [descriptor, log] : held) {
    const int mode = proc_.access_mode(pid, descriptor);
    if (mode == O_WRONLY || mode == O_RDWR) written.insert(log);  // readers do not write lines
  }
  for (const std::size_t log : written) hold({pid, stat->started, log, Via::direct});
  if (!by_id_.empty()) scan_group(pid, stat->started);
  return *looked;
}

void HolderScan::scan_group(Pid pid, SinceBoot started) {
  const auto group = proc_.text(pid, "cgroup", 16U << 10U);
  if (!group) return;
  std::set<std::size_t> logs;
  for (const std::string& id : container_ids(*group)) {
    const auto [from, to] = by_id_.equal_range(id);
    for (auto at = from; at != to; ++at) logs.insert(at->second);
  }
  for (const std::size_t log : logs) hold({pid, started, log, Via::container});
}

/// Adds the processes whose standard output or error is a pipe that a known writer of a file reads.
/// Takes several steps, as a script may pipe through several tools. A process that writes a log
/// itself needs no pipe.
void HolderScan::follow_pipes() {
  std::multimap<FileKey, const PipeEnd*> by_pipe;
  std::multimap<Pid, const PipeEnd*> by_pid;
  for (const PipeEnd& end : pipes_) {
    by_pipe.emplace(end.key, &end);
    by_pid.emplace(end.pid, &end);
  }
  std::set<std::pair<Pid, std::size_t>> known;
  std::set<Pid> direct;
  std::vector<Holding> edge;
  for (const Holding& holding : holdings_) {
    known.emplace(holding.pid, holding.log);
    if (holding.via != Via::direct) continue;
    edge.push_back(holding);
    direct.insert(holding.pid);
  }
  for (int steps = 0; steps < 3 && !edge.empty(); ++steps) {
    std::vector<Holding> found;
    for (const Holding& reader : edge) {
      const auto [from, to] = by_pid.equal_range(reader.pid);
      for (auto own = from; own != to; ++own) {
        if (proc_.access_mode(reader.pid, own->second->descriptor) == O_WRONLY) continue;
        const auto [first, last] = by_pipe.equal_range(own->second->key);
        for (auto end = first; end != last; ++end) {
          const PipeEnd& writer = *end->second;
          const bool speaks = writer.descriptor == 1 || writer.descriptor == 2;
          if (!speaks || writer.pid == reader.pid || direct.contains(writer.pid)) continue;
          if (known.contains({writer.pid, reader.log})) continue;
          if (proc_.access_mode(writer.pid, writer.descriptor) == O_RDONLY) continue;
          const auto stat = proc_.stat(writer.pid);
          if (!stat) continue;
          known.emplace(writer.pid, reader.log);
          found.push_back({writer.pid, stat->started, reader.log, Via::pipe});
          hold(found.back());
        }
      }
    }
    edge = std::move(found);
  }
}

void HolderScan::finish() {
  follow_pipes();
  pipes_ = {};
  std::sort(holdings_.begin(), holdings_.end(), [](const Holding& a, const Holding& b) {
    return std::tie(a.pid, a.log, a.via) < std::tie(b.pid, b.log, b.via);
  });
  const auto same = [](const Holding& a, const Holding& b) {
    return a.pid == b.pid && a.log == b.log;
  };
  holdings_.erase(std::unique(holdings_.begin(), holdings_.end(), same), holdings_.end());
}

}  // namespace l4::host
