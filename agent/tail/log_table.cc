#include "agent/tail/log_table.h"

#include <algorithm>
#include <cstring>

#include "common/base/check.h"

namespace l4::tail {
namespace {

auto age_of(const LogPart& part) {
  return discover::age_of(part.name);
}

}  // namespace

void Ending::add(std::string_view text) {
  if (text.size() >= kMost) {
    std::memcpy(bytes.data(), text.data() + text.size() - kMost, kMost);
    size = kMost;
    return;
  }
  const std::size_t keep = std::min<std::size_t>(size, kMost - text.size());
  std::memmove(bytes.data(), bytes.data() + size - keep, keep);
  std::memcpy(bytes.data() + keep, text.data(), text.size());
  size = static_cast<std::uint8_t>(keep + text.size());
}

void Marks::add(std::uint64_t offset, const Ending& before, std::string_view text) {
  for (std::size_t i = hashes.size();; ++i) {
    const std::uint64_t at = kFirst << i;
    if (at > offset + text.size()) return;
    hashes.push_back(0);
    if (at <= offset) continue;  // reading began behind this mark
    Ending ending = before;
    ending.add(text.substr(0, static_cast<std::size_t>(at - offset)));
    if (ending.size == Ending::kMost) hashes.back() = fingerprint_of(ending.view());
  }
}

std::uint64_t Marks::last_until(std::uint64_t bytes) const {
  for (std::size_t i = hashes.size(); i-- > 0;)
    if (hashes[i] != 0 && kFirst << i <= bytes) return kFirst << i;
  return 0;
}

bool Marks::hold(std::uint64_t offset, std::string_view ending) const {
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (kFirst << i == offset) return hashes[i] != 0 && hashes[i] == fingerprint_of(ending);
  return false;
}

std::pair<std::string, std::string> split_folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, std::max<std::size_t>(slash, 1))),
          std::string(path.substr(slash + 1))};
}

std::size_t LogTable::FileHash::operator()(const FileKey& key) const {
  return static_cast<std::size_t>(key.first * 0x9e3779b97f4a7c15 ^ key.second);
}

LogTable::LogTable(std::uint64_t seed) : random_(seed) {}

std::uint64_t LogTable::draw_key() {
  for (;;) {
    const std::uint64_t key = random_();
    if (key != 0 && !parts_.contains(key)) return key;
  }
}

TailedLog* LogTable::find_log(const std::string& folder, const std::string& base) {
  const auto at = names_.find({folder, base});
  return at == names_.end() ? nullptr : at->second;
}

TailedLog* LogTable::find_log(LogId id) {
  const auto at = logs_.find(id);
  return at == logs_.end() ? nullptr : at->second.get();
}

TailedLog& LogTable::log_of(const std::string& folder, const std::string& base) {
  TailedLog*& log = names_[{folder, base}];
  if (log == nullptr) {
    auto made = std::make_unique<TailedLog>();
    made->id = LogId{next_log_++};
    made->folder = folder;
    made->base = base;
    made->path = folder + (folder.ends_with('/') ? "" : "/") + base;
    log = made.get();
    families_[{folder, discover::rotated_name(base).base}].push_back(log);
    logs_.emplace(log->id, std::move(made));
  }
  return *log;
}

std::vector<LogPart*> LogTable::relatives(const std::string& folder,
                                          const std::string& base) const {
  std::vector<LogPart*> parts;
  const auto at = families_.find({folder, discover::rotated_name(base).base});
  if (at == families_.end()) return parts;
  for (const TailedLog* log : at->second)
    parts.insert(parts.end(), log->parts.begin(), log->parts.end());
  return parts;
}

LogPart& LogTable::add(TailedLog& log, wire::FileId id, const std::string& path) {
  if (id.key == 0 || parts_.contains(id.key)) id.key = draw_key();
  auto made = std::make_unique<LogPart>();
  LogPart& part = *made;
  part.id = id;
  part.log = &log;
  set_name(part, path);
  log.parts.push_back(&part);
  parts_.emplace(id.key, std::move(made));
  return part;
}

LogPart& LogTable::add_behind(LogPart& part) {
  wire::FileId id = part.id;
  ++id.key;
  TailedLog& log = *part.log;
  LogPart& next = add(log, id, part.path);
  log.parts.pop_back();
  log.parts.insert(std::next(std::ranges::find(log.parts, &part)), &next);
  return next;
}

LogPart* LogTable::by_key(std::uint64_t key) {
  const auto at = parts_.find(key);
  return at == parts_.end() ? nullptr : at->second.get();
}

Holder LogTable::by_file(std::uint64_t device, std::uint64_t inode) const {
  const auto at = files_.find({device, inode});
  return at == files_.end() ? Holder{} : at->second;
}

void LogTable::drop_file(LogPart& part) {
  const auto at = files_.find({part.id.device, part.id.inode});
  if (at != files_.end() && at->second.part == &part && !at->second.copy) files_.erase(at);
}

void LogTable::set_file(LogPart& part, std::uint64_t device, std::uint64_t inode) {
  drop_file(part);
  const Holder before = by_file(device, inode);
  if (before.part != nullptr && before.copy) drop_copy(device, inode);
  part.id.device = device;
  part.id.inode = inode;
  files_[{device, inode}] = {&part, false};
}

void LogTable::add_copy(LogPart& part, Copy copy) {
  files_[{copy.device, copy.inode}] = {&part, true};
  part.copies.push_back(std::move(copy));
}

void LogTable::drop_copy(std::uint64_t device, std::uint64_t inode) {
  const auto at = files_.find({device, inode});
  if (at == files_.end() || !at->second.copy) return;
  std::erase_if(at->second.part->copies,
                [&](const Copy& copy) { return copy.device == device && copy.inode == inode; });
  files_.erase(at);
}

void LogTable::set_key(LogPart& part, std::uint64_t key) {
  auto node = parts_.extract(part.id.key);
  L4_CHECK(!node.empty(), "part {} is not in the table", part.id.key);
  L4_CHECK(!parts_.contains(key), "key {} belongs to another part", key);
  if (part.log->at_key == part.id.key) part.log->at_key = 0;
  part.id.key = key;
  node.key() = key;
  parts_.insert(std::move(node));
}

void LogTable::set_name(LogPart& part, const std::string& path) {
  part.path = path;
  part.name = discover::rotated_name(split_folder(path).second);
  if (part.log != nullptr && part.name.base != part.log->base) {
    // The name only looks rotated: it is the name of the log itself.
    part.name = {};
  } else if (part.log != nullptr && part.name.kind == discover::RotatedName::Kind::current &&
             split_folder(path).second != part.log->base) {
    part.name.kind = discover::RotatedName::Kind::old;  // X.log.gz beside X.log
  }
}

void LogTable::move(LogPart& part, TailedLog& log) {
  TailedLog& before = *part.log;
  std::erase(before.parts, &part);
  part.log = &log;
  erase_if_empty(before);
  log.parts.push_back(&part);
  set_name(part, std::string(part.path));
}

void LogTable::insert_before_newer(LogPart& part) {
  using Kind = discover::RotatedName::Kind;
  if (part.name.kind == Kind::current) return;
  auto& parts = part.log->parts;
  std::erase(parts, &part);
  const auto newer = std::ranges::find_if(parts, [&](const LogPart* other) {
    if (other->named) return age_of(*other) > age_of(part);
    const bool current = other->name.kind == Kind::current;
    return other->modified > part.modified || (current && other->modified == part.modified);
  });
  parts.insert(newer, &part);
}

void LogTable::arrange(TailedLog& log) {
  std::vector<LogPart*> named, result;
  for (LogPart* part : log.parts)
    if (part->named) named.push_back(part);
  std::ranges::stable_sort(
      named, [](const LogPart* a, const LogPart* b) { return age_of(*a) < age_of(*b); });
  result = named;
  // Goes from the back, so that parts without names stay side by side.
  LogPart* follower = nullptr;
  for (auto at = log.parts.rbegin(); at != log.parts.rend(); ++at) {
    if (!(*at)->named)
      result.insert(follower == nullptr ? result.end() : std::ranges::find(result, follower), *at);
    follower = *at;
  }
  log.parts = std::move(result);
}

void LogTable::renumber(TailedLog& log) {
  auto node = logs_.extract(log.id);
  L4_CHECK(!node.empty(), "log {} is not in the table", log.id);
  log.id = LogId{next_log_++};
  log.announced = false;
  log.at_key = 0;
  log.queued = log.quiet_alarm = false;  // alarms and queue name the old id
  node.key() = log.id;
  logs_.insert(std::move(node));
}

void LogTable::erase(LogPart& part) {
  TailedLog& log = *part.log;
  drop_file(part);
  while (!part.copies.empty()) drop_copy(part.copies.back().device, part.copies.back().inode);
  std::erase(log.parts, &part);
  parts_.erase(part.id.key);
  erase_if_empty(log);
}

void LogTable::erase_if_empty(TailedLog& log) {
  if (!log.parts.empty() || log.announced) return;
  names_.erase({log.folder, log.base});
  const auto family = families_.find({log.folder, discover::rotated_name(log.base).base});
  L4_CHECK(family != families_.end(), "log {} has no family", log.base);
  if (std::erase(family->second, &log) > 0 && family->second.empty()) families_.erase(family);
  logs_.erase(log.id);
}

void LogTable::each(const std::function<void(LogPart&)>& visit) {
  for (auto& [key, part] : parts_) visit(*part);
}

void LogTable::each_log(const std::function<void(TailedLog&)>& visit) {
  for (auto& [id, log] : logs_) visit(*log);
}

}  // namespace l4::tail
