#include "agent/tail/folders.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/discover/file_kind.h"
#include "agent/discover/rotation.h"

namespace l4::tail {
namespace {

// Polling is cheaper from this many notices on, in all and for each file.
constexpr std::size_t kBurst = 64, kBurstPerFile = 8;
constexpr Millis kRearm{1'000};
constexpr std::uint64_t kSlowPoll = 0, kRootPoll = 1;

/// `/var/log/containers/POD_NS_NAME-<64 digits>.log`: links that always lead elsewhere.
bool container_name(std::string_view name) {
  return name.ends_with(".log") && name.size() > 69 && name[name.size() - 69] == '-';
}

}  // namespace

Folders::Folders(Context& context, Sources sources, std::unique_ptr<Watcher> watcher)
    : context_(context), sources_(std::move(sources)), watcher_(std::move(watcher)) {}

Folder* Folders::find(const std::string& path) {
  const auto at = folders_.find(path);
  return at == folders_.end() ? nullptr : at->second.get();
}

Folder* Folders::folder_of(const std::string& path) {
  return find(split_folder(path).first);
}

Folder& Folders::folder_at(const std::string& path) {
  auto& folder = folders_[path];
  if (!folder) {
    folder = std::make_unique<Folder>();
    folder->path = path;
    mark_dirty(*folder);
  }
  context_.counters.folders = folders_.size();
  return *folder;
}

void Folders::mark_dirty(Folder& folder) {
  if (folder.dirty) return;
  folder.dirty = true;
  dirty_.push_back(folder.path);
}

Folder* Folders::next_dirty() {
  while (!dirty_.empty()) {
    const std::string path = std::move(dirty_.front());
    dirty_.pop_front();
    Folder* folder = find(path);
    if (folder != nullptr && folder->dirty) return folder;
  }
  return nullptr;
}

void Folders::set_alarm(Folder& folder, Millis at) {
  if (folder.alarm > context_.now.steady && folder.alarm <= at) return;
  folder.alarm = at;
  context_.alarms.push({at, Alarm::Of::folder, 0, folder.path});
}

void Folders::find_roots() {
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

void Folders::poll(std::uint64_t which) {
  find_roots();
  if (which != kSlowPoll) return;
  for (auto& [path, folder] : folders_) mark_dirty(*folder);
  context_.alarms.push(
      {context_.now.steady + context_.options.slow_poll, Alarm::Of::poll, kSlowPoll});
}

void Folders::watch(Folder& folder) {
  watch(folder, folder.writes);
}

void Folders::watch(Folder& folder, bool writes) {
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
    // The folder is watched by another path already, which gets its notices.
    if (watch && !watches_.emplace(*watch, &folder).second) folder.watch = -1;
  }
  context_.counters.watches = watches_.size();
  if (watch || watch.error() == ENOENT || watch.error() == ENOTDIR || warned_limit_) return;
  warned_limit_ = true;
  context_.warn("polling", folder.path,
                std::string("changes are not noticed here and looked for instead: ") +
                    (watch.error() == ENOSPC ? "the limit of inotify watches is reached"
                                             : std::strerror(watch.error())));
}

void Folders::apply(const Notice& notice) {
  if (notice.overflow) {
    ++context_.counters.overflows;
    if (!warned_overflow_)
      context_.warn("polling", "", "notices of changes were lost; everything is looked at again");
    warned_overflow_ = true;
    for (auto& [path, folder] : folders_) mark_dirty(*folder);
    return;
  }
  const auto at = watches_.find(notice.watch);
  if (at == watches_.end()) return;
  Folder& folder = *at->second;
  if (notice.gone) {
    watcher_->unwatch(notice.watch);
    watches_.erase(at);
    folder.watch = -1;
    mark_dirty(folder);
  } else if (notice.name.empty() || !notice.written) {
    if (!skips(folder, notice.name)) mark_dirty(folder);
  } else if (!skips(folder, notice.name)) {
    ++folder.notices;
    if (!folder.written.contains(notice.name)) folder.written.emplace(notice.name);
    noticed_.insert(&folder);
  }
}

/// Marks the parts that were written to as dirty. A folder with very many writes is polled for a
/// while instead.
void Folders::flush_notices(Folder& folder) {
  const bool burst = folder.notices >= kBurst && folder.watch >= 0 &&
                     folder.notices >= kBurstPerFile * folder.written.size();
  folder.hot.clear();
  for (const std::string& name : folder.written) {
    if (const auto at = folder.parts.find(name); at != folder.parts.end()) {
      context_.touch(*at->second);
      if (burst) folder.hot.push_back(at->second->id.key);
    } else if (const auto known = folder.inspections.find(name);
               known == folder.inspections.end() || !known->second.decided) {
      mark_dirty(folder);
    }
  }
  folder.written.clear();
  folder.notices = 0;
  if (!burst) return;
  watch(folder, false);
  folder.rearm = context_.now.steady + kRearm;
  set_alarm(folder, context_.now.steady + context_.options.pause);
}

bool Folders::read_notices() {
  constexpr int kReadsMax = 16;
  bool any = false;
  for (int i = 0; i < kReadsMax; ++i)
    if (!watcher_->read([&](const Notice& notice) {
          any = true;
          apply(notice);
        }))
      break;
  const auto noticed = std::exchange(noticed_, {});
  for (Folder* folder : noticed) flush_notices(*folder);
  return any;
}

void Folders::changed(const std::string& path) {
  if (Folder* folder = folder_of(path)) mark_dirty(*folder);
}

void Folders::folder_due(const std::string& path) {
  Folder* const found = find(path);
  if (found == nullptr) return;
  Folder& folder = *found;
  if (!folder.writes && context_.now.steady < context_.cool_until)
    return set_alarm(folder, context_.cool_until);
  if (folder.writes || context_.now.steady >= folder.rearm) {
    if (!folder.writes) watch(folder, true);
    folder.hot.clear();
    mark_dirty(folder);
    return;
  }
  for (const std::uint64_t key : folder.hot)
    if (LogPart* part = context_.table.by_key(key)) context_.touch(*part);
  set_alarm(folder, context_.now.steady + context_.options.pause);
}

void Folders::retry_later(Folder& folder, int error) {
  if (!folder.warned) context_.warn("unreadable", folder.path, std::strerror(error));
  folder.warned = true;
  set_alarm(folder, context_.now.steady + context_.options.blind_poll);
}

void Folders::erase(Folder& folder) {
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

/// Follows a link whose target is not found otherwise: the log of a container, or a link that the
/// sources name.
void Folders::link(Folder& folder, const std::string& name) {
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
  if (there.only.emplace(file, path).second) mark_dirty(there);
}

/// True for a hidden name, unless the sources name exactly this file.
bool Folders::skips(const Folder& folder, std::string_view name) const {
  return name.starts_with('.') && sources_.wanted(folder.path, name, name) != Wanted::by_name;
}

std::vector<FolderEntry> Folders::list(Folder& folder, const std::vector<std::string>& names) {
  std::vector<FolderEntry> entries;
  for (const std::string& name : names) {
    if (skips(folder, name)) continue;
    const std::string path = path_in(folder.path, name);
    const auto status = context_.files.status(path, false);
    if (!status) continue;
    if (status->kind == Status::Kind::file) {
      entries.push_back({name, *status, {}});
    } else if (!folder.whole) {
      continue;
    } else if (status->kind == Status::Kind::folder && sources_.enters(path)) {
      if (context_.counters.folders < context_.options.files_max) folder_at(path).whole = true;
    } else if (status->kind == Status::Kind::link) {
      link(folder, name);
    }
  }
  return entries;
}

std::string Folders::base_of(const std::string& folder, const std::string& name) const {
  return base_of(folder, name, {discover::rotated_name(name).base});
}

std::string Folders::base_of(const std::string& folder, const std::string& name,
                             const Names& names) const {
  const discover::RotatedName rotated = discover::rotated_name(name);
  using Kind = discover::RotatedName::Kind;
  const bool packed = name.ends_with(".gz") || name.ends_with(".zst");
  const bool sure = packed || (rotated.kind == Kind::dated && !rotated.inner);
  if (rotated.base == name || (sure && !rotated.inner)) return rotated.base;
  const bool known =
      names.contains(rotated.base) || context_.table.find_log(folder, rotated.base) != nullptr;
  return known ? rotated.base : name;
}

bool Folders::wanted(const Folder& folder, const std::string& base, const std::string& name) const {
  if (folder.only.contains(base)) return true;
  if (!folder.whole) return false;
  const Wanted wanted = sources_.wanted(folder.path, base, name);
  if (wanted != Wanted::by_kind) return wanted == Wanted::by_name;
  return !discover::has_data_extension(name) || discover::has_json_extension(name);
}

}  // namespace l4::tail
