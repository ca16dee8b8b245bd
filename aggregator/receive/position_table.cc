#include "aggregator/receive/position_table.h"

#include <map>

#include "common/base/check.h"
#include "common/wire/codec/control_codec.h"

namespace l4::receive {
namespace {

constexpr std::size_t kFilesMax = 200'000;
constexpr std::size_t kPathBytesAllMax = 32u << 20;

}  // namespace

void PositionTable::load(const std::vector<wire::Position>& positions, bool adopts) {
  files_.clear();
  adopts_ = adopts;
  path_bytes_ = 0;
  for (const wire::Position& position : positions) {
    files_[position.file.key] = {position, position.offset};
    path_bytes_ += position.path.size();
  }
}

std::uint64_t PositionTable::applied(std::uint64_t key) const {
  const auto found = files_.find(key);
  return found == files_.end() ? 0 : found->second.applied;
}

PositionTable::Decision PositionTable::check(const std::vector<wire::Coverage>& coverage) const {
  bool seen = false, next = false;
  std::size_t files = files_.size(), path_bytes = path_bytes_;
  std::map<std::uint64_t, std::uint64_t> moved;  // ends of the batch's earlier parts, by file
  for (const wire::Coverage& part : coverage) {
    const auto own = moved.find(part.file.key);
    const bool adopted = adopts_ && own == moved.end() && !files_.contains(part.file.key);
    const std::uint64_t here = own != moved.end() ? own->second
                               : adopted          ? part.bytes.from
                                                  : applied(part.file.key);
    if (part.bytes.from == part.bytes.to && part.bytes.from <= here) continue;
    if (part.bytes.to <= here)
      seen = true;
    else if (part.bytes.from == here)
      next = true;
    else
      return Decision::gap;
    if (part.bytes.from == here) moved[part.file.key] = part.bytes.to;
    if (own == moved.end() && !files_.contains(part.file.key)) {
      ++files;
      path_bytes += part.path.size();
    }
  }
  if (seen && next) return Decision::gap;
  if (next && (files > kFilesMax || path_bytes > kPathBytesAllMax)) return Decision::too_many;
  if (next) return Decision::apply;
  return seen ? Decision::seen : Decision::nothing;
}

std::vector<wire::WantedFile> PositionTable::wanted(
    const std::vector<wire::Coverage>& coverage) const {
  std::vector<wire::WantedFile> wanted;
  wanted.reserve(coverage.size());
  for (const wire::Coverage& part : coverage)
    wanted.push_back({part.file.key, applied(part.file.key)});
  return wanted;
}

void PositionTable::apply(const std::vector<wire::Coverage>& coverage) {
  for (const wire::Coverage& part : coverage) {
    if (part.bytes.from == part.bytes.to) continue;
    const auto [file, fresh] = files_.try_emplace(part.file.key);
    if (fresh) path_bytes_ += part.path.size();
    if (fresh) file->second.committed.path = part.path;
    file->second.committed.file = part.file;
    file->second.applied = part.bytes.to;
  }
}

void PositionTable::commit(const std::vector<wire::Coverage>& coverage) {
  for (const wire::Coverage& part : coverage) {
    const auto file = files_.find(part.file.key);
    if (file == files_.end() || part.bytes.to <= file->second.committed.offset) continue;
    wire::Position& committed = file->second.committed;
    L4_CHECK(part.bytes.to <= file->second.applied, "file {}: {} is committed, {} applied",
             part.file.key, part.bytes.to, file->second.applied);
    path_bytes_ += part.path.size() - committed.path.size();
    committed.path = part.path;  // the file may have been renamed
    committed.offset = part.bytes.to;
    committed.lines += part.lines;
  }
}

std::vector<std::uint64_t> PositionTable::release(const std::vector<std::uint64_t>& keys) {
  std::vector<std::uint64_t> released;
  for (const std::uint64_t key : keys) {
    const auto file = files_.find(key);
    if (file == files_.end() || file->second.applied != file->second.committed.offset) continue;
    path_bytes_ -= file->second.committed.path.size();
    files_.erase(file);
    released.push_back(key);
  }
  return released;
}

wire::PositionPage PositionTable::page(std::uint64_t after, std::size_t bytes_max) const {
  wire::PositionPage page;
  std::size_t bytes = 0;
  for (auto file = files_.upper_bound(after); file != files_.end(); ++file) {
    if (file->second.committed.offset == 0) continue;
    bytes += wire::encoded_bytes(file->second.committed);
    if (bytes > bytes_max && !page.positions.empty()) {
      page.more = true;
      break;
    }
    page.positions.push_back(file->second.committed);
  }
  return page;
}

}  // namespace l4::receive
