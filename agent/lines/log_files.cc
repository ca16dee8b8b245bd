#include "agent/lines/log_files.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <tuple>
#include <utility>

#include "agent/discover/rotation.h"

namespace l4::lines {
namespace {

using discover::RotatedName;

constexpr std::size_t kPartsMax = 1000;

struct Named {
  RotatedName name;
  std::string file;

  std::string_view unpacked() const {
    std::string_view text = file;
    for (const std::string_view packing : {".gz", ".zst"})
      if (text.ends_with(packing)) text.remove_suffix(packing.size());
    return text;
  }
};

/// Whether a file is the log or one of its rotated files. A mark before the extension counts only
/// if it is a date: X.1.log may be the log of a rank.
bool belongs(const RotatedName& name, const std::string& file, const std::string& base) {
  if (file == base) return true;
  if (name.base != base) return false;
  return !name.inner || name.kind == RotatedName::Kind::dated;
}

bool is_known(const AskedLog& log, const tail::Status& status) {
  return std::ranges::find(log.known, std::pair(status.device, status.inode)) != log.known.end();
}

}  // namespace

std::vector<DiskFile> parts_of(const Task& task, const AskedLog& log, tail::FileSystem& files) {
  const auto names = files.list(log.folder);
  if (!names) return {};
  std::vector<Named> found;
  for (const std::string& file : *names) {
    RotatedName name = discover::rotated_name(file);
    if (file == log.base) name.kind = RotatedName::Kind::current;
    if (!belongs(name, file, log.base)) continue;
    if (task.may_read && !task.may_read(log, file)) continue;
    found.push_back({std::move(name), file});
  }
  // While a file is being packed both exist; the plain one is complete.
  std::ranges::sort(
      found, {}, [](const Named& one) { return std::tuple(discover::age_of(one.name), one.file); });
  const auto twice = std::ranges::unique(found, {}, &Named::unpacked);
  found.erase(twice.begin(), twice.end());
  if (found.size() > kPartsMax)
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(kPartsMax));
  std::vector<DiskFile> parts;
  for (const Named& one : found) {
    const std::string path = (log.folder.ends_with('/') ? log.folder : log.folder + "/") + one.file;
    auto status = files.status(path, false);
    if (status && status->kind == tail::Status::Kind::link) {
      status = files.status(path, true);
      if (status && !is_known(log, *status)) continue;
    }
    if (!status || status->kind != tail::Status::Kind::file) continue;
    parts.push_back({path, *status});
  }
  return parts;
}

tail::Outcome<tail::TextFile> open_part(const DiskFile& part, tail::FileSystem& files) {
  auto file = files.open(part.path);
  if (!file) return std::unexpected(file.error());
  const auto status = (*file)->status();
  if (!status) return std::unexpected(status.error());
  if (status->device != part.status.device || status->inode != part.status.inode)
    return std::unexpected(ESTALE);
  return tail::TextFile::make(std::move(*file));
}

}  // namespace l4::lines
