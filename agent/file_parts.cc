#include "agent/file_parts.h"

#include <algorithm>

#include "common/base/check.h"

namespace l4::agent {
namespace {

constexpr std::uint64_t kContextBytes = 16 * 1024;

template <class File>
discover::OnDisk on_disk(const File& file) {
  return {file.bytes, file.device, file.inode, file.modified};
}

}  // namespace

std::vector<FilePart> parts_of(const discover::LogFile& file) {
  std::vector<FilePart> parts;
  parts.reserve(file.older.size() + 1);
  for (const discover::OlderFile& older : file.older)
    parts.push_back({older.path, older.name, on_disk(older), {}, 0});
  parts.push_back({file.path, file.name, on_disk(file), {}, 0});
  return parts;
}

const FilePart& part_of_line(const std::vector<FilePart>& parts, std::uint64_t line) {
  L4_CHECK(!parts.empty(), "line {} is asked of a log without parts", line);
  std::size_t at = parts.size() - 1;
  while (at > 0 && parts[at].lines_before >= line) --at;
  return parts[at];
}

bool PartsReader::go_to(std::size_t part, std::uint64_t offset) {
  if (!reader_ || part != part_ || offset < at_) {
    reader_.reset();
    auto opened = discover::FileReader::open((*parts_)[part].path);
    if (!opened) return false;
    reader_.emplace(std::move(*opened));
    part_ = part;
    at_ = 0;
  }
  if (!reader_->skip(offset - at_)) return false;
  at_ = offset;
  return true;
}

std::string_view PartsReader::read(std::uint64_t bytes_max) {
  const auto read =
      reader_->read({chunk_.data(), std::min<std::uint64_t>(bytes_max, chunk_.size())});
  if (!read) return {};
  at_ += *read;
  return {chunk_.data(), *read};
}

/// Moves to an offset of the part, and lets the decoder learn prefixes from the text before it that
/// was not read already.
bool PartsReader::go_to(std::size_t part, std::uint64_t offset, decode::Decoder& decoder) {
  const std::uint64_t passed = reader_ && part == part_ && at_ <= offset ? at_ : 0;
  const std::uint64_t from = std::max(passed, offset - std::min(offset, kContextBytes));
  if (!go_to(part, from)) return false;
  while (at_ < offset) {
    const std::string_view text = read(offset - at_);
    if (text.empty()) return false;
    decoder.learn_prefixes(text);
  }
  return true;
}

bool PartsReader::feed(wire::ByteRange range, decode::Decoder& decoder) {
  chunk_.resize(kChunkBytes);
  for (std::size_t part = 0; part < parts_->size(); ++part) {
    const wire::ByteRange& own = (*parts_)[part].bytes;
    const std::uint64_t from = std::max(range.from, own.from);
    const std::uint64_t to = std::min(range.to, own.to);
    if (from >= to) continue;
    if (!go_to(part, from - own.from, decoder)) return false;
    for (std::uint64_t left = to - from; left > 0;) {
      const std::string_view text = read(left);
      if (text.empty()) return false;
      decoder.feed(text);
      left -= text.size();
    }
    if (to == own.to) decoder.end_part();
  }
  return true;
}

}  // namespace l4::agent
