#include "agent/tail/scanner.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/discover/file_kind.h"
#include "agent/discover/rotation.h"

namespace l4::tail {
namespace {

constexpr std::size_t kNamesPerTurn = 20'000;
// From so many notices on, and so many for each file, polling is cheaper.
constexpr std::size_t kBurst = 64, kBurstPerFile = 8;
constexpr Millis kRearm{1'000};
constexpr std::uint64_t kSlowPoll = 0, kRootPoll = 1;

/// `/var/log/containers/POD_NS_NAME-<64 digits>.log`: links that always lead elsewhere.
bool container_name(std::string_view name) {
  return name.ends_with(".log") && name.size() > 69 && name[name.size() - 69] == '-';
}

}  // namespace

Scanner::Scanner(Context& context, Sources sources, std::unique_ptr<Watcher> watcher)
    : context_(context), sources_(std::move(sources)), watcher_(std::move(watcher)) {}

Scanner::Folder& Scanner::folder_at(const std::string& path) {
  auto& folder = folders_[path];
  if (!folder) {
    folder = std::make_unique<Folder>();
    folder->path = path;
    mark(*folder);
  }
  context_.counters.folders = folders_.size();
  return *folder;
}

void Scanner::mark(Folder& folder) {
  if (folder.dirty) return;
  folder.dirty = true;
  dirty_.push_back(folder.path);
}

void Scanner::set_alarm(Folder& folder, Millis at) {
  if (folder.alarm > context_.now.steady && folder.alarm <= at) return;
  folder.alarm = at;
  context_.alarms.push({at, Alarm::Of::folder, 0, folder.path});
}

void Scanner::find_roots() {
  bool missing = false;
  for (const std::string& root : sources_.roots()) {
    const auto status = context_.files.status(root, true);
    if (status && status->kind == Status::Kind::folder) {
      folder_at(root).whole = true;
    } else if (status) {
      folder_at(split_folder(root).first).whole = true;
    } else {
      missing = true;
      if (missing_roots_.insert(root).second)
        context_.warn("missing", root, std::string(std::strerror(status.error())));
      continue;
    }
    missing_roots_.erase(root);
  }
  if (missing)
    context_.alarms.push(
        {context_.now.steady + context_.options.blind_poll, Alarm::Of::poll, kRootPoll});
}

void Scanner::poll(std::uint64_t which) {
  find_roots();
  if (which != kSlowPoll) return;
  for (auto& [path, folder] : folders_) mark(*folder);
  context_.alarms.push(
      {context_.now.steady + context_.options.slow_poll, Alarm::Of::poll, kSlowPoll});
}

void Scanner::arm(Folder& folder, bool writes) {
  folder.blind = context_.files.blind(folder.path);
  const auto watch = watcher_->watch(folder.path, writes);
  const int before = folder.watch;
  folder.watch = watch ? *watch : -1;
  folder.writes = writes || !watch;
  if (folder.watch != before) {
    if (const auto at = watches_.find(before); at != watches_.end() && at->second == &folder) {
      if (!watch || *watch != before) watcher_->unwatch(before);
      watches_.erase(at);
    }
    // The same folder by another path: its notices go there.
    if (watch && !watches_.emplace(*watch, &folder).second) folder.watch = -1;
  }
  context_.counters.watches = watches_.size();
  if (watch || watch.error() == ENOENT || watch.error() == ENOTDIR || told_limit_) return;
  told_limit_ = true;
  context_.warn("polling", folder.path,
                std::string("changes are not noticed here and looked for instead: ") +
                    (watch.error() == ENOSPC ? "the limit of inotify watches is reached"
                                             : std::strerror(watch.error())));
}

void Scanner::take_notice(const Notice& notice) {
  if (notice.overflow) {
    ++context_.counters.overflows;
    if (!told_overflow_)
      context_.warn("polling", "", "notices of changes were lost; everything is looked at again");
    told_overflow_ = true;
    for (auto& [path, folder] : folders_) mark(*folder);
    return;
  }
  const auto at = watches_.find(notice.watch);
  if (at == watches_.end()) return;
  Folder& folder = *at->second;
  if (notice.gone) {
    watcher_->unwatch(notice.watch);
    watches_.erase(at);
    folder.watch = -1;
    mark(folder);
  } else if (notice.name.empty() || !notice.written) {
    if (!notice.name.starts_with('.')) mark(folder);
  } else if (!notice.name.starts_with('.')) {
    ++folder.notices;
    if (!folder.written.contains(notice.name)) folder.written.emplace(notice.name);
    noticed_.insert(&folder);
  }
}

/// What was written to is looked at; a folder with very many writes is polled for a while.
void Scanner::end_notices(Folder& folder) {
  const bool burst = folder.notices >= kBurst && folder.watch >= 0 &&
                     folder.notices >= kBurstPerFile * folder.written.size();
  folder.hot.clear();
  for (const std::string& name : folder.written) {
    if (const auto at = folder.parts.find(name); at != folder.parts.end()) {
      context_.touch(*at->second);
      if (burst) folder.hot.push_back(at->second->id.key);
    } else if (const auto look = folder.looks.find(name);
               look == folder.looks.end() || !look->second.decided) {
      mark(folder);
    }
  }
  folder.written.clear();
  folder.notices = 0;
  if (!burst) return;
  arm(folder, false);
  folder.rearm = context_.now.steady + kRearm;
  set_alarm(folder, context_.now.steady + context_.options.pause);
}

bool Scanner::read_notices() {
  constexpr int kReadsMax = 16;
  bool any = false;
  for (int i = 0; i < kReadsMax; ++i)
    if (!watcher_->read([&](const Notice& notice) {
          any = true;
          take_notice(notice);
        }))
      break;
  const auto noticed = std::exchange(noticed_, {});
  for (Folder* folder : noticed) end_notices(*folder);
  return any;
}

void Scanner::changed(const std::string& path) {
  if (const auto at = folders_.find(split_folder(path).first); at != folders_.end())
    mark(*at->second);
}

std::string Scanner::base_of(const std::string& folder, const std::string& name) {
  return base_of(folder, name, {discover::rotated_name(name).base});
}

void Scanner::folder_due(const std::string& path) {
  const auto at = folders_.find(path);
  if (at == folders_.end()) return;
  Folder& folder = *at->second;
  if (!folder.writes && context_.now.steady < context_.cool_until)
    return set_alarm(folder, context_.cool_until);
  if (folder.writes || context_.now.steady >= folder.rearm) {
    if (!folder.writes) arm(folder, true);
    folder.hot.clear();
    mark(folder);
    return;
  }
  for (const std::uint64_t key : folder.hot)
    if (LogPart* part = context_.table.by_key(key)) context_.touch(*part);
  set_alarm(folder, context_.now.steady + context_.options.pause);
}

/// Gone, or not to be read: then its files may be as they were.
void Scanner::lose_folder(Folder& folder, int error) {
  if (error != ENOENT && error != ENOTDIR) {
    if (!folder.told) context_.warn("unreadable", folder.path, std::strerror(error));
    folder.told = true;
    set_alarm(folder, context_.now.steady + context_.options.blind_poll);
    return;
  }
  const auto parts = std::exchange(folder.parts, {});
  for (const auto& [name, part] : parts) lose_name(*part);
  if (const auto at = watches_.find(folder.watch); at != watches_.end() && at->second == &folder) {
    watcher_->unwatch(folder.watch);
    watches_.erase(at);
  }
  noticed_.erase(&folder);
  folders_.erase(std::string(folder.path));
  context_.counters.folders = folders_.size();
  context_.counters.watches = watches_.size();
  find_roots();
}

bool Scanner::work() {
  std::size_t names = 0;
  while (!dirty_.empty()) {
    if (names > kNamesPerTurn) return true;
    const std::string path = std::move(dirty_.front());
    dirty_.pop_front();
    const auto at = folders_.find(path);
    if (at != folders_.end() && at->second->dirty) names += scan(*at->second);
  }
  settle_resumed();
  return false;
}

/// Where all was looked through, what positions name and is not there is gone.
void Scanner::settle_resumed() {
  std::erase_if(context_.resumed, [&](std::uint64_t key) {
    LogPart* part = context_.table.by_key(key);
    if (part == nullptr || !part->resumed) return true;
    if (part->told) return false;
    if (!folders_.contains(part->log->folder)) {
      if (sources_.enters(part->log->folder)) return false;  // may come yet
      context_.table.erase(*part);
      return true;
    }
    context_.search(*part);  // names change while we read
    return true;
  });
}

/// A link is followed to a file that is not found otherwise: a container's, or one asked for.
void Scanner::link(Folder& folder, const std::string& name) {
  const std::string path = path_in(folder.path, name);
  const auto real = context_.files.real_path(path);
  if (!real) return;
  const auto status = context_.files.status(*real, false);
  if (!status || status->kind != Status::Kind::file) return;
  const auto [target, file] = split_folder(*real);
  if (sources_.enters(target) && sources_.wanted(target, file, file) != Wanted::no) return;
  const Wanted wanted = sources_.wanted(folder.path, name, name);
  if (wanted == Wanted::no || (wanted == Wanted::by_kind && !container_name(name))) return;
  Folder& there = folder_at(target);
  if (there.only.emplace(file, path).second) mark(there);
}

std::vector<Scanner::Seen> Scanner::list(Folder& folder, const std::vector<std::string>& names) {
  std::vector<Seen> seen;
  for (const std::string& name : names) {
    if (name.starts_with('.')) continue;
    const std::string path = path_in(folder.path, name);
    const auto status = context_.files.status(path, false);
    if (!status) continue;
    if (status->kind == Status::Kind::file) {
      seen.push_back({name, *status, {}});
    } else if (!folder.whole) {
      continue;
    } else if (status->kind == Status::Kind::folder && sources_.enters(path)) {
      if (context_.counters.folders < context_.options.files_max) folder_at(path).whole = true;
    } else if (status->kind == Status::Kind::link) {
      link(folder, name);
    }
  }
  return seen;
}

/// The name of the log that a file belongs to.
std::string Scanner::base_of(const std::string& folder, const std::string& name,
                             const Names& names) {
  const discover::RotatedName rotated = discover::rotated_name(name);
  using Kind = discover::RotatedName::Kind;
  const bool packed = name.ends_with(".gz") || name.ends_with(".zst");
  const bool sure = packed || (rotated.kind == Kind::dated && !rotated.inner);
  if (rotated.base == name || (sure && !rotated.inner)) return rotated.base;
  const bool known =
      names.contains(rotated.base) || context_.table.find_log(folder, rotated.base) != nullptr;
  return known ? rotated.base : name;
}

bool Scanner::wanted(const Folder& folder, const std::string& base, const std::string& name) {
  if (folder.only.contains(base)) return true;
  if (!folder.whole) return false;
  const Wanted wanted = sources_.wanted(folder.path, base, name);
  if (wanted != Wanted::by_kind) return wanted == Wanted::by_name;
  return !discover::has_data_extension(name) || discover::has_json_extension(name);
}

/// Only when all names are as they are now: one that is out of date would put its part among the
/// wrong ones.
void Scanner::arrange_logs() {
  names_settle_ = false;
  for (const LogId id : std::exchange(unarranged_, {}))
    if (TailedLog* log = context_.table.find_log(id)) context_.table.arrange(*log);
}

std::size_t Scanner::scan(Folder& folder) {
  ++scan_;
  folder.dirty = false;
  arm(folder, folder.writes);
  const auto names = context_.files.list(folder.path);
  if (!names) {
    lose_folder(folder, names.error());
    return 1;
  }
  folder.told = false;
  std::vector<Seen> seen = list(folder, *names);
  const Names all(names->begin(), names->end());
  std::erase_if(seen, [&](Seen& file) {
    file.base = base_of(folder.path, file.name, all);
    return !wanted(folder, file.base, file.name);
  });
  folder.displaced.clear();
  std::unordered_map<std::string, const Seen*> here;
  for (const Seen& file : seen) here.emplace(file.name, &file);
  names_settle_ = true;
  for (const Seen& file : seen)
    if (const Holder holder = context_.table.by_file(file.status.device, file.status.inode);
        holder.part != nullptr && !holder.copy)
      follow(folder, file, *holder.part);
  std::vector<LogPart*> lost;
  for (LogPart* part : folder.displaced) {  // and have not turned up under another one
    const auto [place, name] = split_folder(part->path);
    const auto at = folder.parts.find(name);
    if (part->named && place == folder.path && (at == folder.parts.end() || at->second != part))
      lost.push_back(part);
  }
  for (const auto& [name, part] : folder.parts) {
    const auto at = here.find(name);
    if (at == here.end() || at->second->status.inode != part->id.inode ||
        at->second->status.device != part->id.device)
      lost.push_back(part);
  }
  for (LogPart* part : lost) lose_name(*part);
  arrange_logs();
  folder.waiting = false;
  // What a part has become is found before its old name is looked at; what is a copy of something,
  // after it.
  folder.verified.clear();
  for (const Seen& file : seen) verify_relatives(folder, file);
  for (const Seen& file : seen)
    if (file.name != file.base) newcomer(folder, file, true);
  std::ranges::stable_sort(seen, {}, [](const Seen& file) { return file.name != file.base; });
  for (const Seen& file : seen) newcomer(folder, file, false);
  std::erase_if(folder.looks, [&](const auto& look) { return !all.contains(look.first); });
  if (folder.blind || folder.watch < 0)
    set_alarm(folder, context_.now.steady + context_.options.blind_poll);
  if (folder.waiting) set_alarm(folder, context_.now.steady + 2 * context_.options.pause);
  return names->size() + 1;
}

}  // namespace l4::tail
