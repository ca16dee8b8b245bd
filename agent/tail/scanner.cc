#include "agent/tail/scanner.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <unordered_map>
#include <utility>

namespace l4::tail {
namespace {

constexpr std::size_t kNamesPerTurn = 20'000;

}  // namespace

bool Scanner::work() {
  std::size_t names = 0;
  while (folders_.any_dirty()) {
    if (names > kNamesPerTurn) return true;
    if (Folder* folder = folders_.next_dirty()) names += scan(*folder);
  }
  search_resumed();
  return false;
}

/// Once all folders are scanned: searches for the parts that positions name and no folder shows, or
/// forgets them if their folder is no longer followed.
void Scanner::search_resumed() {
  std::erase_if(context_.resumed, [&](std::uint64_t key) {
    LogPart* part = context_.table.by_key(key);
    if (part == nullptr || !part->resumed) return true;
    if (part->warned) return false;
    if (folders_.find(part->log->folder) == nullptr) {
      if (folders_.sources().enters(part->log->folder)) return false;  // may appear later
      context_.table.erase(*part);
      return true;
    }
    context_.search(*part);  // names change while we read
    return true;
  });
}

void Scanner::lose_folder(Folder& folder, int error) {
  if (error != ENOENT && error != ENOTDIR) return folders_.retry_later(folder, error);
  const auto parts = std::exchange(folder.parts, {});
  for (const auto& [name, part] : parts) placement_.lose_name(*part);
  folders_.erase(folder);
}

/// Parts that the folder held under names which are gone, or lead to other files by now.
void Scanner::lose_names(Folder& folder, const std::vector<FolderEntry>& entries) {
  std::unordered_map<std::string, const FolderEntry*> here;
  for (const FolderEntry& file : entries) here.emplace(file.name, &file);
  std::vector<LogPart*> lost;
  for (LogPart* part : folder.displaced) {  // unless they have got another name in this scan
    const auto [path, name] = split_folder(part->path);
    const auto at = folder.parts.find(name);
    if (part->named && path == folder.path && (at == folder.parts.end() || at->second != part))
      lost.push_back(part);
  }
  for (const auto& [name, part] : folder.parts) {
    const auto at = here.find(name);
    if (at == here.end() || at->second->status.inode != part->id.inode ||
        at->second->status.device != part->id.device)
      lost.push_back(part);
  }
  for (LogPart* part : lost) placement_.lose_name(*part);
}

std::size_t Scanner::scan(Folder& folder) {
  ++context_.scan;
  folder.dirty = false;
  folders_.watch(folder);
  const auto names = context_.files.list(folder.path);
  if (!names) {
    lose_folder(folder, names.error());
    return 1;
  }
  folder.warned = false;
  std::vector<FolderEntry> entries = folders_.list(folder, *names);
  const Names all(names->begin(), names->end());
  std::erase_if(entries, [&](FolderEntry& file) {
    file.base = folders_.base_of(folder.path, file.name, all);
    return !folders_.wanted(folder, file.base, file.name);
  });
  folder.displaced.clear();
  placement_.defer_order();
  for (const FolderEntry& file : entries)
    if (const Holder holder = context_.table.by_file(file.status.device, file.status.inode);
        holder.part != nullptr && !holder.copy)
      placement_.follow(folder, file, *holder.part);
  lose_names(folder, entries);
  placement_.restore_order();
  folder.waiting = false;
  // The new file of a part is found before its old name is inspected; a copy of a part, after that.
  folder.verified.clear();
  for (const FolderEntry& file : entries) placement_.verify_relatives(folder, file);
  for (const FolderEntry& file : entries)
    if (file.name != file.base) placement_.inspect(folder, file, true);
  std::ranges::stable_sort(entries, {},
                           [](const FolderEntry& file) { return file.name != file.base; });
  for (const FolderEntry& file : entries) placement_.inspect(folder, file, false);
  std::erase_if(folder.inspections, [&](const auto& one) { return !all.contains(one.first); });
  if (folder.blind || folder.watch < 0)
    folders_.set_alarm(folder, context_.now.steady + context_.options.blind_poll);
  if (folder.waiting) folders_.set_alarm(folder, context_.now.steady + 2 * context_.options.pause);
  return names->size() + 1;
}

void Scanner::replaced(LogPart& part) {
  placement_.lose_file(part);
  if (Folder* folder = folders_.folder_of(part.path)) scan(*folder);
  if (!part.placed()) placement_.adopt_copy(part);
}

}  // namespace l4::tail
