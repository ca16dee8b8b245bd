#include "agent/pipeline/extents.h"

#include <algorithm>
#include <iterator>

#include "common/base/check.h"

namespace l4::pipeline {
namespace {

/// Appends a range, or extends the last one if the range continues it.
void add(std::vector<wire::Coverage>& all, wire::Coverage range) {
  if (!all.empty() && all.back().file.key != 0 && all.back().file.key == range.file.key &&
      all.back().bytes.to == range.bytes.from) {
    all.back().file = range.file;
    all.back().bytes.to = range.bytes.to;
    all.back().lines += range.lines;
    all.back().bytes_known = range.bytes_known;
    all.back().bytes_lost += range.bytes_lost;
    return;
  }
  all.push_back(std::move(range));
}

}  // namespace

void Extents::begin(const std::string& path, const wire::FileId& file, std::uint64_t offset,
                    std::uint64_t known, decode::LinePosition at) {
  extents_.push_back({path, file, offset, std::max(known, offset), at, {}, 0, {}, false});
}

void Extents::add_whole(const std::string& path, const wire::FileId& file, wire::ByteRange range,
                        std::uint64_t known, decode::LinePosition at, std::uint64_t end,
                        std::string_view lost) {
  if (!extents_.empty()) {  // successive records without text are one range
    Extent& last = extents_.back();
    if (last.to && last.end == end && at.bytes == end && last.file.key == file.key &&
        *last.to == range.from && last.lost == lost) {
      last.file = file;
      last.to = range.to;
      last.known = std::max(last.known, known);
      return;
    }
  }
  extents_.push_back(
      {path, file, range.from, std::max(known, range.to), at, range.to, end, lost, false});
}

void Extents::set_known(const wire::FileId& file, std::uint64_t bytes) {
  if (extents_.empty()) return;
  Extent& last = extents_.back();
  last.known = std::max(last.known, bytes);
  if (file.key == last.file.key) last.file = file;
}

bool Extents::waits(std::uint64_t byte) const {
  if (extents_.empty()) return false;
  const Extent& first = extents_.front();
  return extents_.size() > 1 || first.to || first.at.bytes < byte;
}

void Extents::cover(decode::LinePosition to, bool all, wire::Batch& batch) {
  std::vector<wire::Coverage> covered;
  while (!extents_.empty()) {
    Extent& first = extents_.front();
    const bool last = extents_.size() == 1;
    const decode::LinePosition next = last ? to : extents_[1].at;
    if (first.to && first.end > to.bytes) break;
    const bool over = !last && next.bytes <= to.bytes;
    const decode::LinePosition end = over ? next : to;
    if (end.bytes < first.at.bytes) break;
    L4_CHECK(!first.to || *first.to >= first.offset, "a range ends at {} before it begins at {}",
             *first.to, first.offset);
    const std::uint64_t size = first.to ? *first.to - first.offset : end.bytes - first.at.bytes;
    const std::uint64_t lines = end.lines - std::min(end.lines, first.at.lines);
    first.known = std::max(first.known, first.offset + size);
    if (size > 0 || (all && !first.covered))
      add(covered, {first.path,
                    {first.offset, first.offset + size},
                    lines,
                    first.known,
                    first.file,
                    first.lost.empty() ? 0 : size});
    if (size > 0 && !first.lost.empty())
      batch.warnings.push_back({"lost", first.path, std::string(first.lost), size});
    first.covered = true;
    first.offset += size;
    first.at = end;
    if (first.to || over)
      extents_.pop_front();
    else
      break;
  }
  std::ranges::move(covered, std::back_inserter(batch.coverage));
}

}  // namespace l4::pipeline
