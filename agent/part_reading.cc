#include "agent/part_reading.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "agent/discover/file_reader.h"

namespace l4::agent {
namespace {

constexpr double kBinaryShare = 0.3;

/// True if the name leads to another file than at discovery. Some network file systems give a file
/// a new number each time, so a file of the same size and time counts as the same.
bool is_replaced(const discover::OnDisk& found, const discover::OnDisk& now) {
  if (found.inode == 0 || (found.device == now.device && found.inode == now.inode)) return false;
  return found.bytes != now.bytes || found.modified != now.modified;
}

wire::Warning not_opened(const FilePart& part, const Error& error) {
  std::error_code ignored;
  if (std::filesystem::exists(part.path, ignored))
    return {"unreadable", part.name, error.reason, part.found.bytes};
  return {"vanished", part.name, "gone since it was found", part.found.bytes};
}

}  // namespace

std::uint64_t read_part(const FilePart& part, const std::function<void(std::string_view)>& feed,
                        PartReading& reading) {
  const auto warn = [&](std::string kind, std::string reason, std::uint64_t lost) {
    reading.warnings.push_back({std::move(kind), part.name, std::move(reason), lost});
  };
  auto reader = discover::FileReader::open(part.path);
  if (!reader) {
    reading.warnings.push_back(not_opened(part, reader.error()));
    return part.found.bytes;
  }
  const bool replaced = is_replaced(part.found, reader->on_disk());
  if (replaced)
    warn("replaced", "another file has its name since it was found; that one was read",
         part.found.bytes);
  const std::uint64_t expected = replaced ? reader->on_disk().bytes : part.found.bytes;
  std::uint64_t bytes = 0;
  const bool plain = reader->plain();
  while (!reading.stop.stop_requested()) {
    if (plain && bytes > reader->on_disk().bytes + kGrowthMax) {
      warn("grew", "grows as fast as it is read; what came later was left out", 0);
      return expected;
    }
    const auto read = reader->read(reading.chunk);
    if (!read) {
      warn("unreadable", fmt::format("{}; {} bytes came before that", read.error().reason, bytes),
           reader->unused());
      return plain ? expected : 0;
    }
    if (*read == 0) break;
    feed({reading.chunk.data(), *read});
    bytes += *read;
    reading.bytes_done.fetch_add(*read, std::memory_order_relaxed);
  }
  if (reader->left_out() > 0)
    warn("unreadable", "what stands behind the packed text was left out", reader->left_out());
  if (!plain || reading.stop.stop_requested()) return plain ? expected : 0;
  if (bytes < expected)
    warn("incomplete", "became shorter since it was found", expected - bytes);
  else if (bytes > expected)
    warn("grew", fmt::format("by {} bytes since it was found; all was read", bytes - expected), 0);
  return expected;
}

void note_left_out(const decode::Stats& stats, const decode::Options& options,
                   const std::string& file, std::vector<wire::Warning>& warnings) {
  const auto binary_min = static_cast<std::uint64_t>(kBinaryShare * double(stats.bytes));
  if (stats.lines_not_text > 0)
    warnings.push_back(
        {"binary", file,
         fmt::format("{} lines are not text and were left out", stats.lines_not_text),
         stats.bytes_not_text});
  else if (stats.binary_bytes > binary_min)
    warnings.push_back({"binary", file, "much of it is not text", stats.binary_bytes});
  if (stats.cut_lines > 0)
    warnings.push_back(
        {"cut", file,
         fmt::format("{} lines are longer than {} bytes; what follows was not parsed",
                     stats.cut_lines, options.line_bytes_max),
         stats.cut_bytes});
  if (const stamps::ClockSteps& clock = stats.clock; clock.steps > 0)
    warnings.push_back(
        {"clock", file,
         fmt::format("times step {} by {} at line {}{}",
                     clock.widest < Millis{0} ? "back" : "ahead",
                     to_human(std::chrono::abs(clock.widest)), clock.line,
                     clock.steps > 1 ? fmt::format(", the widest of {} steps", clock.steps) : ""),
         0});
}

}  // namespace l4::agent
