#include "agent/tail/positions_file.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

namespace l4::tail {
namespace {

std::optional<Position> read_row(std::string_view text) {
  RowReader row(text);
  Position position;
  wire::FileId& id = position.file;
  id.key = row.number<std::uint64_t>(16);
  id.device = row.number<std::uint64_t>();
  id.inode = row.number<std::uint64_t>();
  id.fingerprint = row.number<std::uint64_t>(16);
  id.fingerprint_bytes = row.number<std::uint32_t>();
  position.offset = row.number<std::uint64_t>();
  position.lines = row.number<std::uint64_t>();
  position.known = row.number<std::uint64_t>();
  if (!row.good()) return std::nullopt;
  position.path = row.texts();
  return position;
}

std::string row_of(const Position& position) {
  const wire::FileId& id = position.file;
  return fmt::format("{:x} {} {} {:x} {} {} {} {} {}", id.key, id.device, id.inode, id.fingerprint,
                     id.fingerprint_bytes, position.offset, position.lines, position.known,
                     words(position.path));
}

}  // namespace

PositionsFile::PositionsFile(std::string path) : file_(std::move(path), "l4 positions 1") {}

Result<PositionsFile::Loaded> PositionsFile::load() const {
  auto rows = file_.load();
  if (!rows) return std::unexpected(std::move(rows.error()));
  Loaded loaded;
  loaded.damaged = rows->damaged;
  loaded.complete = rows->complete;
  for (const std::string& row : rows->rows) {
    if (auto position = read_row(row))
      loaded.positions.push_back(std::move(*position));
    else
      ++loaded.damaged;
  }
  return loaded;
}

Result<void> PositionsFile::save(std::span<const Position> positions) {
  std::vector<std::string> rows;
  rows.reserve(positions.size());
  for (const Position& position : positions) rows.push_back(row_of(position));
  return file_.save(rows);
}

}  // namespace l4::tail
